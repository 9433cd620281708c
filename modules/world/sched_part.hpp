// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the scheduler of a simulated instance: the production Scheduler in the conversation of RFC 27, as modules/sched
// has it with Flux. Must not decide anything.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libsched/scheduler.hpp"
#include "modules/world/part.hpp"
#include "modules/world/start_oracle.hpp"

namespace weir::world {

class Manager;

class SchedPart : public Part {
  public:
    using ToManager = std::function<void(std::function<void(Manager&)>)>;
    SchedPart(Process& process, Policy policy, std::uint32_t cores, ToManager to_manager);
    /// Takes up the running jobs, then asks for the waiting ones.
    void start();

    void greeted(const std::vector<std::pair<std::uint64_t, std::string>>& running);
    void alloc(std::uint64_t id, std::uint32_t userid, std::int64_t priority, Instant submit,
               const std::string& jobspec);
    void cancel(std::uint64_t id);
    void free(std::uint64_t id, const std::string& R);
    void prioritize(const std::vector<std::pair<std::uint64_t, std::int64_t>>& jobs);

    const Scheduler& scheduler() const { return scheduler_; }
    bool is_quiet() const { return requests_.empty() && committing_.empty(); }

  private:
    void take_running(const std::vector<std::pair<std::uint64_t, std::string>>& running);
    void pass_soon();
    void pass();
    void commit(const Scheduler::Start& start);

    Scheduler scheduler_;
    StartOracle oracle_;
    ToManager to_manager_;
    std::set<std::uint64_t> requests_;
    std::map<std::uint64_t, std::uint64_t> committing_;  ///< started, and R is still on its way into the KVS; which one
    std::uint64_t commits_ = 0;
    bool is_greeted_ = false;
    bool is_ready_ = false;
    bool is_pass_due_ = false;
};

}  // namespace weir::world
