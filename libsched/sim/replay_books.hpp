// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a replay measures for an order: who of a log pays, what payers and credentials used, what fair share says
// of them. One book for each thing that orders go by (order::GoesBy). Must not know priorities or the scheduler.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/equal_shares_order.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libsched/order/order.hpp"
#include "libsched/order/pass_schedule.hpp"
#include "libsched/sim/log_names.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/usage_book.hpp"

namespace weir {

/// What a book is made from.
struct BookSettings {
    const PolicySettings& site;
    std::uint32_t machine_cores = 1;
    LogShares shares;
    LogNames names;
};

// Every book has
//   enter(order, job, id, now, waiting)   who of `order` the job is: sets payer and credentials
//   started(job, id, now), ended(job, id, now)  what it holds from now on, or held
//   use(now, is_full, interval)           for prioritize(); valid until the next event
//   told(is_full)                         prioritize() has seen it

/// Nothing is measured.
class NoBook {
  public:
    explicit NoBook(const BookSettings&) {}
    template <typename O>
    void enter(O&, const SimJob&, JobId, Instant, order::WaitingJob&) {}
    order::Holder started(const SimJob& job, JobId, Instant) { return {.cores = job.cores}; }
    order::Holder ended(const SimJob& job, JobId, Instant) { return {.cores = job.cores}; }
    order::Use use(Instant, bool, Duration) { return {}; }
    void told(bool) {}
};

/// What share accounts used as LSF counts it, of a log that knows no CPU times.
class LsfBook {
  public:
    explicit LsfBook(BookSettings settings);
    template <typename O>
    void enter(O&, const SimJob& job, JobId id, Instant, order::WaitingJob& waiting) {
        waiting.payer = enter(job, id);
    }
    order::Holder started(const SimJob& job, JobId id, Instant now);
    order::Holder ended(const SimJob& job, JobId id, Instant now);
    order::Use use(Instant now, bool is_full, Duration interval);
    void told(bool) {}

  private:
    using Party = LogShares::Party;
    struct Entry {
        Party party = 0;
        Instant started{};
    };
    Party enter(const SimJob& job, JobId id);

    LogShares shares_;
    std::uint64_t version_;
    ShareTreePtr tree_;
    LsfHistory history_;
    std::vector<Entry> entries_;  ///< by id
    std::vector<DynamicUse> use_;
};

/// What credentials used. A log's group counts as group and as account, its queue as class. Logs know no QoS.
class CredentialBook {
  public:
    explicit CredentialBook(BookSettings settings);
    template <order::GoesByCredentials O>
    void enter(O& order, const SimJob& job, JobId id, Instant now, order::WaitingJob& waiting) {
        for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
            kinds_[kind].is_counted = order.goes_by_usage(kind);
            if (kind != qos_kind) {
                waiting.who[kind] = order.credential(kind, names_of(kind, job));
                meet(kind, waiting.who[kind], now);
            }
        }
        keep(id, waiting.who);
    }
    order::Holder started(const SimJob& job, JobId id, Instant now) { return charge(job, id, job.cores, now); }
    order::Holder ended(const SimJob& job, JobId id, Instant now) {
        return charge(job, id, -static_cast<std::int64_t>(job.cores), now);
    }
    order::Use use(Instant now, bool is_full, Duration interval);
    void told(bool) {}

  private:
    static constexpr std::size_t user_kind = 0, qos_kind = 3, class_kind = 4;
    using Who = std::array<order::Credential, moab_credential_kinds>;
    /// One kind of credential; its parties are the order's credentials, both counted as they appear.
    struct Kind {
        explicit Kind(const PolicySettings& settings);
        LogShares members;
        UsageBook usage;
        bool is_counted = false;
        std::size_t known = 0;
        std::vector<CoreMicros> snapshot;  ///< by node of members
    };
    std::vector<std::string> names_of(std::size_t kind, const SimJob& job) const;
    void meet(std::size_t kind, order::Credential who, Instant now);
    void keep(JobId id, const Who& who);
    /// A job holds so many cores, or (negative) gives them back.
    order::Holder charge(const SimJob& job, JobId id, std::int64_t cores, Instant now);

    LogNames names_;
    std::array<Kind, moab_credential_kinds> kinds_;
    std::vector<Who> who_;  ///< by id, of jobs that wait or run
    MoabPriorities::Usage usage_;
};

/// Fair-share factors, as job-priority evaluates them: at most a thirtieth of the interval old.
class FactorBook {
  public:
    /// REQUIRES: the algorithm is known and goes by usage (or demand).
    explicit FactorBook(BookSettings settings);
    template <typename O>
    void enter(O& order, const SimJob& job, JobId id, Instant now, order::WaitingJob& waiting) {
        const std::size_t known = parties_.size();
        waiting.payer = enter(job, id, now);
        if constexpr (requires { order.add_payer(0.); }) {
            if (parties_.size() > known) {
                order.add_payer(priority_of(waiting.payer));
            }
        }
    }
    order::Holder started(const SimJob& job, JobId id, Instant now);
    order::Holder ended(const SimJob& job, JobId id, Instant now);
    order::Use use(Instant now, bool is_full, Duration interval);
    void told(bool is_full);

    /// Of fair share.
    std::uint64_t evaluations() const { return evaluations_; }
    const LogShares& shares() const { return shares_; }

  private:
    using Party = LogShares::Party;
    struct PartyState {
        std::int64_t running = 0;  ///< cores
        std::int64_t wanted = 0;   ///< cores of waiting jobs
        bool is_moving = false;    ///< used something since the last evaluation
    };
    struct Entry {
        Party party = 0;
        Instant started{};
    };
    Party enter(const SimJob& job, JobId id, Instant now);
    double priority_of(Party party) const;
    void follow_tree(Instant now);
    ChargedJob charged(const SimJob& job, const Entry& entry) const;
    /// So many cores more or fewer run.
    order::Holder charge(const SimJob& job, Party party, std::int64_t cores);
    void evaluate(Instant now);
    void evaluate_order(Instant now);
    void evaluate_tree(Instant now);

    PolicySettings settings_;
    Algorithm algorithm_;
    std::uint32_t machine_cores_;
    LogShares shares_;
    QueueNames queues_;
    std::uint64_t version_;
    UsageBook usage_;
    bool keeps_order_;  ///< EqualSharesOrder answers instead of the algorithm: the same factors
    EqualSharesOrder order_;

    std::vector<Entry> entries_;  ///< by id
    std::vector<PartyState> parties_;
    std::vector<Party> moving_;
    std::vector<double> factors_;       ///< by party
    std::vector<Party> moved_factor_;   ///< whose factor changed since the last full pass
    std::optional<Instant> evaluated_;  ///< none: what it depends on has changed
    std::vector<CoreMicros> snapshot_;
    std::vector<std::uint64_t> demand_;
    Standings standings_;
    std::uint64_t evaluations_ = 0;
};

}  // namespace weir
