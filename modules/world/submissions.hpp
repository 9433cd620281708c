// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what people submitted, and what really became of it: how often a process of it ran, when, on which cores of the
// machine. It is what the checkers compare the instances' records with. Must not know instances.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "modules/world/ground.hpp"

namespace weir::world {

inline constexpr std::uint32_t owner = 100;
inline constexpr std::uint32_t alice = 5001;
inline constexpr std::uint32_t bob = 5002;
inline constexpr std::uint32_t carol = 5003;
inline constexpr std::uint32_t dave = 5004;  ///< no line of his own

/// One submission: of a user's job, or of the job that is a child instance.
struct Submission {
    std::size_t number = 0;
    std::uint32_t userid = owner;
    std::uint32_t cores = 1;
    Duration runs{};        ///< so long does its process run
    Duration limit{};       ///< the time that it asks for; 0: none
    int status = 0;         ///< of its process, as of wait(2)
    std::string queue;      ///< empty: the instance runs it itself
    std::string serves;     ///< of a child instance: the queue whose jobs it runs
    std::size_t place = 0;  ///< of a child instance: which one
    std::size_t at = 0;     ///< the instance that it was submitted to

    std::uint64_t answered_id = 0;    ///< the id in the answer; 0: nobody was answered
    bool is_cancelled_early = false;  ///< its owner cancels it while a scheduler looks for its cores
    bool is_cancel_answered = false;
    int starts = 0;              ///< of processes
    bool is_with_guest = false;  ///< a guest of the same user got it, and says of it what he likes
    std::size_t ran_at = 0;      ///< the instance whose process of it began last
};

/// attributes.user.world names the submission, in every copy of the job.
std::string jobspec_of(const Submission& submission);
/// The number in a jobspec of jobspec_of().
std::size_t submission_in(const std::string& jobspec);

/// The cores of the machine, and the processes on them.
class Machine {
  public:
    Machine(Ground& ground, std::uint32_t cores) : ground_(ground), holders_(cores, 0) {}
    /// A process begins on these cores: a violation if another has one of them.
    void take(const std::vector<std::uint32_t>& cores, std::size_t submission);
    void release(const std::vector<std::uint32_t>& cores, std::size_t submission);
    std::uint32_t size() const { return static_cast<std::uint32_t>(holders_.size()); }
    /// The submissions whose processes have cores, and how many.
    std::map<std::size_t, std::uint32_t> running() const;
    /// When a process last began or ended.
    Instant last_change() const { return last_change_; }

  private:
    Ground& ground_;
    Instant last_change_{};
    std::vector<std::size_t> holders_;  ///< 0: nobody, else the submission's number and one
};

}  // namespace weir::world
