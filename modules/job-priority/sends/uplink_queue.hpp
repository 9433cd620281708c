// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the child's side of usage reports: records in order, numbered without gaps, kept until acknowledged.
// Must not know: the parent's URI, RPCs, files, which records the state file has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// One `job-priority.report` request: records seq, seq+1, ...
struct UplinkBatch {
    std::uint64_t first_seq = 0;
    std::vector<UplinkRow> records;
};

/// Go-back-n: one batch is in flight at a time; after a reconnect everything above the parent's acknowledged number is
/// sent again.
class UplinkQueue {
  public:
    static constexpr std::size_t batch_max = 500;

    UplinkQueue() = default;
    /// \param last_seq  last number issued   \param records  unacknowledged ones up to that, from the state file
    UplinkQueue(std::uint64_t last_seq, const std::map<std::uint64_t, UplinkRow>& records);

    /// Appends a record and returns its number.
    std::uint64_t add(UplinkRow record);

    /// The parent answered attach: it has applied everything up to `acked`. Sending may begin. False, without effect,
    /// if `acked` was never sent: our state is an older copy, and the parent would take new records for those that it
    /// has. Then attach under another instance name.
    bool attached(std::uint64_t acked);
    /// The link is lost: nothing is in flight and nothing may be sent.
    void detached();
    /// The next batch, of records up to number `last`; empty when not attached, when one is in flight, or when there
    /// are none.
    std::optional<UplinkBatch> next(std::uint64_t last = UINT64_MAX);
    /// The parent says that the batch in flight is malformed. The next one has half as many records, at least one; with
    /// each batch that is applied the number doubles again. Returns the record that no batch can be without: it was
    /// alone.
    std::optional<std::uint64_t> refused();
    /// The parent applied everything up to `acked`. Returns the highest number that may be deleted.
    std::uint64_t acknowledged(std::uint64_t acked);

    std::size_t unacknowledged() const { return records_.size(); }
    std::uint64_t last_seq() const { return last_seq_; }
    /// The number of the first record that we still have (or of the next one).
    std::uint64_t first_seq() const { return last_seq_ + 1 - records_.size(); }
    bool is_attached() const { return is_attached_; }

  private:
    std::deque<UplinkRow> records_;  ///< the last one has the number last_seq_
    std::uint64_t last_seq_ = 0;
    std::uint64_t sent_seq_ = 0;  ///< the last number that the parent may have; those of the state file it may have
    bool is_attached_ = false;
    std::size_t out_ = 0;            ///< records in flight; one batch is, or none
    std::size_t limit_ = batch_max;  ///< records of the next batch
};

}  // namespace weir::priority
