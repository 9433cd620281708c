// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests for the page of a running instance: share tree, ended jobs, queue, instances, as values to draw.
// Must not draw.
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
/// The first jobs that wait, and how many do.
struct QueueScene {
    std::vector<PendingRow> queue;
    std::int64_t pending = 0;
};
/// `now`: seconds since the epoch, of the instance. `guest`: as a guest of a private instance may see it: his own jobs,
/// and how many wait of all. Errors: those of job-priority.
Result<QueueScene> queue_scene(Client& client, const std::string& user, double now,
                               std::optional<std::uint32_t> guest = std::nullopt);
/// The instance, and the instances in it.
InstanceBox instance_boxes(Client& client);
/// The job and the first pending one of its queue, or the one behind it where it is the first: the one ahead first.
/// Errors: ENOENT for a job that does not wait, or is the only one.
Result<std::pair<JobTerms, JobTerms>> two_jobs_of(Client& client, std::uint64_t id);
/// The input of the pictures of past and forecast, for a tree that was read before: rows, charges, half-life. Costs a
/// list of the jobs that ended last.
Result<InstanceFacts> usage_facts(Client& client, const ShareView& view);
/// Reads the instance and its child instances. Errors: those of job-priority; a job that is not pending.
Result<InstanceFacts> instance_facts(Client& client, const FactsQuery& query);

}  // namespace weir::cmd
