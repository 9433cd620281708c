// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the event loop. Two events a job: its submission comes from the source, its end from a heap. Jobs in the system
// live in slots that are used again; a slot is the id that the queue's order knows.
#include "libsched/sim/simulate.hpp"

#include <algorithm>
#include <deque>
#include <queue>

#include "libsched/resource/resource_space.hpp"
#include "libsched/sim/sim_pool.hpp"

namespace weir {
namespace {

/// Nodes with cores, as SimCores.
struct OnNodes : ResourceSpace {
    using Job = PendingJob;
    explicit OnNodes(const ResourceSet& nodes) : ResourceSpace(ResourcePool(nodes, ranks_of(nodes))) {}
    std::uint64_t free_cores() const { return pool().free_cores(); }
    static Job waiting(const QueueKey& key, const SimJob& job) {
        Request request;
        request.slots = job.cores;
        return {key, request, believed(job)};
    }
    void give_back(JobId id, const SimJob&, Instant) { WEIR_CHECK(release(id, {}, true).has_value()); }
};

template <typename Space>
class Replay {
  public:
    Replay(Space space, std::uint64_t cores, const Policy& policy, QueueOrder* order, const OutcomeSink& sink)
        : pool_(std::move(space), policy),
          cores_(cores),
          can_leave_out_(!std::holds_alternative<KeptReservations>(policy)),
          order_(order),
          sink_(sink) {}

    Result<SimCounters> run(const JobSource& source, const SimControl* control) {
        counters_.now = Instant::min();
        if (auto more = read(source); !more) {
            return more.error();
        }
        for (std::uint64_t instants = 1; next_ || !ends_.empty() || is_letting_go(); instants++) {
            const Instant now = next_instant();
            counters_.now = now;
            end_all(now);
            while (next_ && next_->submit == now) {
                submit(*next_);
                if (auto more = read(source); !more) {
                    return more.error();
                }
            }
            if (auto done = pass(now); !done) {
                return done.error();
            }
            if (control != nullptr && control->progress && instants % std::max<std::uint64_t>(control->every, 1) == 0 &&
                !control->progress(counters_)) {
                counters_.interrupted = true;
                return counters_;
            }
        }
        counters_.never_started = never_started();
        return counters_;
    }

  private:
    struct InSystem {
        SimJob job;
        JobId id;
        Instant start = never;
        std::uint32_t priority = priority_min;
        QueueKey key() const { return {priority, job.submit, id}; }
    };
    struct End {
        Instant at;
        JobId id;
        friend bool operator>(const End& a, const End& b) { return a.at != b.at ? a.at > b.at : a.id > b.id; }
    };
    /// The place in the log comes first, so that ids are in order of submission; the slot is for the look-up.
    static JobId id_of(std::uint64_t place, std::uint32_t slot) { return JobId{(place << slot_bits) | slot}; }
    static std::uint32_t slot_of(JobId id) { return static_cast<std::uint32_t>(id.value & ((1U << slot_bits) - 1)); }
    static std::uint64_t place_of(JobId id) { return id.value >> slot_bits; }

    bool is_letting_go() const { return order_ != nullptr && !pool_.empty() && order_->lets_go() != never; }

    Instant next_instant() const {
        Instant now = next_ ? next_->submit : never;
        now = ends_.empty() ? now : std::min(now, ends_.top().at);
        Instant wake = order_ != nullptr && !pool_.empty() ? order_->wakes() : never;
        if (wake > counters_.now && wake < now && can_leave_out_ && !pool_.could_start()) {
            wake = order_->wakes_last(now);
        }
        return wake > counters_.now ? std::min(now, wake) : now;
    }

    Status read(const JobSource& source) {
        auto job = source();
        if (!job) {
            return job.error();
        }
        next_ = *job;
        return next_ ? replayable(*next_, last_submit_, cores_) : Status{Done{}};
    }

    void submit(const SimJob& job) {
        last_submit_ = job.submit;
        std::uint32_t slot = 0;
        if (unused_.empty()) {
            slot = static_cast<std::uint32_t>(slots_.size());
            WEIR_CHECK(slot >> slot_bits == 0);
            slots_.emplace_back();
        } else {
            slot = unused_.back();
            unused_.pop_back();
        }
        const JobId id = id_of(counters_.submitted++, slot);
        slots_[slot] = {job, id};
        pool_.submit(slots_[slot].key(), job);
        counters_.in_system_max = std::max(counters_.in_system_max, counters_.submitted - counters_.ended);
        if (order_ != nullptr) {
            order_->submitted(job, JobId{slot}, job.submit);
        }
    }

    /// REQUIRES: no job runs.
    NeverStarted never_started() const {
        NeverStarted waiting{counters_.submitted - counters_.started};
        const InSystem* first = nullptr;
        for (const InSystem& entry : slots_) {
            if (entry.start == never && (first == nullptr || entry.id < first->id)) {
                first = &entry;
            }
        }
        WEIR_CHECK((first != nullptr) == (waiting.count > 0));
        waiting.first = first != nullptr ? first->job.number : 0;
        return waiting;
    }

    /// What ends at one instant ends in order of start, of one start in the log's order.
    void end_all(Instant now) {
        ending_.clear();
        for (; !ends_.empty() && ends_.top().at == now; ends_.pop()) {
            ending_.push_back(ends_.top().id);
        }
        if (ending_.size() > 1) {
            std::stable_sort(ending_.begin(), ending_.end(),
                             [&](JobId a, JobId b) { return slots_[slot_of(a)].start < slots_[slot_of(b)].start; });
        }
        for (const JobId id : ending_) {
            end(id);
        }
    }

    void end(JobId id) {
        const std::uint32_t slot = slot_of(id);
        pool_.give_back(id, slots_[slot].job, slots_[slot].start);
        counters_.ended++;
        unused_.push_back(slot);
        if (order_ != nullptr) {
            order_->ended(slots_[slot].job, JobId{slot}, counters_.now);
        }
    }

    void prioritize(Instant now) {
        changed_.clear();
        changes_.clear();
        order_->prioritize(now, changed_);
        for (const auto& [id, priority] : changed_) {
            WEIR_CHECK(id.value < slots_.size());
            InSystem& entry = slots_[id.value];
            if (entry.priority != priority) {
                changes_.emplace_back(entry.key(), priority);
                entry.priority = priority;
            }
        }
        pool_.prioritize(changes_, [this](JobId id) { return slots_[slot_of(id)].priority; });
    }

    Status pass(Instant now) {
        if (order_ != nullptr && !pool_.empty()) {
            if (can_leave_out_ && order_->forgets_asking() && !pool_.could_start()) {
                return Done{};
            }
            prioritize(now);
        }
        counters_.passes++;
        for (const QueueKey& key : pool_.pass(now)) {
            const JobId id = key.id;
            InSystem& entry = slots_[slot_of(id)];
            if (entry.job.run > never - now) {
                return about(entry.job, "would end after the end of time");
            }
            pool_.started(key);
            entry.start = now;
            ends_.push({now + entry.job.run, id});
            counters_.started++;
            sink_(Outcome{entry.job, now, place_of(id)});
            if (order_ != nullptr) {
                order_->started(entry.job, JobId{slot_of(id)}, now);
            }
        }
        counters_.considered = pool_.considered();
        return Done{};
    }

    static constexpr int slot_bits = 24;

    SimPool<Space> pool_;
    std::uint64_t cores_;
    bool can_leave_out_;  ///< a pass without a start changes nothing under a policy that makes its reservations anew
    QueueOrder* order_;
    const OutcomeSink& sink_;
    SimCounters counters_;
    std::optional<SimJob> next_;
    Instant last_submit_{};
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::deque<InSystem> slots_;         ///< growing moves nothing and leaves no room unused
    std::vector<std::uint32_t> unused_;  ///< slots without a job
    std::vector<JobId> ending_;
    std::vector<std::pair<JobId, std::uint32_t>> changed_;
    std::vector<typename SimPool<Space>::Change> changes_;
};

}  // namespace

Result<SimCounters> simulate(const SimMachine& machine, const Policy& policy, const JobSource& source,
                             const OutcomeSink& sink, const SimHooks& hooks) {
    if (const auto* cores = std::get_if<std::int64_t>(&machine)) {
        return Replay(SimCores(*cores), static_cast<std::uint64_t>(std::max<std::int64_t>(*cores, 0)), policy,
                      hooks.order, sink)
            .run(source, hooks.control);
    }
    const ResourceSet& nodes = std::get<ResourceSet>(machine);
    return Replay(OnNodes(nodes), core_count(nodes), policy, hooks.order, sink).run(source, hooks.control);
}

Result<std::vector<Instant>> simulate(std::span<const SimJob> jobs, const SimMachine& machine, const Policy& policy,
                                      SimCounters* counters) {
    std::vector<Instant> starts(jobs.size(), never);
    std::size_t next = 0;
    const auto source = [&]() -> Result<std::optional<SimJob>> {
        return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
    };
    const auto sink = [&](const Outcome& outcome) { starts[outcome.place] = outcome.start; };
    auto done = simulate(machine, policy, source, sink);
    if (!done) {
        return done.error();
    }
    if (counters != nullptr) {
        *counters = *done;
    }
    return starts;
}

}  // namespace weir
