// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of job queues: which exist, which accept jobs (enabled), which send jobs to the scheduler (started),
//   the defaults that submission fills in and the limits that a job must keep.
// Must not know: jobs' states, flux_t.
// RFC 33; flux-config-queues(5), flux-config-policy(5).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/services/job-manager/tables/policy_limits.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker::jobs {

struct Queue {
    bool is_enabled = true;
    bool is_started = true;
    std::string disable_reason, stop_reason;
    /// As after the next restart: a stop may be for this life only.
    bool is_started_again = true;
    std::string kept_stop_reason;
    /// Properties that a job of this queue needs of its nodes.
    std::vector<std::string> needs;
    std::optional<double> default_duration;
    PolicyLimits limits;
};

class Queues {
  public:
    /// Reads the instance's configuration ([queues], [policy]). Queues that remain keep their state; a new one is
    /// enabled and started, as stock Flux's rc1 leaves it. Error: the key; nothing changes then.
    Status configure(const json_t* config);
    bool has_named() const { return !named_.empty(); }
    std::vector<std::string> names() const;
    /// Empty name = the anonymous queue, which exists only while no named one does.
    /// Error: "'debgu' is not a valid queue; did you mean 'debug'?".
    Result<Queue*> find(const std::string& name);
    /// Whether jobs of this queue go to the scheduler. A queue that was removed keeps going.
    bool is_started(const std::string& name) const;
    /// An empty name means every queue. Error: as find().
    Status enable(const std::string& name, bool on, const std::string& reason);
    /// \param is_kept  it holds after a restart, too
    Status start(const std::string& name, bool on, const std::string& reason, bool is_kept = true);
    /// What a restart must know: {NAME: {disabled?: reason, stopped?: reason}}; "" is the anonymous queue.
    Json closed() const;
    /// Takes over what closed() gave before the restart; queues that are not configured any more are left out.
    void close(const json_t* closed);
    /// Fills in queue, duration and constraints from the configured defaults. Error: as find(), or queue disabled.
    Status prepare(json_t* jobspec);
    /// For a job of the queue `from` whose jobspec now names another one: in the constraints, what the new queue needs
    /// takes the place of what prepare() added for `from`. Error: as find(), or queue disabled, or that is not in the
    /// constraints.
    Status move(json_t* jobspec, const std::string& from);
    /// Whether a job keeps the limits of its queue. An empty queue, or one that is gone, has the general ones.
    /// \param jobspec  with the defaults filled in; read only where a limit of size is set
    Status check_limits(const JobspecFacts& facts, std::string_view jobspec) const;
    /// job-manager.queue-status of one queue.
    Json status(const Queue& queue, bool is_scheduler_ready) const;

  private:
    std::vector<Queue*> select(const std::string& name);
    std::vector<std::pair<std::string, const Queue*>> all() const;

    std::map<std::string, Queue> named_;
    Queue anonymous_;
    std::string default_queue_;
    std::optional<double> default_duration_;
    PolicyLimits limits_;
};

}  // namespace weir::broker::jobs
