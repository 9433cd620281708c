// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the two jobtap plugins of an instance, as the job-manager calls them: modules/job-route/tap.cpp, and
// modules/job-priority/tap around the production table. Must not know the modules.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/job-manager/state/job.hpp"
#include "modules/job-priority/sends/pusher.hpp"
#include "modules/job-priority/tap/tap_table.hpp"

namespace weir::world {

class Manager;

/// What modules/job-priority/tap/tap.cpp does.
class PriorityTap {
  public:
    PriorityTap(Manager& manager, std::int64_t nonce);
    /// job.state.priority
    void on_priority(broker::jobs::Job& job);
    void on_inactive(const broker::jobs::Job& job) { table_.forget(job.id); }
    /// job-manager.jobpriority.update \return the nonce.
    std::int64_t update(const priority::Push& push, bool is_synced);
    std::set<std::uint64_t> withheld() const;
    bool is_waiting(std::uint64_t id) const { return table_.is_waiting(id); }

  private:
    void reprioritize_all();
    void push_one(std::uint64_t id, std::uint32_t value);
    void arm_timer();

    Manager& manager_;
    priority::TapTable table_;
    std::int64_t nonce_;
    bool is_timer_armed_ = false;
};

/// What modules/job-route/tap.cpp does.
class RouteTap {
  public:
    RouteTap(Manager& manager, bool is_child, std::set<std::string> queues)
        : manager_(manager), is_child_(is_child), queues_(std::move(queues)) {}
    void on_new(broker::jobs::Job& job);
    void on_sched(broker::jobs::Job& job);
    void on_run(broker::jobs::Job& job);
    void on_cleanup(broker::jobs::Job& job);
    void on_inactive(const broker::jobs::Job& job);
    /// One entry of job-manager.jobroute.update. False: it failed.
    bool apply(const Json& entry);
    std::size_t grants() const { return grants_.size(); }

  private:
    enum class Mark : std::uint8_t { granted, held, released };
    struct Grant {
        Json R;
        Json annotations;
    };
    bool is_routed(const broker::jobs::Job& job) const;
    bool is_from_parent(const broker::jobs::Job& job) const;
    bool has_mark(std::uint64_t id, Mark mark) const;
    void hold_again(broker::jobs::Job& job);
    void start_prolog(broker::jobs::Job& job, const char* description);
    void finish_prolog(broker::jobs::Job& job, const char* description);
    void return_from_child(broker::jobs::Job& job);
    bool give(broker::jobs::Job& job, const Json& entry);
    bool alloc(broker::jobs::Job& job, const Json& entry);
    bool clean(broker::jobs::Job& job);
    void go(broker::jobs::Job& job);

    Manager& manager_;
    bool is_child_;
    std::set<std::string> queues_;
    std::map<std::uint64_t, Mark> marks_;
    std::map<std::uint64_t, Grant> grants_;
};

}  // namespace weir::world
