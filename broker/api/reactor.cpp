// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see reactor.hpp, and the flux_reactor_* functions. Phases of one turn: user's prepare, ask sources and arm the
// timer descriptor, wait, descriptors, user's check, sources, timers in due order, ready callbacks, closes.
#include "broker/api/reactor.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "broker/api/clock.hpp"

using weir::broker::Ready;
using weir::broker::Source;
using weir::broker::Timer;

namespace {
constexpr int ready_rounds_max = 1000;  // a continuation that keeps posting itself must not starve the loop
}

flux_reactor* flux_reactor::create() {
    auto* r = new flux_reactor;
    if (!r->open()) {
        const int saved = errno;
        delete r;
        errno = saved;
        return nullptr;
    }
    return r;
}

bool flux_reactor::open() {
    timerfd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timerfd_ < 0) {
        return false;
    }
    if (const int rc = uv_loop_init(&loop_); rc < 0) {
        close(timerfd_);
        errno = -rc;
        return false;
    }
    uv_prepare_init(&loop_, &prepare_);
    uv_check_init(&loop_, &check_);
    uv_idle_init(&loop_, &busy_);
    uv_poll_init(&loop_, &timer_poll_, timerfd_);
    prepare_.data = check_.data = busy_.data = timer_poll_.data = this;
    uv_prepare_start(&prepare_, [](uv_prepare_t* p) { static_cast<flux_reactor*>(p->data)->before_wait(); });
    uv_check_start(&check_, [](uv_check_t* c) { static_cast<flux_reactor*>(c->data)->after_wait(); });
    uv_poll_start(&timer_poll_, UV_READABLE, [](uv_poll_t* p, int, int) {
        auto* r = static_cast<flux_reactor*>(p->data);
        uint64_t expirations = 0;
        (void)!read(r->timerfd_, &expirations, sizeof expirations);
        r->armed_ns_ = 0;
    });
    // The loop's own handles do not keep it alive; timers do through timer_poll_ (set_timer).
    uv_unref(reinterpret_cast<uv_handle_t*>(&prepare_));
    uv_unref(reinterpret_cast<uv_handle_t*>(&check_));
    uv_unref(reinterpret_cast<uv_handle_t*>(&timer_poll_));
    return true;
}

void flux_reactor::decref() {
    if (--refcount_ == 0 && !is_running_) {
        const int saved = errno;
        destroy();
        errno = saved;
    }
}

void flux_reactor::destroy() {
    for (uv_handle_t* handle : {reinterpret_cast<uv_handle_t*>(&prepare_), reinterpret_cast<uv_handle_t*>(&check_),
                                reinterpret_cast<uv_handle_t*>(&busy_), reinterpret_cast<uv_handle_t*>(&timer_poll_)}) {
        uv_close(handle, nullptr);
    }
    // Watchers hold references, so what is left in the loop is closing already; its close callbacks free it.
    while (uv_loop_close(&loop_) == UV_EBUSY) {
        uv_run(&loop_, UV_RUN_ONCE);
    }
    close(timerfd_);
    delete this;
}

int flux_reactor::run(int flags) {
    if ((flags & ~(FLUX_REACTOR_NOWAIT | FLUX_REACTOR_ONCE)) != 0) {
        errno = EINVAL;
        return -1;
    }
    if (is_running_) {
        errno = EBUSY;  // libuv's loops do not nest
        return -1;
    }
    is_running_ = true;
    is_stopping_ = has_failed_ = false;
    update_now();
    incref();
    const uv_run_mode mode = (flags & FLUX_REACTOR_NOWAIT) != 0 ? UV_RUN_NOWAIT
                             : (flags & FLUX_REACTOR_ONCE) != 0 ? UV_RUN_ONCE
                                                                : UV_RUN_DEFAULT;
    const int active = uv_run(&loop_, mode);
    is_running_ = is_stopping_ = false;
    const bool has_failed = has_failed_;
    const int errnum = errnum_;
    decref();
    if (has_failed) {
        errno = errnum;
        return -1;
    }
    return active;
}

void flux_reactor::stop(bool is_error, int errnum) {
    has_failed_ = is_error;
    errnum_ = errnum;
    if (is_running_) {
        is_stopping_ = true;
        uv_stop(&loop_);
    }
}

double flux_reactor::now() {
    if (now_ < 0) {
        now_ = weir::broker::clock_now();
    }
    return now_;
}

void flux_reactor::add_source(Source* source) {
    sources_.push_back(source);
}

void flux_reactor::remove_source(Source* source) {
    std::replace(sources_.begin(), sources_.end(), source, static_cast<Source*>(nullptr));
}

void flux_reactor::post(Ready* ready) {
    if (!ready->is_posted_) {
        ready->is_posted_ = true;
        ready_.push_back(ready);
        // Also keeps the loop alive until the callback ran.
        uv_idle_start(&busy_, [](uv_idle_t*) {});
    }
}

void flux_reactor::unpost(Ready* ready) {
    if (ready->is_posted_) {
        ready->is_posted_ = false;
        std::replace(ready_.begin(), ready_.end(), ready, static_cast<Ready*>(nullptr));
    }
}

void flux_reactor::run_ready() {
    for (int i = 0; i < ready_rounds_max && ready_begin_ < ready_.size() && !is_stopping_; ++i) {
        if (Ready* ready = ready_[ready_begin_++]) {
            ready->is_posted_ = false;
            ready->run_ready();
        }
    }
    if (ready_begin_ == ready_.size()) {
        ready_.clear();
        ready_begin_ = 0;
    }
}

void flux_reactor::set_timer(Timer* timer, uint64_t due_ns) {
    cancel_timer(timer);
    if (timers_.empty()) {
        uv_ref(reinterpret_cast<uv_handle_t*>(&timer_poll_));
    }
    timer->due_ns_ = due_ns;
    timer->sequence_ = ++sequence_;
    timer->is_queued_ = true;
    timers_.insert(timer);
}

void flux_reactor::cancel_timer(Timer* timer) {
    if (timer->is_queued_) {
        timers_.erase(timer);
        timer->is_queued_ = false;
        if (timers_.empty()) {
            uv_unref(reinterpret_cast<uv_handle_t*>(&timer_poll_));
        }
    }
}

void flux_reactor::arm_timerfd() {
    if (timers_.empty()) {
        return;  // a left-over expiry only costs one turn
    }
    const uint64_t due = std::max<uint64_t>((*timers_.begin())->due_ns_, 1);
    if (due != armed_ns_) {
        // Relative: libfaketime, which the tests step the wall clock by, moves absolute times of this clock, too.
        const uint64_t now = weir::broker::monotonic_ns();
        const uint64_t left = due > now ? due - now : 1;
        itimerspec when{};
        when.it_value.tv_sec = static_cast<time_t>(left / 1'000'000'000u);
        when.it_value.tv_nsec = static_cast<long>(left % 1'000'000'000u);
        timerfd_settime(timerfd_, 0, &when, nullptr);
        armed_ns_ = due;
    }
}

void flux_reactor::run_timers() {
    const uint64_t now = weir::broker::monotonic_ns();
    const uint64_t last_sequence = sequence_;
    while (!timers_.empty() && !is_stopping_) {
        Timer* timer = *timers_.begin();
        // A timer queued by a callback of this round waits for the next round, so that a zero timer cannot block the
        // loop.
        if (timer->due_ns_ > now || timer->sequence_ > last_sequence) {
            break;
        }
        cancel_timer(timer);
        timer->fire();
    }
}

void flux_reactor::before_wait() {
    sources_.erase(std::remove(sources_.begin(), sources_.end(), nullptr), sources_.end());
    bool is_busy = ready_begin_ < ready_.size();
    for (size_t i = 0; i < sources_.size(); ++i) {
        is_busy = (sources_[i] != nullptr && sources_[i]->is_ready()) || is_busy;
    }
    if (is_busy) {
        uv_idle_start(&busy_, [](uv_idle_t*) {});
    } else {
        uv_idle_stop(&busy_);
    }
    arm_timerfd();
    update_now();
}

void flux_reactor::after_wait() {
    for (size_t i = 0; i < sources_.size() && !is_stopping_; ++i) {
        if (sources_[i] != nullptr) {
            sources_[i]->dispatch();
        }
    }
    run_timers();
    run_ready();
}

extern "C" {

flux_reactor_t* flux_reactor_create(int flags) {
    if (flags != 0) {
        errno = EINVAL;
        return nullptr;
    }
    return flux_reactor::create();
}

void flux_reactor_destroy(flux_reactor_t* r) {
    if (r != nullptr) {
        r->decref();
    }
}

int flux_reactor_run(flux_reactor_t* r, int flags) {
    return r->run(flags);
}

void flux_reactor_stop(flux_reactor_t* r) {
    r->stop(false, 0);
}

void flux_reactor_stop_error(flux_reactor_t* r) {
    r->stop(true, errno);
}

double flux_reactor_now(flux_reactor_t* r) {
    return r->now();
}

void flux_reactor_now_update(flux_reactor_t* r) {
    r->update_now();
}

double flux_reactor_time(void) {
    return weir::broker::clock_now();
}

}  // extern "C"
