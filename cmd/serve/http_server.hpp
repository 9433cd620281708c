// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HTTP/1.1 over connections that were accepted elsewhere, by libwebsockets on a libuv loop: requests as values,
// answers and server-sent events by the request's number. Bounds what a client can hold. Must not know what is asked.
#pragma once
#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cmd/serve/event_bytes.hpp"
#include "cmd/serve/http.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

struct HttpLimits {
    std::size_t connections_max = 512;         ///< further ones are closed at once
    std::size_t body_bytes_max = 1 << 20;      ///< of a request
    std::size_t header_bytes_max = 8192;       ///< of a request, all headers together
    std::size_t unsent_bytes_max = 64U << 20;  ///< of one client: a slower reader is disconnected
};

struct TlsFiles {
    std::string certificate, key;  ///< PEM
};

class HttpServer {
  public:
    /// Names one request: unique in the server's life.
    using Id = std::uint64_t;
    /// Called for each request. It is answered by answer() or begin_events(), at once or later.
    using Handler = std::function<void(Id, const HttpRequest&)>;
    /// Called when the client of a stream of events has hung up.
    using Gone = std::function<void(Id)>;

    struct Calls {
        Handler handler;
        Gone gone;
    };

    /// Errors: io_error where libwebsockets cannot use its libuv plugin, or the TLS files.
    static Result<std::unique_ptr<HttpServer>> create(uv_loop_t* loop, const HttpLimits& limits,
                                                      const std::optional<TlsFiles>& tls, Calls calls);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    /// Takes a connected socket. One beyond the bound is closed.
    void adopt(int fd);
    /// Nothing happens if the client is gone. A HEAD gets the head that a GET would get, and no body (RFC 9110, 9.3.2).
    void answer(Id id, HttpAnswer answer);
    /// The request is answered by events from now on.
    void begin_events(Id id);
    /// `text`: whole events. Shared between clients; compressed for those who take it.
    void send_events(Id id, const EventText& text);
    /// Ends each stream of events whose client has hung up, with its call of `gone`. Without it that is noticed only by
    /// a write that fails. O(streams).
    void end_left();
    /// Ends the loop's handles; the loop has to run until it is idle. Call it once, before the destructor.
    void close();

  private:
    struct State;
    explicit HttpServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace weir::cmd
