// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the questions behind the page of a running instance: share tree, ended jobs, queue, instances, as the facts
// that are drawn. Must not draw.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cmd/common/client.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/pictures/instance_report.hpp"

namespace weir::cmd {

struct FactsQuery {
    std::string user;                  ///< whose jobs are marked
    std::optional<std::uint64_t> job;  ///< compared with the first pending job of its queue
};

/// The rows of a share tree in its order.
std::vector<ShareRow> share_rows_of(const ShareView& view);
/// What waits and what runs where, without the share tree.
struct QueueScene {
    std::vector<PendingRow> queue;
    std::int64_t pending = 0;
    InstanceBox top;
};
/// `now`: seconds since the epoch, of the instance. Errors: those of job-priority.
Result<QueueScene> queue_scene(Client& client, const std::string& user, double now);
/// The same with the jobs of one user alone; `pending` counts those of all. `top` was read before.
Result<QueueScene> own_scene(Client& client, std::uint32_t userid, const std::string& user, double now,
                             InstanceBox top);
/// The job and the first pending one of its queue, or the one behind it where it is the first: the one ahead first.
/// Errors: ENOENT for a job that does not wait, or is the only one.
Result<std::pair<JobTerms, JobTerms>> two_jobs_of(Client& client, std::uint64_t id);
/// What the pictures of past and forecast need, for a tree that was read before: rows, charges, half-life. Costs a
/// list of the jobs that ended last.
Result<InstanceFacts> usage_facts(Client& client, const ShareView& view);
/// Asks the instance and those in it. Errors: those of job-priority; a job that does not wait.
Result<InstanceFacts> instance_facts(Client& client, const FactsQuery& query);

}  // namespace weir::cmd
