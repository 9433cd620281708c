// SPDX-License-Identifier: LGPL-3.0-only
// Owns: any order in a replay: what a log's jobs are to it, and when it is asked. Must not know its policy.
#pragma once
#include <string>
#include <tuple>

#include "libsched/order/orders.hpp"
#include "libsched/order/pass_schedule.hpp"
#include "libsched/sim/log_names.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/replay_books.hpp"
#include "libsched/sim/site_values.hpp"

namespace weir {

/// What an order did: the measure of what dynamic priorities cost.
struct OrderCounts {
    std::uint64_t full_passes = 0;
    std::uint64_t evaluations = 0;  ///< of fair share
    std::uint64_t computed = 0;     ///< priorities computed
    std::uint64_t changed = 0;      ///< given to the replay
};

/// The book that measures what an order goes by.
template <order::GoesBy goes_by>
using BookOf =
    std::tuple_element_t<static_cast<std::size_t>(goes_by), std::tuple<NoBook, FactorBook, LsfBook, CredentialBook>>;

template <order::Order O>
class ReplayOrder final : public QueueOrder {
  public:
    /// `site`: the site's values of the log's jobs. A log's processors are its nodes, too: it knows no others.
    ReplayOrder(const PolicySettings& settings, std::uint32_t machine_cores, LogShares shares = LogShares::of_users(),
                SiteValuesPtr site = {}, const LogNames& names = {})
        : schedule_(settings.update_interval),
          site_(std::move(site)),
          queues_(names.queues),
          order_(settings, MachineSize{machine_cores, machine_cores, 0., 0.}),
          book_(BookSettings{settings, machine_cores, std::move(shares), names}) {}

    void submitted(const SimJob& job, JobId id, Instant now) override {
        order::WaitingJob waiting;
        waiting.place = places_++;
        waiting.submit = waiting.since = job.submit;
        waiting.cores = waiting.nodes = job.cores;
        waiting.limit = job.limit;
        waiting.site = site_ ? site_->of(job.number) : 0.;
        waiting.queue = queues_.of(job);
        book_.enter(order_, job, id, now, waiting);
        order_.put(id, waiting, now);
    }
    void started(const SimJob& job, JobId id, Instant now) override {
        order_.started(id, book_.started(job, id, now), now);
    }
    void ended(const SimJob& job, JobId id, Instant now) override { order_.ended(book_.ended(job, id, now), now); }

    /// All jobs where a full pass is due; between them, of an order that is paced, those whose inputs changed. With
    /// interval 0 everything counts at once.
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override {
        const bool is_full = !O::is_paced || schedule_.is_full(now);
        asked_ = now;
        use_ = book_.use(now, is_full, schedule_.interval());
        if (is_full) {
            counts_.full_passes++;
            schedule_.passed(now);
        }
        const std::size_t before = changed.size();
        order_.prioritize(use_, now, is_full ? order::Scope::all : order::Scope::marked, changed);
        counts_.changed += changed.size() - before;
        book_.told(is_full);
    }
    Instant wakes() const override { return O::moves_by_time ? schedule_.next() : never; }
    Instant wakes_last(Instant before) const override {
        return order_.remembers_passes() ? wakes() : schedule_.last(before);
    }
    bool forgets_asking() const override {
        return !O::moves_by_time || (schedule_.interval() == Duration{} && !order_.remembers_passes());
    }

    const O& order() const { return order_; }
    const BookOf<O::goes_by>& book() const { return book_; }
    /// Of the last time it was asked.
    const order::Use& use() const { return use_; }
    Instant asked() const { return asked_; }
    OrderCounts counts() const {
        OrderCounts counts = counts_;
        if constexpr (requires { order_.computed(); }) {
            counts.computed = order_.computed();
        }
        if constexpr (requires { book_.evaluations(); }) {
            counts.evaluations = book_.evaluations();
        }
        return counts;
    }

  private:
    order::PassSchedule schedule_;
    SiteValuesPtr site_;
    QueueNames queues_;
    O order_;
    BookOf<O::goes_by> book_;
    std::uint64_t places_ = 0;  ///< the next job's
    order::Use use_;
    Instant asked_{};
    OrderCounts counts_;
};

using MultifactorOrder = ReplayOrder<order::Multifactor>;
using LsfOrder = ReplayOrder<order::Lsf>;
using MoabOrder = ReplayOrder<order::Moab>;
using LoadThresholdOrder = ReplayOrder<order::LoadThreshold>;

}  // namespace weir
