// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see server.hpp.
#include "cmd/serve/server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include "cmd/instance/signals.hpp"
#include "cmd/serve/listener.hpp"
#include "cmd/serve/page_service.hpp"

namespace weir::cmd {
namespace {

/// The loop is closed after all its handles: the owner of a handle closes it before.
class UvLoop {
  public:
    UvLoop() { WEIR_CHECK(uv_loop_init(&loop_) == 0); }
    UvLoop(const UvLoop&) = delete;
    UvLoop& operator=(const UvLoop&) = delete;
    ~UvLoop() {
        (void)uv_run(&loop_, UV_RUN_DEFAULT);
        (void)uv_loop_close(&loop_);
    }
    uv_loop_t* get() { return &loop_; }

  private:
    uv_loop_t loop_{};
};

/// Stops the loop at the first signal that asks for the end.
class StopWatch {
  public:
    StopWatch(uv_loop_t* loop, Signals& signals) : signals_(signals) {
        WEIR_CHECK(uv_poll_init(loop, &poll_, signals.fd()) == 0);
        poll_.data = this;
        (void)uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
            if (static_cast<StopWatch*>(poll->data)->signals_.is_stop_asked()) {
                uv_stop(poll->loop);
            }
        });
    }
    void close() { uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr); }

  private:
    Signals& signals_;
    uv_poll_t poll_{};
};

uid_t peer_of_socket(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.uid : static_cast<uid_t>(-1);
}

Result<std::unique_ptr<Listener>> listen_at(uv_loop_t* loop, const ServeOptions& options, const AccessRules& access,
                                            HttpServer& http) {
    if (options.socket.empty()) {
        return Listener::tcp(loop, options.host, options.port, [&http](int fd) { http.adopt(fd); });
    }
    return Listener::unix_socket(loop, options.socket, options.proxy.has_value(), [&http, access](int fd) {
        if (is_peer_let_in(access, peer_of_socket(fd))) {
            http.adopt(fd);
        } else {
            (void)close(fd);
        }
    });
}

ServeAddress address_of(const ServeOptions& options, const Listener& listener, const std::string& token) {
    const std::string scheme = options.tls ? "https://" : "http://";
    return {listener.name(), options.socket.empty() ? scheme + listener.name() + "/#" + token : ""};
}

}  // namespace

Status serve(const ServeOptions& options, const std::function<void(const ServeAddress&)>& told) {
    Signals signals;
    auto client = Client::open(options.uri);
    if (!client) {
        return client.error();
    }
    PageOptions page{
        {getuid(), options.socket.empty() ? new_token() : "", options.proxy}, options.may_edit, options.comparison};
    const AccessRules access = page.access;
    UvLoop loop;
    Worker worker(loop.get()), inside(loop.get());
    PageService service(loop.get(), {worker, inside}, options.uri, Users::of(*client), std::move(page));
    StopWatch stop(loop.get(), signals);
    const auto close_all = [&] {
        stop.close();
        service.close();
        worker.close();
        inside.close();
    };
    auto http = HttpServer::create(loop.get(), HttpLimits{}, options.tls,
                                   {[&](HttpServer::Id id, const HttpRequest& request) { service.handle(id, request); },
                                    [&](HttpServer::Id id) { service.gone(id); }});
    if (!http) {
        close_all();
        (void)uv_run(loop.get(), UV_RUN_DEFAULT);
        return http.error();
    }
    service.serve_by(**http);
    auto listener = listen_at(loop.get(), options, access, **http);
    if (listener) {
        told(address_of(options, **listener, access.token));
        (void)uv_run(loop.get(), UV_RUN_DEFAULT);
        (*listener)->close();
    }
    close_all();
    (*http)->close();
    (void)uv_run(loop.get(), UV_RUN_DEFAULT);
    return listener ? Status(Done{}) : Status(listener.error());
}

}  // namespace weir::cmd
