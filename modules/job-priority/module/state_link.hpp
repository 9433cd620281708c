// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the state file while the module runs: when batches are written, how often a failed one is retried, and the
// messages about it. Must not know what is in a batch.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "modules/common/backoff.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/messages/usage_report.hpp"
#include "modules/job-priority/module/timing.hpp"
#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/state/state_store.hpp"

namespace weir::priority {

class StateLink {
  public:
    /// \param time_scale  reactor seconds in a real second
    /// \param written called after each commit
    StateLink(flux_t* h, double time_scale, PriorityService& service, std::function<void()> written);

    /// Opens or makes the file. Returns the time of the last event or pass that is in it. Throws Failure.
    Instant open(const std::string& path, StatePlace place);
    /// Restores the service from it. Throws Failure.
    void restore(Instant now);

    /// Writes the service's changes.
    Status commit();
    /// Writes them, unless the last attempt failed: then returns that failure until the timer has tried again. For
    /// requests that a guest may repeat at any rate.
    Status keep();
    /// Writes one separate batch, for a change that takes effect only after it is written. commit() is not affected.
    Status write(const StateBatch& batch);
    /// Fills the report, span by span, with the stored usage and what is not stored yet. Errors: those of the file.
    Status read_usage(UsageReport& report, Instant now);
    /// Commits shortly, or when a failed commit is due for a retry. O(1).
    void commit_soon();

    /// After the first backlog: logs what was rebuilt from it if there was no state, and what is lost.
    void report_rebuilt();

    const std::string& path() const { return store_->path(); }
    bool has_failed() const { return failure_.has_value(); }
    /// The number of failed attempts since the module was loaded.
    std::uint64_t failures() const { return failures_; }
    /// The times of writing batches.
    const Timing& commits() const { return commits_; }
    /// How long the oldest change that is not written has waited, in seconds of the reactor's clock; 0 if all is.
    double lag_s() const;
    flux_t* flux() const { return h_; }

  private:
    void on_timer();
    void arm(double seconds);
    Status settle(Status status);

    flux_t* h_;
    PriorityService& service_;
    double delay_s_;
    flux::Backoff backoff_;
    std::function<void()> written_;
    std::optional<StateStore> store_;
    std::vector<std::string> warnings_;  ///< of open(), for restore()
    std::optional<Error> failure_;       ///< of the last attempt
    std::uint64_t failures_ = 0;
    bool is_armed_ = false;
    std::optional<double> unwritten_since_s_;  ///< of the reactor's clock
    Timing commits_;
    bool is_rebuilt_told_ = true;
    flux::Watcher timer_;
};

}  // namespace weir::priority
