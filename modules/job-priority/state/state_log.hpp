// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what changed since the last commit, for the next batch. What the accounting has is marked: its row is made
// once, when the batch is taken, however often it changed. Other stages put their rows, which are their values. Must
// not know: SQLite, what the rows mean.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// The whole of the ledger, and of usage as the site counts it.
struct LedgerCheckpoint {
    LedgerState ledger;
    CountedUsageState counted;
};

/// Whose hour it is, in the tree in force; queue and project as in UsageSlot. `Text` is std::string where it is kept,
/// and std::string_view to look there.
template <typename Text>
struct PayerHour {
    std::int64_t hour = 0;
    NodeId payer = unassociated;
    Text queue;
    Text project;

    std::tuple<std::int64_t, std::uint32_t, std::string_view, std::string_view> key() const {
        return {hour, payer.value, queue, project};
    }
    friend bool operator<(const PayerHour& a, const PayerHour& b) { return a.key() < b.key(); }
};
using HourOfPayer = PayerHour<std::string>;

/// The rows of what is marked, as it is now; nothing: the row is deleted. Names are those of the tree in force.
class RowSource {
  public:
    virtual ~RowSource() = default;
    virtual LedgerCheckpoint checkpoint() const = 0;
    virtual std::string path_of(NodeId payer) const = 0;
    virtual std::optional<PayerState> row_of_payer(NodeId payer) const = 0;
    virtual UsageSlot slot_of(const HourOfPayer& hour) const = 0;
    virtual std::optional<RunningRow> row_of_running(std::uint64_t id) const = 0;
    virtual std::optional<RunningRow> row_of_reported(ReportedKey key) const = 0;
    virtual std::optional<ClosedRow> row_of_closed(ReportedKey key) const = 0;
};

/// Where what was added last of a key is remembered: a number below recent_places.
inline constexpr std::size_t recent_places = 64;
inline std::size_t recent_place(std::uint64_t number) {
    return number * 0x9e3779b97f4a7c15 >> 58;  // Fibonacci hashing (Knuth, volume 3, section 6.4)
}
inline std::size_t recent_place(NodeId payer) {
    return recent_place(payer.value);
}
inline std::size_t recent_place(const ReportedKey& key) {
    return recent_place(key.first ^ key.second);
}

/// What was marked, once each, ascending. Marking allocates nothing most of the time.
template <typename Key>
class MarkedKeys {
  public:
    /// O(1) for a key that was marked a short while ago, else O(log marks), amortised.
    void insert(Key key) {
        std::size_t& recent = recent_[recent_place(key)];
        if (recent < keys_.size() && keys_[recent] == key) {
            return;
        }
        recent = keys_.size();
        keys_.push_back(key);
        if (keys_.size() >= limit_) {
            limit_ = std::max(limit_, 2 * all().size());
        }
    }
    /// O(marks log marks).
    const std::vector<Key>& all() {
        std::sort(keys_.begin(), keys_.end());
        keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
        return keys_;
    }
    bool empty() const { return keys_.empty(); }
    void clear() { keys_.clear(); }

  private:
    std::vector<Key> keys_;
    std::array<std::size_t, recent_places> recent_{};  ///< indices into keys_, of any key or behind the end
    std::size_t limit_ = 4096;                         ///< then duplicates go
};

/// Core-microseconds by hour. Adding allocates nothing most of the time.
class MarkedHours {
  public:
    /// O(1) for an hour that was added to a short while ago, else O(log hours), amortised.
    void add(const PayerHour<std::string_view>& hour, std::int64_t core_us);
    /// Calls take(hour, core-microseconds); an hour may occur several times.
    template <typename Take>
    void each(const Take& take) const {
        for (const auto& [hour, core_us] : sums_) {
            take(hour, core_us);
        }
    }
    bool empty() const { return sums_.empty(); }
    void clear() { sums_.clear(); }

  private:
    void merge();

    std::vector<std::pair<HourOfPayer, std::int64_t>> sums_;
    std::array<std::size_t, recent_places> recent_{};  ///< as in MarkedKeys
    std::size_t limit_ = 4096;
};

class StateLog {
  public:
    /// Fewest counted events between two checkpoints. There are at least as many as the last checkpoint had payers: a
    /// guest's reports, which are counted events, cannot have a large ledger written again and again.
    static constexpr std::size_t events_per_checkpoint = 2000;
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

    // Marks: the row is made when the batch is taken. O(log marks).
    void mark_payer(NodeId payer) { marks_.payers.insert(payer); }
    void mark_running(std::uint64_t id) { marks_.running.insert(id); }
    void mark_reported(ReportedKey key) { marks_.reported.insert(key); }
    /// It has no row now. If it begins anew, it is marked anew.
    void mark_reported_ended(ReportedKey key) { marks_.ended.insert(key); }
    void mark_closed(ReportedKey key) { marks_.closed.insert(key); }
    void add_usage(const PayerHour<std::string_view>& hour, std::int64_t core_us) { marks_.usage.add(hour, core_us); }
    /// The hours that are not written yet. O(hours).
    UsageHours unwritten_usage(const RowSource& source) const;
    /// Call before the tree is replaced: names the hours so far by the tree in force.
    void name_usage(const RowSource& source);

    // Rows; without a value the row is deleted.
    void add_counted(CountedRow row);
    void add_revision(TreeRevision row) { batch_.revisions.push_back(std::move(row)); }
    void put_charged(const JobRun& run, std::optional<Instant> ended) { batch_.charged[run] = ended; }
    void put_downlink(std::uint64_t id, std::optional<DownlinkRow> row) { batch_.downlinks[id] = std::move(row); }
    void put_site(std::uint64_t id, std::optional<SiteRow> row) { batch_.site[id] = row; }
    void put_place(ReportedKey key, std::optional<PlaceRow> row) { batch_.places[key] = std::move(row); }
    /// A record for the parent, numbered one higher than the last.
    void add_uplink(std::uint64_t seq, UplinkRow row);
    /// The parent has the records up to `seq`: they are deleted.
    void acknowledge_uplink(std::uint64_t seq);

    /// The next batch carries the whole ledger: its numbers are in other units, or of other payers.
    void want_checkpoint() { is_checkpoint_due_ = true; }
    bool is_dirty() const { return !batch_.is_empty() || !marks_.is_empty() || is_checkpoint_due_; }
    /// The changes since the last call, for one transaction. If that fails, give them back with untake().
    StateBatch take(const RowSource& source);
    void untake(StateBatch batch);

  private:
    struct Marks {
        MarkedKeys<NodeId> payers;
        MarkedKeys<std::uint64_t> running;
        MarkedKeys<ReportedKey> reported, ended, closed;
        MarkedHours usage;

        bool is_empty() const {
            return payers.empty() && running.empty() && reported.empty() && ended.empty() && closed.empty() &&
                   usage.empty();
        }
        void clear() {
            payers.clear();
            running.clear();
            reported.clear();
            ended.clear();
            closed.clear();
            usage.clear();
        }
    };
    void take_ledger(const RowSource& source);
    void take_reported(const RowSource& source);

    StateMeta meta_;
    StateBatch batch_;
    Marks marks_;
    std::size_t events_since_checkpoint_ = 0;
    std::size_t payers_in_checkpoint_ = 0;
    bool has_ledger_ = false;  ///< the state file has a ledger, to which rows of payers can be added
    bool is_checkpoint_due_ = false;
};

}  // namespace weir::priority
