// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the changes since the last commit. Each stage gets the log and puts its own rows into it; the shell takes them
// as one batch. Must not know: SQLite, what the rows mean to the stage that puts them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// The whole of the ledger, and of usage as the site counts it.
struct LedgerCheckpoint {
    LedgerState ledger;
    CountedUsageState counted;
};

class StateLog {
  public:
    /// Fewest charge rows between two checkpoints of the ledger. There are at least as many as the last checkpoint had
    /// payers: a guest's reports, which are charge rows, cannot have a large ledger written again and again.
    static constexpr std::size_t charges_per_checkpoint = 2000;
    /// Lives of this instance that are kept; the oldest is dropped first.
    static constexpr std::size_t hosts_max = 32;

    /// Continues from the content of the state file, without changes.
    void restore(const SavedState& saved);
    const StateMeta& meta() const { return meta_; }

    /// Advances the position, never back.
    void set_position(Instant at);
    /// Advances the floor, never back: jobs that freed their resources at or before it are charged.
    void set_charged_floor(Instant at);
    void set_instance(std::string instance);
    /// The key of the names that ChildReports gives.
    void set_names_key(const HashKey& key);
    void set_file_revision(std::int64_t revision);
    /// This instance lives in job `host` of its parent, which it tells with all lives before.
    void begin_life(std::uint64_t host);
    /// UsageHours are complete from `at` on, unless they are from an earlier time on.
    void begin_usage_hours(Instant at);

    // Rows; without a value the row is deleted.
    void add_charge(ChargeRow row);
    void add_counted(CountedRow row) { batch_.counted_events.push_back(std::move(row)); }
    void add_revision(TreeRevision row) { batch_.revisions.push_back(std::move(row)); }
    void put_running(std::uint64_t id, std::optional<RunningRow> row) { batch_.running[id] = std::move(row); }
    void put_charged(const JobRun& run, std::optional<Instant> ended) { batch_.charged[run] = ended; }
    void put_reported(ReportedKey key, std::optional<RunningRow> row) { batch_.reported[key] = std::move(row); }
    void put_closed(ReportedKey key, std::optional<ClosedRow> row) { batch_.closed[key] = std::move(row); }
    void put_downlink(std::uint64_t id, std::optional<DownlinkRow> row) { batch_.downlinks[id] = std::move(row); }
    void put_site(std::uint64_t id, std::optional<SiteRow> row) { batch_.site[id] = row; }
    void add_usage(UsageSlot slot, std::int64_t core_us) { batch_.usage[std::move(slot)] += core_us; }
    /// The hours that are not written yet.
    const UsageHours& unwritten_usage() const { return batch_.usage; }
    /// A record for the parent, numbered one higher than the last.
    void add_uplink(std::uint64_t seq, UplinkRow row);
    /// The parent has the records up to `seq`: they are deleted.
    void acknowledge_uplink(std::uint64_t seq);

    /// The next batch carries the whole ledger (at unload, so that the next start replays nothing).
    void want_checkpoint() { is_checkpoint_due_ = true; }
    bool is_dirty() const { return !batch_.is_empty() || is_checkpoint_due_; }
    /// The changes since the last call, for one transaction. If that fails, give them back with untake().
    /// \param checkpoint  asked for when the batch is to carry one
    StateBatch take(const std::function<LedgerCheckpoint()>& checkpoint);
    void untake(StateBatch batch);

  private:
    StateMeta meta_;
    StateBatch batch_;
    std::size_t charges_since_checkpoint_ = 0;
    std::size_t payers_in_checkpoint_ = 0;
    bool is_checkpoint_due_ = false;
};

}  // namespace weir::priority
