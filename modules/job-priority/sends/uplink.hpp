// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the records about our jobs for the parent instance. A record is in the state log before it can be sent. Must
// not know: who pays, the link to the parent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "modules/job-priority/sends/uplink_queue.hpp"
#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

class Uplink {
  public:
    /// \param is_child  there is a parent instance; else nothing is recorded   \param log  outlives this
    Uplink(StateLog& log, bool is_child) : log_(log), is_child_(is_child) {}
    /// Continues with the records that the parent has not acknowledged.
    void restore(const SavedState& saved) {
        queue_ = UplinkQueue(saved.meta.uplink_seq, saved.uplink);
        written();
    }

    /// A job, or one inside a job of ours, began or ceased to use cores.
    void record(UplinkRow row) {
        if (is_child_) {
            const std::uint64_t seq = queue_.add(row);
            log_.add_uplink(seq, std::move(row));
        }
    }
    /// The state file has every record so far. No other is sent, or a parent would have records that a killed child
    /// does not know of.
    void written() { written_seq_ = queue_.last_seq(); }
    /// Records that the state file has and the parent has not acknowledged.
    std::size_t sendable() const {
        return written_seq_ < queue_.first_seq() ? 0 : written_seq_ - queue_.first_seq() + 1;
    }
    /// The next batch of these; see UplinkQueue::next().
    std::optional<UplinkBatch> next() { return queue_.next(written_seq_); }
    /// The parent applied everything up to `seq`.
    void acknowledged(std::uint64_t seq) { log_.acknowledge_uplink(queue_.acknowledged(seq)); }

    bool is_child() const { return is_child_; }
    UplinkQueue& queue() { return queue_; }

  private:
    StateLog& log_;
    bool is_child_;
    UplinkQueue queue_;
    std::uint64_t written_seq_ = 0;
};

}  // namespace weir::priority
