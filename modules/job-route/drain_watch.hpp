// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which nodes of this instance are drained (`flux resource drain`), and how many cores no job can get since their
// nodes are drained or down. Must not know children. Source: flux-core's resource.journal, .status and .sched-status.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "modules/common/flux_cpp.hpp"
#include "modules/common/stream.hpp"
#include "modules/job-route/drains.hpp"

namespace weir::route {

class DrainWatch {
  public:
    struct Callbacks {
        std::function<void()> drains;  ///< drains() was read anew
        std::function<void()> cores;   ///< lost_cores() changed; none: they are not counted
    };
    DrainWatch(flux_t* h, Callbacks callbacks);
    flux_t* flux() const { return h_; }
    /// Nullopt until the first answer.
    const std::optional<Drains>& drains() const { return drains_; }
    /// Free cores on nodes that are drained or down.
    std::int64_t lost_cores() const { return lost_cores_; }
    /// Jobs started or ended: while nodes are drained or down their free cores are counted anew, once a second.
    void jobs_changed();

  private:
    void follow();
    void on_event(flux_future_t* f);
    void ask();
    void on_status(flux_future_t* f);
    void count_cores();
    void on_cores(flux_future_t* f);
    void fail(const char* what, const std::string& why);

    flux_t* h_;
    Callbacks callbacks_;
    std::optional<Drains> drains_;
    std::int64_t lost_cores_ = 0;
    bool is_any_down_ = false;
    bool is_to_ask_again_ = false;
    bool is_to_count_again_ = false;
    bool is_count_due_ = false;  ///< the timer runs
    flux::Stream journal_;
    flux::Future status_;
    flux::Future cores_;
    flux::Watcher retry_;
    flux::Watcher count_;
};

}  // namespace weir::route
