// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the demo's checks of its schedule: order, limits, overflow. What the parent was told (priorities, share tree,
// partitions) against when the children ran the jobs. Pure.
#pragma once
#include <string>
#include <vector>

#include "cmd/demo/checks.hpp"
#include "cmd/instance/plan.hpp"
#include "libfairshare/tree/node_terms.hpp"

namespace weir::cmd {

/// A limit on the cores or on the running jobs of a node of the share tree.
struct NodeLimit {
    std::string path;
    Limit limit;
};
/// Those of a text that the parent has accepted, in its order.
std::vector<NodeLimit> limits_of(const std::string& share_tree);

/// What a run may be late by, in scaled time: messages between the instances take real time.
struct Slack {
    Duration second{};          ///< a real second
    Duration slowest_report{};  ///< the longest time from an allocation in a child to its record at the parent
    /// In which a new priority surely reaches the children, also where the disk is slow: four of the demo's update
    /// intervals, and of the slowest reports.
    Duration moment() const { return 2 * second + 4 * slowest_report; }
    /// In which a job that a child returns surely starts elsewhere, even if it is returned again: each time it is taken
    /// back, handed down, submitted, allocated and reported.
    Duration while_it_moves() const { return 3 * second + 8 * slowest_report; }
};
/// `scale`: of the clock.
Slack slack_of(const std::vector<JobRecord>& jobs, double scale);

/// The most cores or jobs in use at once below each node, from allocation to release, is at most its limit.
Check check_limits(const std::vector<NodeLimit>& limits, const std::vector<JobRecord>& jobs);
/// No admitted job waits for longer than `while_it_moves` beside cores that a partition lends to its queue: as many as
/// it requests are free there, and no admitted job of the partition's own queue waits.
Check check_overflow(const std::vector<Partition>& partitions, const std::vector<JobRecord>& jobs, const Slack& slack);
/// No job starts in the partition of its queue before another one of the queue that had the higher priority for a
/// `moment`, requests at most as many cores for at most as long. If that one moved within a moment of the start, it may
/// start `while_it_moves` later. Equal priorities do not count. Nor do jobs that are lent cores: these go to jobs
/// without room at home, and a job that has room there may wait two seconds for a reservation before it moves. O(n log
/// n + sum of the queue's lengths at all starts).
Check check_order(const std::vector<JobRecord>& jobs, const Slack& slack);

}  // namespace weir::cmd
