// SPDX-License-Identifier: LGPL-3.0-only
// Reactor and watchers: phases, ends inside callbacks, stop, timers' order. No test waits for longer than its timers.
#include <sys/eventfd.h>
#include <unistd.h>

#include <fcntl.h>

#include <csignal>
#include <functional>
#include <vector>

#include "t/unit/broker_api/echo_peer.hpp"

using weir::broker::test::Watcher;

namespace {

struct DestroyReactor {
    void operator()(flux_reactor_t* r) const { flux_reactor_destroy(r); }
};
using Reactor = std::unique_ptr<flux_reactor_t, DestroyReactor>;

using WatcherBody = std::function<void(flux_watcher_t*, int)>;
void run_watcher_body(flux_reactor_t*, flux_watcher_t* w, int revents, void* arg) {
    (*static_cast<WatcherBody*>(arg))(w, revents);
}

}  // namespace

TEST_CASE("reactor: it ends when no watcher is active") {
    const Reactor r(flux_reactor_create(0));
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    int fired = 0;
    WatcherBody body = [&](flux_watcher_t*, int) { ++fired; };
    const Watcher timer(flux_timer_watcher_create(r.get(), 0, 0, run_watcher_body, &body));
    flux_watcher_start(timer.get());
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(fired == 1);
    CHECK(flux_reactor_create(1) == nullptr);
    CHECK(flux_reactor_run(r.get(), 8) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("reactor: stop, and stop with an error") {
    const Reactor r(flux_reactor_create(0));
    bool is_error = false;
    WatcherBody body = [&](flux_watcher_t*, int) {
        errno = ECONNRESET;
        if (is_error) {
            flux_reactor_stop_error(r.get());
        } else {
            flux_reactor_stop(r.get());
        }
    };
    const Watcher timer(flux_timer_watcher_create(r.get(), 0, 0.0001, run_watcher_body, &body));
    flux_watcher_start(timer.get());
    CHECK(flux_reactor_run(r.get(), 0) > 0);
    is_error = true;
    CHECK(flux_reactor_run(r.get(), 0) == -1);
    CHECK(errno == ECONNRESET);
}

TEST_CASE("timer: equal times fire in the order they were started, earlier ones first") {
    const Reactor r(flux_reactor_create(0));
    std::string order;
    std::vector<WatcherBody> bodies;
    std::vector<Watcher> timers;
    const double after[] = {0.002, 0.001, 0, 0};
    bodies.reserve(4);
    for (int i = 0; i < 4; ++i) {
        bodies.push_back([&order, i](flux_watcher_t*, int) { order += static_cast<char>('a' + i); });
        timers.emplace_back(flux_timer_watcher_create(r.get(), after[i], 0, run_watcher_body, &bodies.back()));
        flux_watcher_start(timers.back().get());
    }
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(order == "cdba");
}

TEST_CASE("timer: a repeat goes on until it is stopped; a reset takes effect at the next start") {
    const Reactor r(flux_reactor_create(0));
    int fired = 0;
    WatcherBody body = [&](flux_watcher_t* w, int) {
        if (++fired == 3) {
            flux_watcher_stop(w);
        }
    };
    const Watcher timer(flux_timer_watcher_create(r.get(), 0.0005, 0.0005, run_watcher_body, &body));
    flux_watcher_start(timer.get());
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(fired == 3);
    flux_timer_watcher_reset(timer.get(), 0, 0);
    flux_watcher_start(timer.get());
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(fired == 4);
    CHECK(flux_timer_watcher_create(r.get(), -1, 0, run_watcher_body, &body) == nullptr);
}

TEST_CASE("watchers: any of them may be destroyed inside a callback") {
    const Reactor r(flux_reactor_create(0));
    const int fd = eventfd(1, EFD_NONBLOCK);
    int calls = 0;
    std::vector<flux_watcher_t*> all;
    WatcherBody body = [&](flux_watcher_t*, int) {
        ++calls;
        for (flux_watcher_t* w : all) {
            flux_watcher_destroy(w);
        }
        all.clear();
    };
    const auto make = [&](int first) {
        all = {flux_timer_watcher_create(r.get(), 0, 0.001, run_watcher_body, &body),
               flux_fd_watcher_create(r.get(), fd, FLUX_POLLIN, run_watcher_body, &body),
               flux_fd_watcher_create(r.get(), fd, FLUX_POLLOUT, run_watcher_body, &body),
               flux_prepare_watcher_create(r.get(), run_watcher_body, &body),
               flux_check_watcher_create(r.get(), run_watcher_body, &body),
               flux_idle_watcher_create(r.get(), run_watcher_body, &body),
               flux_periodic_watcher_create(r.get(), 0, 0.001, nullptr, run_watcher_body, &body),
               flux_signal_watcher_create(r.get(), SIGUSR1, run_watcher_body, &body)};
        for (size_t i = 0; i < all.size(); ++i) {
            REQUIRE(all[i] != nullptr);
            if (static_cast<int>(i) >= first) {
                flux_watcher_start(all[i]);
            }
        }
    };
    // Whichever kind comes first ends the rest, itself included.
    for (int first = 0; first < 7; ++first) {
        make(first);
        CHECK(flux_reactor_run(r.get(), 0) == 0);
        CHECK(calls == first + 1);
    }
    close(fd);
}

TEST_CASE("watchers: they may outlive the owner's reference to their reactor") {
    auto* r = flux_reactor_create(0);
    Watcher w(flux_prepare_watcher_create(r, nullptr, nullptr));
    flux_watcher_start(w.get());
    flux_reactor_destroy(r);
    flux_watcher_stop(w.get());
}

TEST_CASE("fd watcher: two on one descriptor, whose blocking mode stays as it was") {
    const Reactor r(flux_reactor_create(0));
    int fds[2];
    REQUIRE(pipe(fds) == 0);
    int seen = 0;
    WatcherBody body = [&](flux_watcher_t* w, int revents) {
        CHECK(revents == FLUX_POLLIN);
        ++seen;
        flux_watcher_stop(w);
    };
    const Watcher a(flux_fd_watcher_create(r.get(), fds[0], FLUX_POLLIN, run_watcher_body, &body));
    const Watcher b(flux_fd_watcher_create(r.get(), fds[0], FLUX_POLLIN, run_watcher_body, &body));
    flux_watcher_start(a.get());
    flux_watcher_start(b.get());
    REQUIRE(write(fds[1], "x", 1) == 1);
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(seen == 2);
    CHECK((fcntl(fds[0], F_GETFL) & O_NONBLOCK) == 0);
    close(fds[0]);
    close(fds[1]);
    CHECK(flux_fd_watcher_create(r.get(), fds[0], FLUX_POLLIN, run_watcher_body, &body) == nullptr);
}

TEST_CASE("signal watcher: the signal arrives as a callback") {
    const Reactor r(flux_reactor_create(0));
    int seen = 0;
    WatcherBody body = [&](flux_watcher_t* w, int) {
        ++seen;
        flux_watcher_stop(w);
    };
    const Watcher w(flux_signal_watcher_create(r.get(), SIGUSR2, run_watcher_body, &body));
    flux_watcher_start(w.get());
    REQUIRE(raise(SIGUSR2) == 0);
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(seen == 1);
}

TEST_CASE("phases: prepare before the wait, check after it, idle keeps from waiting") {
    const Reactor r(flux_reactor_create(0));
    std::string order;
    Watcher p, c, i;
    WatcherBody prepare = [&](flux_watcher_t* w, int) {
        order += "p";
        flux_watcher_stop(w);
    };
    WatcherBody idle = [&](flux_watcher_t*, int) { order += "i"; };
    WatcherBody check = [&](flux_watcher_t* w, int) {
        order += "c";
        flux_watcher_stop(w);
        flux_watcher_stop(i.get());  // only now: without it the wait would have been for ever
    };
    p.reset(flux_prepare_watcher_create(r.get(), run_watcher_body, &prepare));
    c.reset(flux_check_watcher_create(r.get(), run_watcher_body, &check));
    i.reset(flux_idle_watcher_create(r.get(), run_watcher_body, &idle));
    for (auto* w : {p.get(), c.get(), i.get()}) {
        flux_watcher_start(w);
    }
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(order == "ipc");
}
