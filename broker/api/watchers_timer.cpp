// SPDX-License-Identifier: LGPL-3.0-only
// Owns: timer and periodic watchers in scaled seconds on the reactor's timer queue. A timer never fires
// early in scaled time. A repeat keeps its grid and skips the points that passed meanwhile, so that a slow pass causes
// no burst of passes.
#include <algorithm>
#include <cerrno>
#include <cmath>

#include "broker/api/clock.hpp"
#include "broker/api/watcher.hpp"

using weir::broker::clock_now;
using weir::broker::monotonic_ns;
using weir::broker::real_delay;

namespace {

constexpr double ns_per_second = 1e9;
constexpr double delay_s_max = 3.0e9;  // about a century; keeps nanoseconds within 64 bits

/// Scaled seconds as real nanoseconds, rounded up.
uint64_t delay_ns(double scaled_seconds) {
    const double real = std::fmin(std::fmax(real_delay(scaled_seconds), 0), delay_s_max);
    return static_cast<uint64_t>(std::ceil(real * ns_per_second));
}

/// A watcher in the timer queue. end() defers the deletion while its own fire() is on the stack.
struct QueuedWatcher : flux_watcher, weir::broker::Timer {
    using flux_watcher::flux_watcher;
    void stop() override {
        is_active = false;
        reactor->cancel_timer(this);
    }
    void end() override {
        stop();
        reactor->decref();
        if (is_firing) {
            is_ended = true;
        } else {
            delete this;
        }
    }
    void fire() override {
        if (!prepare_fire()) {
            return;
        }
        is_firing = true;
        call(0);
        is_firing = false;
        if (is_ended) {
            delete this;
        }
    }
    /// Queues the next time, if any; false: not yet, do not call.
    virtual bool prepare_fire() = 0;
    bool is_active = false;
    bool is_firing = false;
    bool is_ended = false;
};

struct TimerWatcher : QueuedWatcher {
    TimerWatcher(flux_reactor* r, double after_s, double repeat_s, flux_watcher_f cb, void* arg)
        : QueuedWatcher(r, cb, arg), after(after_s), repeat(repeat_s) {}
    void start() override {
        if (!is_active) {
            is_active = true;
            was_reset = false;
            due_ns = monotonic_ns() + delay_ns(after);
            reactor->set_timer(this, due_ns);
        }
    }
    void stop() override {
        // As libev, and so Flux: starting again without a reset goes on with the time that was left.
        if (is_active && !was_reset) {
            const uint64_t now = monotonic_ns();
            const double left = due_ns > now ? static_cast<double>(due_ns - now) / ns_per_second : 0;
            after = left * weir::broker::clock_scale();
        }
        QueuedWatcher::stop();
    }
    bool prepare_fire() override {
        if (repeat <= 0) {
            is_active = false;
            after = was_reset ? after : 0;
            return true;
        }
        const uint64_t step = std::max<uint64_t>(delay_ns(repeat), 1);
        const uint64_t now = monotonic_ns();
        due_ns += step;
        if (due_ns <= now) {
            due_ns += (now - due_ns) / step * step + step;
        }
        reactor->set_timer(this, due_ns);
        return true;
    }
    double after;   ///< scaled seconds
    double repeat;  ///< scaled seconds; 0: once
    uint64_t due_ns = 0;
    bool was_reset = false;
};

struct PeriodicWatcher : QueuedWatcher {
    using QueuedWatcher::QueuedWatcher;
    void start() override {
        if (!is_active) {
            is_active = true;
            queue_next(clock_now());
        }
    }
    void queue_next(double now) {
        if (reschedule != nullptr) {
            next = reschedule(this, now, argument);
        } else if (interval > 0) {
            next = offset + interval * (std::floor((now - offset) / interval) + 1);
        } else {
            next = offset;
        }
        const bool is_over = interval <= 0 && reschedule == nullptr && has_fired;
        if (is_over || (reschedule != nullptr && next < now)) {
            stop();  // as Flux: a time in the past ends it
            return;
        }
        reactor->set_timer(this, monotonic_ns() + delay_ns(next - now));
    }
    bool prepare_fire() override {
        const double now = clock_now();
        if (now < next) {
            // The wall clock ran slower than the monotonic one.
            reactor->set_timer(this, monotonic_ns() + delay_ns(next - now));
            return false;
        }
        has_fired = true;
        queue_next(now);
        return true;
    }
    double offset = 0;
    double interval = 0;
    flux_reschedule_f reschedule = nullptr;
    double next = 0;
    bool has_fired = false;
};

}  // namespace

extern "C" {

flux_watcher_t* flux_timer_watcher_create(flux_reactor_t* r, double after, double repeat, flux_watcher_f cb,
                                          void* arg) {
    if (r == nullptr || !(after >= 0) || !(repeat >= 0)) {
        errno = EINVAL;
        return nullptr;
    }
    return new TimerWatcher(r, after, repeat, cb, arg);
}

void flux_timer_watcher_reset(flux_watcher_t* w, double after, double repeat) {
    if (auto* timer = dynamic_cast<TimerWatcher*>(w)) {
        timer->after = after;
        timer->repeat = repeat;
        timer->was_reset = true;
    }
}

// Flux's prototype. NOLINTNEXTLINE(readability-function-size)
flux_watcher_t* flux_periodic_watcher_create(flux_reactor_t* r, double offset, double interval,
                                             flux_reschedule_f reschedule, flux_watcher_f cb, void* arg) {
    if (r == nullptr || !(offset >= 0) || !(interval >= 0)) {
        errno = EINVAL;
        return nullptr;
    }
    auto* w = new PeriodicWatcher(r, cb, arg);
    w->offset = offset;
    w->interval = interval;
    w->reschedule = reschedule;
    return w;
}

}  // extern "C"
