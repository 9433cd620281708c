// SPDX-License-Identifier: LGPL-3.0-only
// Owns: many deadlines on one reactor timer: ends of simulated jobs, time limits, kills. Must not know jobs.
#pragma once
#include <flux/core.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "broker/services/service.hpp"

namespace weir::broker {

/// One deadline a job; setting another replaces it. Times are seconds of the reactor's clock.
class Deadlines {
  public:
    /// `due` is called with each job whose deadline is reached, in the order of time, then id. It may set and clear
    /// deadlines.
    Deadlines(flux_t* h, std::function<void(flux_jobid_t)> due);
    void set(flux_jobid_t id, double time);
    void clear(flux_jobid_t id);
    std::size_t size() const { return times_.size(); }

  private:
    static void on_timer(flux_reactor_t*, flux_watcher_t*, int, void* arg);
    void run_due();
    void rearm();

    flux_t* h_;
    std::function<void(flux_jobid_t)> due_;
    Watcher timer_;
    std::set<std::pair<double, flux_jobid_t>> order_;
    std::map<flux_jobid_t, double> times_;
    double armed_for_ = -1;  // the time the timer will fire at; negative: it is off
    bool is_running_ = false;
};

}  // namespace weir::broker
