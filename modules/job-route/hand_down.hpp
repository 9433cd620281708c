// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which waiting job is with which child: a job waits here until a child of its queue can use it, and a child gets
// somewhat more than it has room for, so that it can backfill. Must not know journals, messages, or why a job may not
// go to a child. Pure: facts go in, moves come out. Source: doc/adr/0290.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "modules/job-route/messages.hpp"

namespace weir::route {

class HandDown {
  public:
    /// Jobs that a child gets beyond those for which it has room. More wait there only as long as all of them together
    /// need no more than its cores.
    static constexpr std::int64_t depth_default = 32;
    /// A job that fits its child and has not started there for so many ticks may go to another that has room. Twice as
    /// many each time, up to the most.
    static constexpr std::int64_t stuck_after = 2;
    static constexpr std::int64_t stuck_after_max = 8;

    enum class Standing : std::uint8_t {
        absent,  ///< no child may have it, or it has ended
        waits,   ///< here
        asked,   ///< for `child`, and not on record yet: it cannot be moved
        ahead,   ///< with `child`, and has no resources there
        busy,    ///< has resources of `child`
    };
    struct Job {
        Standing standing = Standing::absent;
        JobId child;
        std::int64_t priority = 0;
        std::int64_t cores = 1;
        std::string queue;
        bool is_there = false;  ///< the child has said that it has it
        int kind = 0;           ///< of the rules that it meets (RuleBook)
        friend bool operator==(const Job&, const Job&) = default;
    };
    struct ChildFacts {
        std::vector<std::string> serves;
        std::int64_t cores = 0;      ///< 0: unknown
        std::int64_t own_cores = 0;  ///< held by jobs that did not come from here
        bool is_open = false;        ///< it may get jobs, and what waits there may be moved
        /// Queues whose jobs it may run while none of its own waits for its cores.
        std::vector<std::string> overflow = {};
        int rank = 0;  ///< of its rules (RuleBook): a child with a lower one is preferred
        friend bool operator==(const ChildFacts&, const ChildFacts&) = default;
    };
    /// `from` and `to` may be 0: nobody.
    struct Move {
        JobId id;
        JobId from;
        JobId to;
        bool is_stuck = false;  ///< `from` seemed to have room for it
        friend bool operator==(const Move&, const Move&) = default;
    };
    struct Rules {
        std::function<bool(JobId job, JobId child)> may_have;
        /// A job with more cores fits no child that can be expected and takes this kind of jobs of the queue. It is
        /// given all the same: the child says why it cannot run.
        std::function<std::int64_t(const std::string& queue, int kind)> ceiling;
        /// Whether a child of this rank takes jobs of this kind. A job that is with another comes back.
        std::function<bool(int kind, int rank)> takes;
    };

    explicit HandDown(std::int64_t depth = depth_default) : depth_(depth) {}
    /// O(log jobs).
    void set(JobId id, const Job& job);
    void set_child(JobId id, const ChildFacts& facts);
    void remove_child(JobId id);
    /// A second has passed.
    void tick();
    /// What Rules say has changed.
    void recheck() { is_due_ = true; }
    /// Whether a fact has changed since the last plan.
    bool is_due() const { return is_due_; }
    /// In the order of priority, then of age, each job gets the first of those children that take it: the child that
    /// has it and room for it; the preferred child with room; the child that has it, up to twice the depth; the
    /// preferred child, up to the depth; nobody. Preferred is the lowest rank, then the least load. Behind all that, a
    /// job without room gets the room that a child leaves which lends to its queue and has none of its own waiting; it
    /// goes back when the child needs the room. Ties of load go to the lowest id. The caller carries the moves out in
    /// their order and tells by set(). O(children x (depth + room)), in jobs; the number of waiting jobs does not
    /// matter.
    std::vector<Move> plan(const Rules& rules);
    /// Of a job that its child would start now: whether its cores belong to jobs of a higher priority that the child
    /// does not know yet. A better one that is there was not passed over by mistake: the child backfills. Equal
    /// priorities do not count, so that many equal jobs start without delay.
    bool is_passed_over(JobId id, const Rules& rules) const;

  private:
    /// Higher priority first, then older.
    struct Place {
        std::int64_t priority = 0;
        JobId id;
        friend std::strong_ordering operator<=>(const Place& a, const Place& b) {
            return std::is_eq(a.priority <=> b.priority) ? a.id <=> b.id : b.priority <=> a.priority;
        }
        friend bool operator==(const Place&, const Place&) = default;
    };
    using Places = std::set<Place>;
    struct Child {
        ChildFacts facts;
        Places waiting;  ///< asked and ahead
        std::int64_t busy_cores = 0;
        bool is_known = false;
    };
    struct Record {
        Job job;
        std::int64_t ticks = 0;  ///< since the child has it
        std::int64_t patience = stuck_after;
    };
    class Pass;

    void file(JobId id, const Job& job, bool is_in);

    std::int64_t depth_;
    bool is_due_ = false;
    std::map<JobId, Record> jobs_;
    std::map<JobId, Child> children_;
    using Size = std::pair<int, std::int64_t>;               ///< kind and cores
    std::map<std::string, std::map<Size, Places>> waiting_;  ///< by queue
};

}  // namespace weir::route
