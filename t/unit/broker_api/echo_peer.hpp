// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a handle under test and its peer at the other end of a socketpair, in one thread: the test reads what the
// handle sent and writes what it shall receive. No broker, no clock.
#pragma once
#include <flux/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "broker/api/handle.hpp"
#include "broker/api/local_socket.hpp"

namespace weir::broker::test {

class Pair {
  public:
    explicit Pair(int flags = 0) {
        int fds[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        const int room = 1 << 22;  // the peer writes everything before the handle reads
        REQUIRE(setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
        h_ = handle_create(connector_from_fd(fds[0]), flags);
        peer_ = std::make_unique<FramedStream>(fds[1]);
    }
    ~Pair() { close(); }
    flux_t* h() const { return h_; }
    flux_reactor_t* reactor() const { return flux_get_reactor(h_); }
    void close() {
        flux_close(h_);
        h_ = nullptr;
    }
    /// The next message the handle sent.
    MessagePtr sent() {
        MessagePtr msg = peer_->recv();
        REQUIRE(msg);
        return msg;
    }
    bool sent_nothing() { return !peer_->recv(); }
    void give(const Message& msg) { REQUIRE(try_give(msg)); }
    /// The same for a second thread, where Catch must not be called.
    bool try_give(const Message& msg) {
        peer_->queue(msg);
        return peer_->flush() == 0 && peer_->pending() == 0;
    }
    /// A request from an instance owner with one hop on its route, and what a caller would see as its matchtag.
    MessagePtr request(const std::string& topic, const char* payload = nullptr, uint32_t matchtag = 7,
                       uint32_t rolemask = FLUX_ROLE_OWNER) {
        MessagePtr msg = make_request(topic, payload);
        msg->push_route("client");
        msg->rolemask = rolemask;
        msg->userid = 1000;
        msg->aux2 = matchtag;
        return msg;
    }
    void give_request(const std::string& topic, const char* payload = nullptr) { give(*request(topic, payload)); }
    void respond(const Message& request, const char* payload, int errnum = 0) {
        MessagePtr msg = make_response(request, errnum);
        msg->set_payload_text(payload);
        give(*msg);
    }
    void hang_up() { peer_.reset(); }
    /// Runs the reactor until nothing is to be done any more without new input.
    void run_pending() {
        for (int i = 0; i < 10; ++i) {
            REQUIRE(flux_reactor_run(reactor(), FLUX_REACTOR_NOWAIT) >= 0);
        }
    }
    int run() { return flux_reactor_run(reactor(), 0); }

  private:
    flux_t* h_ = nullptr;
    std::unique_ptr<FramedStream> peer_;
};

struct DestroyFuture {
    void operator()(flux_future_t* f) const { flux_future_destroy(f); }
};
using Future = std::unique_ptr<flux_future_t, DestroyFuture>;
struct DestroyHandlers {
    void operator()(flux_msg_handler_t** m) const { flux_msg_handler_delvec(m); }
};
using Handlers = std::unique_ptr<flux_msg_handler_t*, DestroyHandlers>;
struct DestroyWatcher {
    void operator()(flux_watcher_t* w) const { flux_watcher_destroy(w); }
};
using Watcher = std::unique_ptr<flux_watcher_t, DestroyWatcher>;

}  // namespace weir::broker::test
