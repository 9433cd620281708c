// SPDX-License-Identifier: LGPL-3.0-only
// Owns: sockets that listen, on a libuv loop: loopback or a given address, or a Unix socket. Must not know HTTP.
#pragma once
#include <uv.h>

#include <functional>
#include <memory>
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

class Listener {
  public:
    /// Called with each connected socket, which is the callee's.
    using Take = std::function<void(int fd)>;

    /// `host`: a numeric address; "localhost" is 127.0.0.1. `port` 0: any free one. Errors: a sentence about the
    /// address.
    static Result<std::unique_ptr<Listener>> tcp(uv_loop_t* loop, const std::string& host, int port, Take take);
    /// Replaces a socket without a listener. The socket's mode is 0600, or 0666 if others may connect: then `take` must
    /// check the peer. Errors: a path that is too long, is in use, or is no socket.
    static Result<std::unique_ptr<Listener>> unix_socket(uv_loop_t* loop, const std::string& path, bool is_for_others,
                                                         Take take);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();

    /// "127.0.0.1:41234", "[::1]:8080" or the path.
    const std::string& name() const { return name_; }
    /// Removes the socket's file; the loop has to run once more before the destructor.
    void close();

  private:
    Listener(int fd, Take take) : fd_(fd), take_(std::move(take)) {}
    Status start(uv_loop_t* loop);
    void accept_all();

    int fd_;
    Take take_;
    std::string name_, path_;
    uv_poll_t poll_{};
    bool is_open_ = false;
};

}  // namespace weir::cmd
