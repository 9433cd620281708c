// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the ordered set behind the timer. Must not know jobs.
#include "broker/services/deadlines.hpp"

#include <algorithm>

namespace weir::broker {

Deadlines::Deadlines(flux_t* h, std::function<void(flux_jobid_t)> due)
    : h_(h), due_(std::move(due)), timer_(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., on_timer, this)) {}

void Deadlines::set(flux_jobid_t id, double time) {
    clear(id);
    order_.emplace(time, id);
    times_[id] = time;
    rearm();
}

void Deadlines::clear(flux_jobid_t id) {
    const auto it = times_.find(id);
    if (it != times_.end()) {
        order_.erase({it->second, id});
        times_.erase(it);
    }
}

void Deadlines::rearm() {
    if (is_running_) {
        return;
    }
    if (order_.empty()) {
        flux_watcher_stop(timer_.get());
        armed_for_ = -1;
        return;
    }
    const double next = order_.begin()->first;
    if (armed_for_ >= 0 && armed_for_ <= next) {
        return;  // it fires early enough, finds nothing due and is armed again
    }
    armed_for_ = next;
    const double after = std::max(0., next - flux_reactor_now(flux_get_reactor(h_)));
    flux_watcher_stop(timer_.get());  // a reset takes effect at the next start only, as in libev
    flux_timer_watcher_reset(timer_.get(), after, 0.);
    flux_watcher_start(timer_.get());
}

void Deadlines::on_timer(flux_reactor_t*, flux_watcher_t*, int, void* arg) {
    Deadlines& self = *static_cast<Deadlines*>(arg);
    guarded(self.h_, [&self] { self.run_due(); });
}

void Deadlines::run_due() {
    constexpr double early_s = 1e-6;  // a timer may fire this much before its time on the reactor's clock
    armed_for_ = -1;
    is_running_ = true;
    const double now = flux_reactor_now(flux_get_reactor(h_)) + early_s;
    while (!order_.empty() && order_.begin()->first <= now) {
        const flux_jobid_t id = order_.begin()->second;
        clear(id);
        due_(id);
    }
    is_running_ = false;
    rearm();
}

}  // namespace weir::broker
