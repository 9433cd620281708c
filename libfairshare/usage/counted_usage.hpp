// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage as a site chooses to count it: the decay, the cost of a second, charging at dispatch or as a job runs,
// and LSF's history. Must not know: what a job is, how its cost is decided, storage, the calendar.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "libfairshare/usage/charging.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "libfairshare/usage/window.hpp"

namespace weir {

enum class DecayKind : std::uint8_t {
    half_life,
    window,  ///< Moab's and Maui's
    none,    ///< with resets by the calendar, or for ever
};

struct UsageRules {
    DecayKind decay = DecayKind::half_life;
    Duration half_life{};                       ///< with DecayKind::half_life
    WindowPolicy window{};                      ///< with DecayKind::window
    std::int64_t unit = 1;                      ///< rates come in this part of a core: 1000 for thousandths; >= 1
    std::optional<LsfHistorySettings> history;  ///< none: use() is not needed

    /// Errors: EINVAL with what to change.
    Status validate() const;
    friend bool operator==(const UsageRules&, const UsageRules&) = default;
};

/// One job; the same values go to start() and end().
struct CountedJob {
    ChargedJob charge;  ///< `requested`: what is charged at dispatch; 0: it is charged as it runs
    LsfJob holds{};     ///< in cores and GPUs, whatever the rate is
    friend bool operator==(const CountedJob&, const CountedJob&) = default;
};

/// Everything as plain numbers: the rules in force, then the payers' numbers.
struct CountedUsageState {
    std::vector<std::int64_t> rules;
    std::vector<PayerNumbers> usage;
    std::vector<PayerNumbers> history;
    friend bool operator==(const CountedUsageState&, const CountedUsageState&) = default;
};

class CountedUsage {
  public:
    /// REQUIRES: rules.validate().
    CountedUsage(ShareTreePtr tree, const UsageRules& rules);

    /// Events may be dated in the past, as the ledgers allow. use() keeps nothing of `unassociated` and `idle`. A rate
    /// may be negative: the part of a job that is lent to jobs counted by themselves. O(depth).
    void start(const CountedJob& job);
    void end(const CountedJob& job, Instant ended);

    /// Of every node in core-microseconds, leaves rounded, accounts summed; `now` should not precede the latest event.
    /// O(nodes).
    void snapshot(Instant now, UsageSnapshot& into) const;
    /// The inputs of dynamic priorities. REQUIRES: rules().history. O(nodes).
    void use(Instant now, std::vector<DynamicUse>& into) const;
    /// The ledger, if usage decays by half-life or not at all; its usage is in rules().unit. nullptr with windows.
    const UsageLedger* ledger() const { return std::get_if<UsageLedger>(&kept_); }

    const UsageRules& rules() const { return rules_; }
    const ShareTree& tree() const { return *tree_; }

    /// Changes the rules. The usage of every payer at `at` stays, and is counted by the new rules from then on. Another
    /// half-life or window converts its history as the ledgers do; from half-life to windows or back, the usage is
    /// dated `at`, also in a history that begins. `running`: the jobs that started and have not ended. REQUIRES:
    /// validate(); the unit stays.
    void set_rules(const UsageRules& rules, std::span<const CountedJob> running, Instant at);
    /// Takes over from a ledger that counts whole cores: its usage at `at`, dated `at`. REQUIRES: no event yet; the
    /// ledger has this tree; no job of `running` was charged at dispatch.
    void take_over(const UsageLedger& cores, std::span<const CountedJob> running, Instant at);
    /// Windows of an older state kept nothing of `unassociated` and `idle`: they go on from `at` with the jobs that
    /// run. `running`: the jobs that started and have not ended. \return whether their rates were others. O(running).
    bool settle_outside(std::span<const CountedJob> running, Instant at);
    /// Forgets decayed usage up to `at`, except windows and use(): see UsageLedger::reset().
    void reset(Instant at);

    /// Changes the tree: usage stays with its path, as in UsageLedger::rebind(), but windows of removed leaves
    /// stay with `unassociated`, and their histories are dropped. Jobs of removed leaves are charged to `unassociated`
    /// from then on.
    void rebind(ShareTreePtr tree, Instant at);
    /// After rebind(): the payer of a running job, whose leaf an earlier rebind() removed, is charged for it from `at`
    /// on. What was charged at dispatch comes back whole, as does what a history counts. O(depth).
    void take_back(const CountedJob& job, Instant at);
    /// Takes a tree that extends() this one: ids stay. O(new leaves).
    void extend(ShareTreePtr tree);

    CountedUsageState save() const;
    /// Errors: as the ledgers' restore(), EINVAL for rules that cannot be. Windows and histories of a path that is no
    /// leaf of `tree` are dropped.
    static Result<CountedUsage> restore(ShareTreePtr tree, const CountedUsageState& state);

  private:
    using Kept = std::variant<UsageLedger, WindowLedger>;
    static Kept made(const ShareTreePtr& tree, const UsageRules& rules);
    void prepay(const CountedJob& job, int sign);
    void convert(const UsageRules& rules, Instant at);
    void begin_history(const LsfHistorySettings& settings, std::span<const CountedJob> running, Instant at);
    void remember(NodeId leaf, CoreMicros usage, Instant at);

    ShareTreePtr tree_;
    UsageRules rules_;
    Kept kept_;
    std::optional<LsfHistory> history_;
};

}  // namespace weir
