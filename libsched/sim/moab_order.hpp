// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's priority in a replay: what a log's jobs are to MoabPriorities, and what its users and groups have used.
// Must not know the scheduler.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "libsched/order/moab_priorities.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/usage_book.hpp"

namespace weir {

/// A log's user N is names[N], "uN" or "N" in [weir.moab.users]; its group "gN" or "N" in groups and in accounts; its
/// queue "N" in classes. Logs know no QoS, and no nodes: its processors count as those.
class MoabOrder final : public QueueOrder {
  public:
    MoabOrder(const PolicySettings& settings, std::uint32_t machine_cores, std::map<std::uint32_t, std::string> names);

    void submitted(const SimJob& job, JobId id, Instant now) override;
    void started(const SimJob& job, JobId id, Instant now) override;
    void ended(const SimJob& job, JobId id, Instant now) override;
    /// O(credentials + waiting).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override;
    Instant wakes() const override { return interval_ > Duration{} ? told_ + interval_ : never; }
    Instant wakes_last(Instant before) const override { return last_step(wakes(), interval_, before); }
    bool forgets_asking() const override { return interval_ == Duration{}; }

    /// Before rounding and Maui's limits, as of the last pass. `id` waits.
    double raw(JobId id) const { return priorities_.raw(id, usage_, told_); }

  private:
    /// One kind of credential: who there is, and what each used. Parties are priorities_' credentials.
    struct Kind {
        explicit Kind(const PolicySettings& settings);
        LogShares members;
        UsageBook usage;
        std::size_t known = 0;
        std::vector<CoreMicros> snapshot;  ///< by node of members
    };
    MoabPriorities::Credential credential(std::size_t kind, const SimJob& job, Instant now);
    std::vector<std::string> names_of(std::size_t kind, std::uint32_t number) const;
    /// A job holds so many cores, or (negative) gives them back.
    void charge(const MoabPriorities::Job& job, std::int64_t cores, Instant now);

    std::map<std::uint32_t, std::string> names_;
    Duration interval_;
    MoabPriorities priorities_;
    std::array<Kind, moab_credential_kinds> kinds_;
    MoabPriorities::Usage usage_;
    std::vector<MoabPriorities::Job> jobs_;  ///< by id, waiting or running
    std::uint64_t places_ = 0;               ///< the next job's, in order of submission
    Instant told_{};
};

}  // namespace weir
