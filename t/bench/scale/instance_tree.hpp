// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a tree of instances in simulated time as the root and its branches, which run on all cores, and its figures.
// Two runs of one size give the same figures, whatever the number of threads. Must not know: what an instance does,
// what is printed.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "t/bench/scale/branch.hpp"

namespace weir::scale {

class InstanceTree {
  public:
    explicit InstanceTree(const TreeSize& size);

    /// Runs until each leaf has run its jobs and the root has applied every record.
    /// \param progress  called with the number of ended jobs, each hundredth part
    void run(const std::function<void(std::uint64_t)>& progress);

    std::vector<LevelLoad> levels() const;
    std::uint64_t ended() const;
    Duration simulated() const { return window_ - begin_; }
    /// From a record's event in a leaf to its place in the root's ledger.
    Duration report_delay_mean() const;
    Duration report_delay_max() const { return root_.report_delay().max; }
    /// From a pass of the root to the last leaf that has its factors.
    Duration factor_delay_max() const;
    /// From a change at the root to the last leaf in which it is in force; 0: there was no change.
    Duration policy_delay_max() const;
    /// The number of leaves in which the root's share tree is not in force.
    std::size_t leaves_behind() const;
    /// Copies that were taken back before they started, at all levels.
    std::uint64_t recalls() const;
    /// Routed jobs that some instance still has.
    std::size_t jobs_left() const;
    /// The number of payers whose core-microseconds at the root are not the sum of the leaves'.
    std::size_t differences() const;

  private:
    void add(Branch& branch, Instance* parent, std::size_t level);
    template <typename Each>
    void for_each_instance(const Each& each) const;
    template <typename Each>
    void for_each_leaf(const Each& each) const;
    void open_window();
    void run_parts();
    void end_window();
    void deliver(Branch& from);
    bool is_over() const;

    Site site_;
    Instant begin_;
    Instant window_;      ///< what is due before it has been carried out
    Instant window_end_;  ///< of the window that the branches carry out
    Instant root_end_;    ///< of the one that the root carries out beside it
    Branch root_;
    std::vector<std::unique_ptr<Branch>> branches_;
    std::size_t instances_ = 0;
    std::uint64_t to_end_ = 0;
    std::atomic<std::size_t> next_part_ = 0;  ///< of the window: 0 is the root, then the branches
};

}  // namespace weir::scale
