// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the event loop. Two events a job: its submission comes from the source, its end from a heap. Jobs in the system
// live in slots that are used again; a slot is the id that the queue's order knows.
#include "libsched/sim/simulate.hpp"

#include <algorithm>
#include <deque>
#include <queue>

#include "libsched/resource/count_space.hpp"
#include "libsched/resource/resource_space.hpp"

namespace weir {
namespace {

/// What is believed of a run time: the request alone. A job that runs longer is believed to end at any moment from then
/// on, as an instance believes it. Not even a job of no time at all may have its place taken: it counts as the shortest
/// there is.
Duration believed(const SimJob& job) {
    return std::max(job.limit, Duration{1});
}

// What a replay asks of a space: its jobs, and giving back.
struct OnCount : CountSpace {
    using Job = CountJob;
    explicit OnCount(std::int64_t cores) : CountSpace(cores) {}
    std::uint64_t free_cores() const { return static_cast<std::uint64_t>(free()); }
    static Job waiting(const QueueKey& key, const SimJob& job) { return {key, job.cores, believed(job)}; }
    void give_back(JobId, const SimJob& job, Instant start) { release(believed_end(start, believed(job)), job.cores); }
};
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

Error about(const SimJob& job, const std::string& what) {
    return Error{std::errc::invalid_argument, "job " + std::to_string(job.number) + " " + what};
}

Status possible(const SimJob& job, Instant previous, std::uint64_t cores) {
    if (job.cores == 0) {
        return about(job, "asks for no cores");
    }
    if (job.cores > cores) {
        return about(job, "wants " + std::to_string(job.cores) + " cores; the machine has " + std::to_string(cores));
    }
    if (job.run < Duration{} || job.limit < Duration{}) {
        return about(job, "has a negative run time or time limit");
    }
    if (job.submit < previous) {
        return about(job, "was submitted before the job that precedes it");
    }
    if (job.run > never - job.submit) {
        return about(job, "would end after the end of time");
    }
    return Done{};
}

template <typename Space>
class Replay {
  public:
    Replay(Space space, std::uint64_t cores, const Policy& policy, QueueOrder* order, const OutcomeSink& sink)
        : space_(std::move(space)),
          cores_(cores),
          policy_(policy),
          can_leave_out_(!std::holds_alternative<KeptReservations>(policy)),
          order_(order),
          sink_(sink) {}

    Result<SimCounters> run(const JobSource& source, const SimControl* control) {
        counters_.now = Instant::min();
        if (auto more = read(source); !more) {
            return more.error();
        }
        for (std::uint64_t instants = 1; next_ || !ends_.empty(); instants++) {
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
                break;
            }
        }
        return counters_;
    }

  private:
    using Job = typename Space::Job;
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

    Instant next_instant() const {
        Instant now = next_ ? next_->submit : never;
        now = ends_.empty() ? now : std::min(now, ends_.top().at);
        Instant wake = order_ != nullptr && !queue_.empty() ? order_->wakes() : never;
        if (wake > counters_.now && wake < now && can_leave_out_ && !could_start()) {
            wake = order_->wakes_last(now);
        }
        return wake > counters_.now ? std::min(now, wake) : now;
    }

    /// Whether any job would start if it were first and nothing were reserved.
    bool could_start() const { return queue_.any_within(space_.free_cores()); }

    Status read(const JobSource& source) {
        auto job = source();
        if (!job) {
            return job.error();
        }
        next_ = *job;
        return next_ ? possible(*next_, last_submit_, cores_) : Status{Done{}};
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
        WEIR_CHECK(queue_.insert(Space::waiting(slots_[slot].key(), job)));
        arrived_.push_back(slots_[slot].key());
        counters_.in_system_max = std::max(counters_.in_system_max, counters_.submitted - counters_.ended);
        if (order_ != nullptr) {
            order_->submitted(job, JobId{slot}, job.submit);
        }
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
        space_.give_back(id, slots_[slot].job, slots_[slot].start);
        counters_.ended++;
        unused_.push_back(slot);
        if (order_ != nullptr) {
            order_->ended(slots_[slot].job, JobId{slot}, counters_.now);
        }
    }

    /// Few changes are made one by one, many in one go over the queue.
    void prioritize(Instant now) {
        changed_.clear();
        order_->prioritize(now, changed_);
        const bool one_by_one = changed_.size() < queue_.size() / 16;
        for (const auto& [id, priority] : changed_) {
            WEIR_CHECK(id.value < slots_.size());
            InSystem& entry = slots_[id.value];
            if (entry.priority == priority) {
                continue;
            }
            moved(entry.key());
            if (entry.priority == priority_held) {
                arrived_.push_back(entry.key());  // not considered yet
            }
            if (one_by_one) {
                Job job = *queue_.find(entry.key());
                WEIR_CHECK(queue_.erase(job.key));
                entry.priority = job.key.priority = priority;
                WEIR_CHECK(queue_.insert(job));
            }
            entry.priority = priority;
            moved(entry.key());
        }
        if (!one_by_one) {
            queue_.rekey([&](Job& job) { job.key.priority = slots_[slot_of(job.key.id)].priority; });
        }
        for (QueueKey& key : arrived_) {
            key.priority = slots_[slot_of(key.id)].priority;
        }
        std::sort(arrived_.begin(), arrived_.end());
        arrived_.erase(std::unique(arrived_.begin(), arrived_.end()), arrived_.end());
    }
    void moved(const QueueKey& key) { first_moved_ = first_moved_ ? std::min(*first_moved_, key) : key; }

    /// What a pass starts.
    struct Collect {
        std::vector<JobId>& gone;
        void started(const Job& job, const typename Space::Taken&) { gone.push_back(job.key.id); }
        void blocked(const Job&, const Blocked&) {}
        std::uint32_t told() const { return 0; }
    };

    Status pass(Instant now) {
        if (order_ != nullptr && !queue_.empty()) {
            if (can_leave_out_ && order_->forgets_asking() && !could_start()) {
                return Done{};
            }
            prioritize(now);
        }
        gone_.clear();
        counters_.passes++;
        std::visit(
            [&](const auto& policy) {
                policy.pass(queue_, space_, News{arrived_, first_moved_}, now, Collect{gone_});
            },
            policy_);
        arrived_.clear();
        first_moved_.reset();
        for (const JobId id : gone_) {
            InSystem& entry = slots_[slot_of(id)];
            if (entry.job.run > never - now) {
                return about(entry.job, "would end after the end of time");
            }
            WEIR_CHECK(queue_.erase(entry.key()));
            entry.start = now;
            ends_.push({now + entry.job.run, id});
            counters_.started++;
            sink_(Outcome{entry.job, now, place_of(id)});
            if (order_ != nullptr) {
                order_->started(entry.job, JobId{slot_of(id)}, now);
            }
        }
        counters_.considered = queue_.considered();
        return Done{};
    }

    static constexpr int slot_bits = 24;

    Space space_;
    std::uint64_t cores_;
    const Policy& policy_;
    bool can_leave_out_;  ///< a pass without a start changes nothing under a policy that makes its reservations anew
    QueueOrder* order_;
    const OutcomeSink& sink_;
    SimCounters counters_;
    std::optional<SimJob> next_;
    Instant last_submit_{};
    JobQueue<Job> queue_;
    std::vector<QueueKey> arrived_;  ///< since the last pass
    std::optional<QueueKey> first_moved_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::deque<InSystem> slots_;         ///< growing moves nothing and leaves no room unused
    std::vector<std::uint32_t> unused_;  ///< slots without a job
    std::vector<JobId> gone_;
    std::vector<JobId> ending_;
    std::vector<std::pair<JobId, std::uint32_t>> changed_;
};

}  // namespace

Result<SimCounters> simulate(const SimMachine& machine, const Policy& policy, const JobSource& source,
                             const OutcomeSink& sink, const SimHooks& hooks) {
    if (const auto* cores = std::get_if<std::int64_t>(&machine)) {
        return Replay(OnCount(*cores), static_cast<std::uint64_t>(std::max<std::int64_t>(*cores, 0)), policy,
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
