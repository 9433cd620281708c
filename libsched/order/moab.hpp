// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's order: a waiting job's inputs for MoabPriorities, and the credentials seen so far. Must not know who
// measures the usage of credentials.
#pragma once
#include "libsched/order/fresh_jobs.hpp"
#include "libsched/order/moab_priorities.hpp"
#include "libsched/order/order.hpp"

namespace weir::order {

class Moab : public OrderBase {
  public:
    static constexpr PolicyKind policy = PolicyKind::moab;
    static constexpr const char* assumes =
        "while usage, their users' active jobs, bypasses and the jobs themselves stay as they are";
    static constexpr GoesBy goes_by = GoesBy::credentials;

    explicit Moab(const PolicySettings& settings, const MachineSize& machine = {})
        : settings_(settings.moab), priorities_(settings) {
        priorities_.set_machine(machine);
    }
    bool configure(const PolicySettings& settings, Instant) {
        return settings.policy == policy && settings.moab == settings_;
    }
    void set_machine(const MachineSize& machine, Instant) { priorities_.set_machine(machine); }

    /// Counted from 0, in order of first appearance. O(log credentials).
    Credential credential(std::size_t kind, const std::vector<std::string>& names) {
        const auto [entry, is_new] = known_[kind].try_emplace(names.front(), nobody);
        if (is_new) {
            entry->second = priorities_.add_credential(kind, names);
        }
        return entry->second;
    }
    bool goes_by_usage(std::size_t kind) const { return priorities_.goes_by_usage(kind); }

    void put(JobId id, const WaitingJob& job, Instant) {
        priorities_.put(id, {.who = job.who,
                             .place = job.place,
                             .since = job.since,
                             .limit = job.limit == Duration::max() ? Duration{} : job.limit,
                             .cores = job.cores,
                             .nodes = job.nodes,
                             .gpus = job.gpus,
                             .memory_mib = job.memory_mib,
                             .user_priority = job.urgency - urgency_normal});
        fresh_.add(id);
    }
    void pause(JobId id, Instant) {
        priorities_.pause(id);
        fresh_.forget(id);
    }
    void remove(JobId id, Instant) {
        priorities_.remove(id);
        fresh_.forget(id);
    }
    void started(std::optional<JobId> id, const Holder& holder, Instant) {
        if (id) {
            priorities_.start(*id);
            fresh_.forget(*id);
        }
        priorities_.hold(holder.user, 1, holder.cores);
    }
    void ended(const Holder& holder, Instant) { priorities_.hold(holder.user, -1, -holder.cores); }
    /// REQUIRES, here and below: use.credentials.
    void prioritize(const Use& use, Instant now, Scope scope, Values& values) {
        if (scope == Scope::all) {
            fresh_.clear();
            priorities_.prioritize(*use.credentials, now, values);
            return;
        }
        for (const JobId id : fresh_.take()) {
            values.emplace_back(id, priorities_.update_value(id, *use.credentials, now));
        }
    }
    OrderTerms explain(JobId id, const Use& use, Instant now) const {
        return priorities_.explain(id, *use.credentials, now);
    }
    std::string lead(JobId own, JobId other, const Use& use, Instant now) const {
        if (const std::string cap = capped_by(own, use); !cap.empty()) {
            return "this job waits until its cap allows it (moab." + cap + ")";
        }
        // Values are rounded and bounded: of equal ones the sums decide nothing.
        const auto value = [&](JobId id) { return priorities_.value(id, *use.credentials, now); };
        if (value(own) == value(other)) {
            return "the priorities are equal and it was submitted earlier";
        }
        return order_lead("its sum", explain(own, use, now), explain(other, use, now));
    }
    std::optional<Course> course(JobId id, const Use& use) const { return priorities_.course(id, *use.credentials); }
    std::string capped_by(JobId id, const Use& use) const { return priorities_.capped_by(id, *use.credentials); }
    /// Before rounding and Maui's limits.
    double raw(JobId id, const Use& use, Instant now) const { return priorities_.raw(id, *use.credentials, now); }

  private:
    static constexpr int urgency_normal = 16;

    MoabPolicy settings_;
    MoabPriorities priorities_;
    std::array<std::map<std::string, Credential>, moab_credential_kinds> known_;  ///< by their own names
    FreshJobs fresh_;
};

}  // namespace weir::order
