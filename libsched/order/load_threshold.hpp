// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order by the machine's load: a waiting job's inputs for LoadThresholdPriorities. Must not know the
// scheduler.
#pragma once
#include "libsched/order/fresh_jobs.hpp"
#include "libsched/order/load_threshold_priorities.hpp"
#include "libsched/order/order.hpp"

namespace weir::order {

class LoadThreshold : public OrderBase {
  public:
    static constexpr PolicyKind policy = PolicyKind::load_threshold;
    static constexpr const char* assumes = "while the machine's load and the jobs themselves stay as they are";

    LoadThreshold(const PolicySettings& settings, const MachineSize& machine) : priorities_(settings, machine.cores) {}
    bool configure(const PolicySettings& settings, Instant at) {
        if (settings.policy != policy) {
            return false;
        }
        priorities_.configure(settings, at);
        return true;
    }
    void set_machine(const MachineSize& machine, Instant at) { priorities_.set_machine(machine.cores, at); }

    void put(JobId id, const WaitingJob& job, Instant at) {
        priorities_.put(id, job.queue, at);
        fresh_.add(id);
    }
    void pause(JobId id, Instant at) {
        priorities_.pause(id, at);
        fresh_.forget(id);
    }
    void remove(JobId id, Instant at) {
        priorities_.remove(id, at);
        fresh_.forget(id);
    }
    void started(std::optional<JobId> id, const Holder& holder, Instant at) {
        if (id) {
            remove(*id, at);
        }
        priorities_.use(holder.cores, at);
    }
    void ended(const Holder& holder, Instant at) { priorities_.use(-holder.cores, at); }
    void prioritize(const Use&, Instant now, Scope scope, Values& values) {
        if (scope == Scope::all) {
            fresh_.clear();
            priorities_.prioritize(now, values);
            return;
        }
        for (const JobId id : fresh_.take()) {
            values.emplace_back(id, priorities_.value(id, now));
        }
    }
    OrderTerms explain(JobId id, const Use&, Instant now) const { return priorities_.explain(id, now); }
    std::string lead(JobId own, JobId other, const Use& use, Instant now) const {
        return order_lead("P, before its threshold,", explain(own, use, now), explain(other, use, now));
    }
    std::optional<Course> course(JobId id, const Use&) const { return priorities_.course(id); }
    const LoadThresholdPriorities& priorities() const { return priorities_; }

  private:
    LoadThresholdPriorities priorities_;
    FreshJobs fresh_;
};

}  // namespace weir::order
