// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a tree of instances in simulated time whose leaves run jobs, as far as job-priority sees it: usage reports go
// up, factors go down, over the production service, queue of records and wire text. Must not know: what is printed,
// Flux, SQLite (a batch of the state log counts as written when its delay is over).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/sends/report_pace.hpp"

namespace weir::scale {

using priority::FluxJobId;

struct TreeSize {
    std::vector<std::size_t> fan_out{100, 100};  ///< children of each instance, from the root down
    std::uint64_t jobs_per_leaf = 1000;
    std::size_t accounts = 8;
    std::size_t users = 8;          ///< of each account
    std::size_t users_of_leaf = 8;  ///< whose jobs one leaf runs
    std::int64_t cores_of_leaf = 32;
    Duration run_time_max = std::chrono::seconds(10);
    Duration link_delay = std::chrono::milliseconds(1);     ///< of a message between parent and child, either way
    Duration commit_delay = std::chrono::milliseconds(50);  ///< from a change to the flush of the state file
    Duration report_pause = std::chrono::seconds(1);        ///< of ReportPace
    Duration pass_interval = std::chrono::minutes(1);       ///< of the root
    Duration policy_change_at = std::chrono::seconds(5);    ///< of the share tree and the weights at the root
};

/// The work of the instances of one level. Messages are those that they receive from below.
struct LevelLoad {
    std::uint64_t instances = 0;
    std::uint64_t reports = 0;
    std::uint64_t report_bytes = 0;
    std::uint64_t records = 0;
    std::uint64_t factor_messages = 0;  ///< that they receive from above
    std::uint64_t factor_bytes = 0;
    std::uint64_t policy_messages = 0;  ///< that they receive from above
    std::uint64_t policy_bytes = 0;
    double policy_cpu_s = 0;
    double report_cpu_s = 0;  ///< decoding and applying reports
    double pass_cpu_s = 0;
    double commit_cpu_s = 0;  ///< making the batches
};

class InstanceTree {
  public:
    explicit InstanceTree(const TreeSize& size);
    InstanceTree(const InstanceTree&) = delete;
    InstanceTree& operator=(const InstanceTree&) = delete;
    ~InstanceTree();

    /// Runs until each leaf has run its jobs and the root has applied every record.
    /// \param progress  called with the number of ended jobs, each hundredth part
    void run(const std::function<void(std::uint64_t)>& progress);

    const std::vector<LevelLoad>& levels() const { return levels_; }
    std::uint64_t ended() const { return ended_; }
    Duration simulated() const { return now_ - begin_; }
    /// From a record's event in a leaf to its place in the root's ledger.
    Duration report_delay_mean() const;
    Duration report_delay_max() const { return report_delay_max_; }
    /// From a pass of the root to the last leaf that has its factors.
    Duration factor_delay_max() const { return factor_delay_max_; }
    /// From a change at the root to the last leaf in which it is in force; 0: there was no change.
    Duration policy_delay_max() const { return policy_delay_max_; }
    /// The number of leaves in which the root's share tree is not in force.
    std::size_t leaves_behind() const;
    /// The number of payers whose core-microseconds at the root are not the sum of the leaves'.
    std::size_t differences() const;

  private:
    struct Instance;
    struct Due {
        Instant at;
        std::uint64_t seq;
        std::function<void()> what;
    };
    struct Later {
        bool operator()(const Due& a, const Due& b) const { return a.at != b.at ? a.at > b.at : a.seq > b.seq; }
    };

    void add(Instance* parent, std::size_t level);
    FluxJobId next_id(Instance& instance);
    void later(Duration delay, std::function<void()> what);
    // a leaf's jobs
    void fill(Instance& leaf);
    void end(Instance& leaf, FluxJobId id, std::int64_t cores);
    // reports
    void changed(Instance& instance);
    void commit(Instance& instance);
    void report(Instance& instance);
    void take_report(Instance& parent, Instance& child, const std::string& text);
    void acknowledge(Instance& instance, std::uint64_t acked);
    // factors
    void root_pass();
    void pass(Instance& instance);
    void publish(Instance& instance);
    void take_factors(Instance& instance, const std::string& text, bool is_complete);
    // policy
    void change_policy();
    void take_policy(Instance& instance, const std::string& text);

    TreeSize size_;
    std::string share_tree_;
    priority::Settings settings_;
    FlatJson reader_;
    std::vector<std::unique_ptr<Instance>> instances_;
    std::vector<LevelLoad> levels_;
    std::priority_queue<Due, std::vector<Due>, Later> agenda_;
    std::mt19937_64 random_{1};
    Instant begin_;
    Instant now_;
    Instant passed_at_;
    std::uint64_t seq_ = 0;
    std::uint64_t ended_ = 0;
    std::uint64_t to_end_ = 0;
    std::uint64_t unsettled_ = 0;  ///< commits that are due, reports that wait or are not answered
    std::uint64_t root_records_ = 0;
    double report_delay_sum_s_ = 0;
    Duration report_delay_max_{};
    Duration factor_delay_max_{};
    Instant policy_changed_at_;
    Duration policy_delay_max_{};
};

}  // namespace weir::scale
