// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the multifactor policy in a replay: job-priority's stages (charges, tree, factors, engine) without its
// messages. Must not know the log's form, the scheduler.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/equal_shares_order.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/priority/engine.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/site_values.hpp"
#include "libsched/sim/usage_book.hpp"

namespace weir {

/// Counts of an order's work: the cost of dynamic priorities.
struct OrderCounts {
    std::uint64_t full_passes = 0;
    std::uint64_t evaluations = 0;  ///< of fair share
    std::uint64_t judged = 0;       ///< priorities computed
    std::uint64_t changed = 0;      ///< yielded to the replay
};

class MultifactorOrder final : public QueueOrder {
  public:
    /// REQUIRES: settings.algorithm is known and needs usage (or demand) only.
    MultifactorOrder(const PolicySettings& settings, std::uint32_t machine_cores, LogShares shares,
                     SiteValuesPtr site = {});

    void submitted(const SimJob& job, JobId id, Instant now) override;
    void started(const SimJob& job, JobId id, Instant now) override;
    void ended(const SimJob& job, JobId id, Instant now) override;
    /// A full pass where one is due; between them the jobs whose inputs changed, by factors that are at most a
    /// thirtieth of the interval old, as job-priority does. With interval 0 everything counts at once.
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override;
    Instant wakes() const override { return interval_ > Duration{} ? next_full_ : never; }
    Instant wakes_last(Instant before) const override {
        return remembers_passes() ? wakes() : last_step(next_full_, interval_, before);
    }
    bool forgets_asking() const override { return interval_ == Duration{} && !remembers_passes(); }

    const OrderCounts& counts() const { return counts_; }
    const LogShares& shares() const { return shares_; }

  private:
    using Party = LogShares::Party;
    /// Of the job with an id, by the id's number.
    struct Place {
        PriorityEngine::Slot slot;
        Party party = 0;
        std::uint32_t index = 0;  ///< in its party's list
        Instant started{};
    };
    struct PartyState {
        std::vector<std::uint32_t> waiting;  ///< ids
        std::int64_t running = 0;            ///< cores
        std::int64_t wanted = 0;             ///< cores of waiting jobs
        bool is_moving = false;              ///< used something since the last evaluation
    };

    bool remembers_passes() const { return engine_.settings().only_raises; }
    Party party_of(const SimJob& job, Instant now);
    JobExtras extras_of(const SimJob& job) const;
    void follow_tree(Instant now);
    ChargedJob charged(const SimJob& job, Party party, Instant started) const;
    void charge(Party party, std::int64_t cores);
    void evaluate(Instant now);
    void evaluate_order(Instant now);
    void evaluate_tree(Instant now);
    void judge(std::uint32_t id, Instant now);
    void hand_over(std::vector<std::pair<JobId, std::uint32_t>>& changed);

    Duration interval_;
    bool ages_;
    bool counts_shares_;
    Algorithm algorithm_;
    std::uint32_t machine_cores_;
    ClassIndex queue_index_;
    PolicySettings settings_;
    SiteValuesPtr site_;
    bool has_extras_;

    LogShares shares_;
    std::uint64_t shares_version_ = 0;
    UsageBook usage_;
    PriorityEngine engine_;
    bool keeps_order_;  ///< EqualSharesOrder answers instead of the algorithm: the same factors
    EqualSharesOrder order_;

    std::vector<Place> places_;
    std::vector<PartyState> parties_;
    std::vector<Party> moving_;
    std::vector<double> factors_;  ///< by party
    std::vector<Party>
        moved_factor_;  ///< whose factor changed in the last evaluations and whose jobs are not recomputed yet
    std::vector<std::uint32_t> fresh_;  ///< jobs never computed
    std::vector<Party> marked_;         ///< whose jobs started or ended since the last pass
    std::optional<Instant> evaluated_;  ///< none: its inputs have changed
    Instant next_full_ = Instant::min();

    std::vector<CoreMicros> snapshot_;
    std::vector<std::uint64_t> demand_;
    Standings standings_;
    std::vector<PriorityEngine::Change> changes_;
    OrderCounts counts_;
};

}  // namespace weir
