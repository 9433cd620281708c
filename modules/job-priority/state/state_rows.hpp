// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that outlive the module: what a restart needs, row by row, and the delta of one batch of events.
// Must not know: SQLite, Flux.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/keyed_hash.hpp"
#include "libfairshare/base/time.hpp"
#include "libfairshare/usage/counted_usage.hpp"
#include "libfairshare/usage/usage_ledger.hpp"

namespace weir::priority {

/// One accepted share tree. Revisions are 1, 2, ...; the highest is in force.
struct TreeRevision {
    std::int64_t revision = 0;
    Instant time;
    std::string author;
    std::string reason;
    std::string toml;
};

/// In files of older versions: a change of a payer's rate that is not in the ledger yet. `path` (payer_path()) is
/// billed `rate` cores more (or, negative, less) from `time` on. Replaying these onto the ledger gives it to the digit,
/// in any order.
struct ChargeRow {
    std::string path;
    std::int64_t rate = 0;
    Instant time;
};

/// One run of a job, by the times that the job's eventlog has: after the job-manager was restored from an older state,
/// ids may be issued again and a job may run again. In files of older versions both times are unknown (0), which
/// matches any run of that id.
struct JobRun {
    std::uint64_t id = 0;
    Instant submit{};
    Instant alloc{};
    friend auto operator<=>(const JobRun&, const JobRun&) = default;

    bool is_of_any_time() const { return submit == Instant{} && alloc == Instant{}; }
    /// Whether `seen`, whose times are known, is this run.
    bool is(const JobRun& seen) const { return *this == seen || (id == seen.id && is_of_any_time()); }
};

/// What a job costs as the site counts it, settled when it starts.
struct Bill {
    std::int64_t rate = 0;  ///< a second's, in billing_unit parts of a core
    Duration prepaid{};     ///< charged at dispatch; 0: it is charged as it runs
    std::int64_t gpus = 0;
    Duration committed{};  ///< wall time asked for; 0: none
    std::string queue{};   ///< its queue in reports; empty: none
    std::string project{};
    std::string qos{};  ///< only in UplinkRow: by it the parent finds the payer; empty: none
    friend bool operator==(const Bill&, const Bill&) = default;
};

/// An hour (since the Unix epoch) with the payer and the use of cores. `account` and `user` are empty for jobs without
/// an association; idle time of partitions has the account "/idle".
struct UsageSlot {
    std::int64_t hour = 0;
    std::string account{};
    std::string user{};
    std::string queue{};
    std::string project{};
    friend auto operator<=>(const UsageSlot&, const UsageSlot&) = default;
};
/// The parts of a slot by which a report groups.
struct UsageLabels {
    bool account = false;
    bool user = false;
    bool queue = false;
    bool project = false;
};
/// The slot with only the parts that `by` has, without its hour.
UsageSlot label_of(const UsageSlot& slot, const UsageLabels& by);

/// Core-microseconds by slot.
using UsageHours = std::map<UsageSlot, std::int64_t>;
/// Hours that the state file keeps: three years.
inline constexpr std::int64_t usage_hours_kept = 24 * 365 * 3;

/// A start or, with `ended`, an end that was booked since the checkpoint in usage as the site counts it; `path` as in
/// ChargeRow, the job's payer is not set.
struct CountedRow {
    std::string path;
    CountedJob job;
    std::optional<Instant> ended;
};

/// A job that holds resources: charged to `path` at `cores` core-seconds a second since `start`.
struct RunningRow {
    std::string path;
    std::int64_t cores = 0;
    Instant start;
    std::uint64_t inside = 0;  ///< of a reported job: see UplinkRow
    Bill bill{};
    Instant told_until{};     ///< see RunningJob
    JobRun run{};             ///< of a job of our own
    std::uint64_t above = 0;  ///< of a reported job: see RunningJob
};

/// A start or end of a job that the parent has not acknowledged yet.
struct UplinkRow {
    bool is_start = false;
    std::uint64_t job = 0;
    std::string user;
    std::string account;
    std::int64_t cores = 0;
    Instant time;
    std::uint64_t inside = 0;  ///< the job of the same record stream whose cores it uses; 0: the reporter's own
    Bill bill{};               ///< of a start; its queue is the parent's, for a copy of its job; else empty
    /// Without `user` the job has no payer of its own: the payer of the cores that it uses goes on paying. It contains
    /// other reported jobs.
};

/// A child instance that reports to us: the position of its record stream.
struct DownlinkRow {
    std::string instance;         ///< changes when the child lost its state
    std::uint64_t seq_acked = 0;  ///< last applied record
    Instant applied_until;        ///< greatest time of an applied record
    Instant ignored_until;        ///< records up to here were applied for an earlier instance of the child
    friend bool operator==(const DownlinkRow&, const DownlinkRow&) = default;
};

/// What the site's own script set for a job of that submission time (0: any).
struct SiteRow {
    double value = 0;
    Instant submit{};
    friend bool operator==(const SiteRow&, const SiteRow&) = default;
};

/// (child instance's job id, job id inside the child).
using ReportedKey = std::pair<std::uint64_t, std::uint64_t>;

/// A job that ended before its child instance reported the end: the child's own job (job id 0 in the key) or one that
/// the child had reported. The child's next life may still report it.
struct ClosedRow {
    RunningRow job;
    Instant end;
    DownlinkRow downlink;  ///< of the child's own job: the record stream that its next life continues
    bool is_told = false;  ///< the child said that it ended; else it still held its cores when the job around it ended
};

/// A job in a child instance that has a place under our limits, by what the child says of it.
struct PlaceRow {
    std::string user;
    std::string account;
    std::string queue;  ///< ours that its user submitted it to, as in UplinkRow; empty: the child's
    std::string qos;
    std::uint64_t nodes = 1;
    std::uint64_t cores = 1;
    Duration wall_time = Duration::max();  ///< max: no time limit
    friend bool operator==(const PlaceRow&, const PlaceRow&) = default;
};

struct StateMeta {
    Instant position;              ///< time of the last journal event, pass or report that was committed
    Instant charged_floor;         ///< jobs that freed their resources at or before this are charged
    std::uint64_t uplink_seq = 0;  ///< last sequence number issued
    std::string instance;          ///< this instance's name in reports to the parent
    Instant usage_since{};         ///< UsageHours are complete from here on
    /// The parent's jobs that this instance lived in, the present one last. At most StateLog::hosts_max.
    std::vector<std::uint64_t> hosts{};
    HashKey names_key{};  ///< of the names that ChildReports gives; secret, the same for the life of the file
    std::int64_t file_revision = 0;  ///< in force when the share-tree file last had its text; 0: none
    friend bool operator==(const StateMeta&, const StateMeta&) = default;
};

/// Everything read back at start.
struct SavedState {
    StateMeta meta;
    std::vector<TreeRevision> revisions;  ///< ascending
    LedgerState ledger;
    std::vector<ChargeRow> charges;  ///< of an older version, not in the ledger
    CountedUsageState counted;       ///< usage as the site counts it; no rules: the site counts core-seconds
    std::vector<CountedRow> counted_events;
    std::map<std::uint64_t, RunningRow> running;
    std::map<JobRun, Instant> charged;  ///< ended runs that the journal may still replay
    std::map<ReportedKey, RunningRow> reported;
    std::map<std::uint64_t, DownlinkRow> downlinks;
    std::map<ReportedKey, ClosedRow> closed;
    std::map<std::uint64_t, UplinkRow> uplink;  ///< by sequence number
    std::map<std::uint64_t, SiteRow> site;      ///< by job
    std::map<ReportedKey, PlaceRow> places;
};

/// One batch: applied in one transaction or not at all. An empty optional deletes the row.
struct StateBatch {
    std::optional<StateMeta> meta;
    std::vector<TreeRevision> revisions;
    std::optional<LedgerState> checkpoint;                    ///< the whole ledger, in place of the stored one
    CountedUsageState counted;                                ///< goes with the checkpoint
    std::vector<CountedRow> counted_events;                   ///< after the checkpoint, if there is one here
    std::map<std::string, std::optional<PayerState>> payers;  ///< by payer_path(), after the checkpoint
    std::map<std::uint64_t, std::optional<RunningRow>> running;
    std::map<JobRun, std::optional<Instant>> charged;
    std::map<ReportedKey, std::optional<RunningRow>> reported;
    std::map<std::uint64_t, std::optional<DownlinkRow>> downlinks;
    std::map<ReportedKey, std::optional<ClosedRow>> closed;
    std::vector<std::pair<std::uint64_t, UplinkRow>> uplink;  ///< by sequence number, ascending
    std::uint64_t uplink_acked = 0;                           ///< rows up to here are deleted
    std::map<std::uint64_t, std::optional<SiteRow>> site;
    std::map<ReportedKey, std::optional<PlaceRow>> places;
    UsageHours usage;  ///< to be added to the stored hours

    bool is_empty() const {
        return !meta && revisions.empty() && !checkpoint && payers.empty() && counted_events.empty() &&
               running.empty() && charged.empty() && reported.empty() && downlinks.empty() && closed.empty() &&
               uplink.empty() && uplink_acked == 0 && site.empty() && places.empty() && usage.empty();
    }
};

/// Calls merge(table of `into`, table of `batch`) for each table whose rows a batch puts and deletes by key.
template <typename Into, typename Batch, typename Merge>
void merge_tables(Into& into, Batch& batch, Merge merge) {
    merge(into.running, batch.running);
    merge(into.charged, batch.charged);
    merge(into.reported, batch.reported);
    merge(into.downlinks, batch.downlinks);
    merge(into.closed, batch.closed);
    merge(into.site, batch.site);
    merge(into.places, batch.places);
}

}  // namespace weir::priority
