// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of submission: all jobs have the same priority. Must not know anything else about them.
#pragma once
#include "libsched/order/order.hpp"

namespace weir::order {

class Fcfs : public OrderBase {
  public:
    static constexpr PolicyKind policy = PolicyKind::fcfs;
    static constexpr const char* assumes = "while their urgencies stay as they are";
    static constexpr bool moves_by_time = false;

    explicit Fcfs(const PolicySettings& = {}, const MachineSize& = {}) {}
    bool configure(const PolicySettings& settings, Instant) { return settings.policy == policy; }
    void put(JobId, const WaitingJob&, Instant) {}
    void pause(JobId, Instant) {}
    void remove(JobId, Instant) {}
    void started(std::optional<JobId>, const Holder&, Instant) {}
    /// Appends nothing: a job without a value has the lowest priority that may start.
    void prioritize(const Use&, Instant, Scope, Values&) {}
    OrderTerms explain(JobId, const Use&, Instant) const {
        OrderTerms terms;
        terms.words.emplace_back("Jobs start in order of submission (policy = \"fcfs\"): all have the same priority.");
        return terms;
    }
    std::string lead(JobId, JobId, const Use&, Instant) const { return "it was submitted earlier"; }
    std::optional<Course> course(JobId, const Use&) const { return std::nullopt; }
};

}  // namespace weir::order
