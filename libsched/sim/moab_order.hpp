// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's priority in a replay: components of weighted, capped parts, usage by credential against
// targets, and the caps that keep a job waiting. Must not know the scheduler. Source: Maui 3.3.1 manual 5.1, 6.3.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/usage_book.hpp"

namespace weir {

/// A log's user N is names[N], "uN" or "N" in [weir.moab.users]; its group "gN" or "N" in groups and in accounts; its
/// queue "N" in classes. Logs know no QoS. A job beyond a credential's cap has priority 0 and waits.
class MoabOrder final : public QueueOrder {
  public:
    MoabOrder(const PolicySettings& settings, std::map<std::uint32_t, std::string> names);

    void submitted(const SimJob& job, JobId id, Instant now) override;
    void started(const SimJob& job, JobId id, Instant now) override;
    void ended(const SimJob& job, JobId id, Instant now) override;
    /// O(credentials + waiting).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override;
    Instant wakes() const override { return interval_ > Duration{} ? told_ + interval_ : never; }
    Instant wakes_last(Instant before) const override { return last_step(wakes(), interval_, before); }
    bool forgets_asking() const override { return interval_ == Duration{}; }

    /// Before rounding and Maui's limits, as of the last pass. `id` waits.
    double raw(JobId id) const;

  private:
    /// One kind of credential: who there is, and what each used.
    struct Kind {
        explicit Kind(const PolicySettings& settings);
        LogShares members;
        UsageBook usage;
        std::vector<const MoabPolicy::Credential*> settings;  ///< by party; nullptr: nothing said
        const MoabPolicy::Credential* fallback = nullptr;     ///< "*"
        std::vector<CoreMicros> snapshot;
        bool is_used = false;  ///< any setting goes by its usage

        CoreMicros used(LogShares::Party party) const { return snapshot[members.leaf(party).value]; }
        CoreMicros all() const { return snapshot[root_node.value]; }
    };
    struct Entry {
        SimJob job;
        std::array<LogShares::Party, moab_credential_kinds> party{};
        std::optional<std::uint32_t> told;
        bool waits = false;
    };
    LogShares::Party party_in(std::size_t kind, const SimJob& job, Instant now);
    const MoabPolicy::Credential* find(std::size_t kind, std::uint32_t number) const;
    void charge(const Entry& entry, std::int64_t cores, Instant now);
    bool is_admitted(const Entry& entry) const;
    double fairshare(const Entry& entry) const;
    double total(const Entry& entry, Instant now) const;

    MoabPolicy policy_;
    std::map<std::uint32_t, std::string> names_;
    Duration interval_;
    std::array<Kind, moab_credential_kinds> kinds_;
    std::vector<Entry> entries_;  ///< by id
    Instant told_{};
};

}  // namespace weir
