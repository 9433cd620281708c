// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a tree of instances in simulated time as the root and its branches, which run on all cores, and its figures.
// Two runs of one size give the same figures, whatever the number of threads. Must not know: what an instance does,
// what is printed.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
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
    Duration simulated() const { return parts_.front().done - begin_; }
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
    /// The root, or a branch. All but `branch` is for who holds the mutex.
    struct Part {
        Part(Branch& of, Instant begin) : branch(&of), done(begin) {}

        Branch* branch;
        Instant done;  ///< it has carried out what is due before
        bool is_running = false;
        std::vector<Branch::Sent> inbox;  ///< that it has not read
        std::uint64_t ended = 0;          ///< by `done`
        Instant settled_since = Instant::max();
    };
    void add(Branch& branch, Instance* parent, std::size_t level);
    template <typename Each>
    void for_each_instance(const Each& each) const;
    template <typename Each>
    void for_each_leaf(const Each& each) const;
    void work(const std::function<void(std::uint64_t)>& progress);
    Part* next_part();
    Instant step_end(const Part& part) const;
    void step(Part& part, std::unique_lock<std::mutex>& lock);
    void deliver(Branch& from);
    std::uint64_t ended_by_now() const;
    bool is_over() const;

    Site site_;
    Instant begin_;
    Branch root_;
    std::vector<std::unique_ptr<Branch>> branches_;
    std::size_t instances_ = 0;
    std::uint64_t to_end_ = 0;
    Duration step_{};  ///< a quarter of the least time from a message to the root until its answer arrives

    std::mutex mutex_;  ///< of all below, and of each part
    std::condition_variable changed_;
    std::vector<Part> parts_;   ///< the root, then the branches
    Instant next_broadcast_{};  ///< of the root
    std::uint64_t told_ = 0;    ///< ended jobs, to who asked for progress
    std::exception_ptr failure_;
    bool is_done_ = false;
};

}  // namespace weir::scale
