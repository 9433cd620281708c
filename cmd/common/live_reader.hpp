// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests for live pictures of an instance. It requests only what is shown and has changed. Must not draw.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/view/live_scene.hpp"

namespace weir::cmd {

/// The waiting jobs that job-priority.list tells, at its own time.
std::vector<QueueLine> queue_lines_of(const json_t* answer, bool unicode = true);

/// The instances that serve queues, with a connection to each. One that does not answer is asked again at the next
/// look.
class PartitionReader {
  public:
    explicit PartitionReader(double answer_s) : answer_s_(answer_s) {}
    /// Of a client's children that may be opened, in their order; where there are none, the instance itself.
    std::vector<PartitionLine> read(Client& client);

  private:
    struct Below {
        std::unique_ptr<Client> client;
        std::string policy;
    };
    PartitionLine read_child(const ChildEntry& child);
    double answer_s_;
    std::map<std::string, Below> below_;  // by uri
};

/// Cores, jobs and the scheduler of one instance, without a name.
PartitionLine partition_line_of(Client& client, double answer_s);

struct SceneQuery {
    std::int64_t share_rows = 200, queue_rows = 50;
    std::string order = "tree";
    std::string match;
    std::set<std::string> open, shut;
    friend bool operator==(const SceneQuery&, const SceneQuery&) = default;
};

struct LiveAnswer {
    LiveScene scene;
    double now = 0;  ///< seconds since the epoch, of the instance
    JobCounts jobs;
    std::int64_t started = 0;  ///< jobs since job-priority was loaded
    std::int64_t revision = 0, nodes = 0, left_out = 0, queue_matches = 0;
};

class LiveReader {
  public:
    /// \param answer_s  real seconds that each module has to answer
    explicit LiveReader(double answer_s, bool unicode = true)
        : answer_s_(answer_s), unicode_(unicode), partitions_(answer_s) {}
    /// Shares and queue are asked for again if job-priority has seen an event since, or the query is another one.
    /// Errors: those of job-priority; after one the next call asks for everything.
    Result<LiveAnswer> read(Client& client, const SceneQuery& query);

  private:
    Status read_shares(Client& client, const SceneQuery& query);
    Status read_queue(Client& client, const SceneQuery& query);

    double answer_s_;
    bool unicode_;
    PartitionReader partitions_;
    std::string version_;
    SceneQuery query_;
    double queue_at_ = 0;  // of the instance's clock
    LiveAnswer last_;
};

}  // namespace weir::cmd
