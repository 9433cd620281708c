// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which waiting job is with which child: a job waits here until a child of its queue can use it, and a child gets
// somewhat more than it has room for, so that it can backfill. Must not know journals, messages, or why a job may not
// go to a child. Pure: facts go in, moves come out.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "modules/job-route/messages.hpp"
#include "modules/job-route/partition_limits.hpp"

namespace weir::route {

class HandDown {
    struct Record;

  public:
    /// Jobs that a child gets beyond those for which it has room, of those that another could run as well. More wait
    /// there as long as all of them together need no more than its cores, and while cores of it are idle, see plan().
    static constexpr std::int64_t depth_default = 8;
    /// The most that idle cores make of the depth.
    static constexpr std::int64_t depth_growth_max = 32;
    /// A job that fits its child and has not started there for so many ticks may go to another that has room. Twice as
    /// many each time, up to the most.
    static constexpr std::int64_t stuck_after = 2;
    static constexpr std::int64_t stuck_after_max = 8;
    /// The same of a job that its child holds back. Nobody here knows whether another child would let it run, so it
    /// must not go back and forth often.
    static constexpr std::int64_t held_back_after_max = 256;

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
        bool is_there = false;   ///< the child has said that it has it
        int kind = 0;            ///< of the rules that it meets (RuleBook)
        std::uint32_t user = 0;  ///< whose jobs a limit counts; 0 where none counts users
        /// Ahead, and a limit of the child's own holds it back: it waits for no cores there.
        bool is_held_back = false;
        std::int64_t whole_nodes = 0;   ///< that it requests with all their cores
        std::int64_t held = 0;          ///< cores that it counts with, asked or busy; 0: `cores`
        std::vector<JobId> unfit = {};  ///< children that said that they cannot run it, ascending
        Instant submit = {};            ///< by its user, at whatever level
        friend bool operator==(const Job&, const Job&) = default;
    };
    /// What is filed of a job; null of one that is absent.
    using Filed = std::pair<const JobId, Record>*;
    struct ChildFacts {
        std::vector<std::string> serves;
        std::int64_t cores = 0;      ///< 0: unknown
        std::int64_t own_cores = 0;  ///< held by jobs that did not come from here, or of drained nodes
        bool is_open = false;        ///< it may get jobs, and what waits there may be moved
        /// Queues whose jobs it may run while none of its own waits for its cores.
        std::vector<std::string> overflow = {};
        int rank = 0;                 ///< of its rules (RuleBook)
        int preference = 0;           ///< of its rules (RuleBook): a child with a lower one is preferred
        std::string partition = {};   ///< the limits count the jobs of all its children; empty: no limits
        PartitionLimits limits = {};  ///< the same in all children of a partition
        std::int64_t node_cores = 0;  ///< of its largest node; 0: unknown
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
    /// Jobs among which a plan makes no difference but by their order.
    struct JobClass {
        std::string queue;
        int kind = 0;
        std::int64_t cores = 1;
        std::uint32_t user = 0;
        bool is_held_back = false;
        std::int64_t whole_nodes = 0;
        std::vector<JobId> unfit = {};
        bool is_unfit_for(JobId child) const { return std::binary_search(unfit.begin(), unfit.end(), child); }
        friend auto operator<=>(const JobClass&, const JobClass&) = default;
    };
    /// The children that can be expected, attached or not, and take jobs of a class.
    struct Takers {
        /// A job with more cores fits none of them. It is given all the same: the child says why it cannot run.
        std::int64_t cores_max = 0;
        /// Only one is large enough, of those that take every user's jobs: these jobs have no other place to wait for.
        bool is_one = false;
    };
    struct Rules {
        std::function<bool(JobId job, JobId child)> may_have;
        /// The same whatever the user.
        std::function<Takers(const JobClass& jobs)> takers;
        /// Whether a child of this rank takes jobs of this kind. A job in a child that does not take it is recalled.
        std::function<bool(int kind, int rank)> takes;
    };

    /// The most cores that a job may get of nodes of this size: what it counts with against a limit before it has any.
    static std::int64_t most_cores(std::int64_t cores, std::int64_t whole_nodes, std::int64_t node_cores) {
        return std::min(std::max(cores, whole_nodes * node_cores), cores_max);
    }

    explicit HandDown(std::int64_t depth = depth_default) : depth_(depth) {}
    HandDown(const HandDown&) = delete;  // its places, and who files jobs, point to its records
    HandDown& operator=(const HandDown&) = delete;
    HandDown(HandDown&&) = default;
    HandDown& operator=(HandDown&&) = default;
    /// Messages need so many ticks from the hand-down of a job until its allocation is known here. Where the longest
    /// patience with a job that fits is shorter, they are added to each, or the job would be moved before it starts.
    /// REQUIRES: no jobs yet.
    void set_time_on_the_way(std::int64_t ticks) { way_ = ticks > stuck_after_max ? ticks : 0; }
    /// O(log jobs).
    void set(JobId id, Job job);
    /// The same for a caller who keeps `filed` with the job, so that nothing is looked up. REQUIRES: it is what the
    /// last call for this job made it, null at first, and all calls for this job are of this kind.
    void set(JobId id, Filed& filed, Job job);
    void set_child(JobId id, const ChildFacts& facts);
    void remove_child(JobId id);
    /// A second has passed.
    void tick();
    /// The number of ticks after which one alone changes a plan, at least 1; nothing: none does. O(children).
    std::optional<std::int64_t> next_change() const;
    /// What may_have() says has changed.
    void recheck() { is_due_ = true; }
    /// What takers() or takes() say has changed. Until then a plan may use earlier answers.
    void rules_changed() {
        reaches_.clear();
        is_due_ = true;
    }
    /// Whether a fact has changed since the last plan.
    bool is_due() const { return is_due_; }
    /// In the order of priority, then of age, each job gets the first of those children that take it, and did not say
    /// that they cannot run it: the child that has it and room for it; the preferred child with room; the child that
    /// has it, up to twice the depth, unless this plan had no place there for a better job that needs no more cores;
    /// the preferred child, up to the depth; nobody. A job that one child alone takes gets it without a bound.
    /// Preferred is the lowest preference, then the least load. Behind all that, a job without room gets the room that
    /// a child leaves which lends to its queue and has none of its own waiting; it goes back when the child needs the
    /// room. Ties of load go to the lowest id. The caller carries the moves out in their order and tells by set().
    /// Where cores of a child are idle, and a job that waits here would fit them, the depth of the child doubles each
    /// second for such jobs, up to depth_growth_max times. It is the first one again when fewer jobs than that wait. A
    /// job that its child holds back takes no room and no place of a limit there, only one of the depth, and goes to
    /// another that has room, after a pause that doubles each time. A child of a partition with limits has no more jobs
    /// than the limits allow to run: a job that would exceed one waits here, or goes to another child, and one that is
    /// there comes back. So no limit is exceeded whatever the child starts. O(children x (depth + room)), in jobs; the
    /// number of waiting jobs does not matter. In children with limits all jobs are looked at; where users are counted,
    /// O(log) more for each user and size that waits.
    std::vector<Move> plan(const Rules& rules);
    /// Why a job should not start with the cores that its child has given it.
    struct Objection {
        enum class Kind : std::uint8_t {
            coming,   ///< they belong to jobs of a higher priority that the child does not know yet
            arrived,  ///< the same of a job that arrived there a moment ago: the choice may be older
            rules,    ///< a limit of the partition does not allow it, or the partition does not serve its queue
        };
        Kind kind = Kind::rules;
        JobId better;  ///< the job that arrived
        friend bool operator==(const Objection&, const Objection&) = default;
    };
    /// Of these jobs, those that should not start. A better one that has been there for a while was not passed over by
    /// mistake: the child backfills. Equal priorities do not count, so that many equal jobs start without delay.
    /// REQUIRES: the ids ascend. O(a plan).
    std::map<JobId, Objection> objections(const std::vector<JobId>& ids, const Rules& rules);
    /// A job was recalled for this one that had arrived. Whom the child prefers to it from now on, it prefers with a
    /// reason.
    void set_considered(JobId better);
    /// Whether a job of which `fits` is true waits for cores: it waits here, or with a child that has no room for all
    /// such jobs, or that had time to start it and did not. O(waiting jobs of these classes).
    bool is_awaited(const std::function<bool(const JobClass& jobs)>& fits) const;
    struct LimitState {
        LimitHit hit;
        std::int64_t running = 0;  ///< of hit.count, what has resources
    };
    /// The limit of a partition that one more job would exceed beside those that are there. O(its children x classes of
    /// jobs). \param cores as most_cores() has it there.
    std::optional<LimitState> limit_state(const std::string& partition, std::uint32_t user, std::int64_t cores) const;

  private:
    /// Higher priority first, then older.
    struct Place {
        std::int64_t priority = 0;
        Instant submit{};
        JobId id;
        const Record* record = nullptr;  ///< of the job, which its order does not depend on
        friend std::strong_ordering operator<=>(const Place& a, const Place& b) {
            return std::tie(b.priority, a.submit, a.id) <=> std::tie(a.priority, b.submit, b.id);
        }
        friend bool operator==(const Place& a, const Place& b) { return (a <=> b) == 0; }
    };
    using Places = std::set<Place>;
    using Classes = std::map<JobClass, Places>;
    struct Child {
        ChildFacts facts;
        Classes waiting;                 ///< asked and ahead
        std::int64_t waiting_cores = 0;  ///< that these request
        LimitCounts busy;
        LimitCounts asked;  ///< no plan can move these
        bool is_known = false;
    };
    /// What a plan reads of each child. Of all children side by side in memory.
    struct Room {
        JobId id;
        const Child* child = nullptr;
        std::int64_t cores = 0;   ///< of the child, 0: unknown
        std::int64_t free = 0;    ///< of these; 0 where it gets no jobs
        std::int64_t load = 0;    ///< cores that are held
        std::int64_t growth = 1;  ///< times the depth
        int preference = 0;
        bool is_short = false;  ///< a job that waits here would fit its idle cores, as the last plan saw it
        bool has_waiting = false;
        bool has_limits = false;
    };
    using Rooms = std::vector<Room>;
    /// The children that jobs of a class can have, whoever's they are, as places in rooms_.
    struct Reach {
        bool is_bound = true;               ///< by the depth; else only one child takes these jobs
        std::vector<std::size_t> children;  ///< that serve the queue and are large enough
        std::vector<std::size_t> lenders;   ///< that lend to the queue and are large enough
    };
    /// More are forgotten.
    static constexpr std::size_t reaches_max = 1000;
    /// What a plan reads of each job stands together.
    struct Record {
        std::int64_t since = 0;  ///< the tick at which the child got it
        std::int64_t patience = stuck_after;
        std::int64_t arrived = 0;     ///< the tick at which the child said that it has it
        bool is_considered = false;   ///< see set_considered()
        std::int64_t counted_at = 0;  ///< the tick of stuck_at_ that counts it; not after now_: none does
        Job job = {};
        std::int64_t patience_max() const { return job.is_held_back ? held_back_after_max : stuck_after_max; }
    };
    /// A job whose allocation is judged.
    struct Checked {
        JobId id;
        const Record* record = nullptr;
    };
    class Pass;

    static constexpr std::int64_t load_max = 4 * cores_max;  ///< products with cores must fit

    static Place place_of(JobId id, const Record& record) {
        return {record.job.priority, record.job.submit, id, &record};
    }
    void file_place(JobId id, const Record& record, bool is_in);
    void file_cores(const Job& job, bool is_in);
    void watch(Record& record);
    void unwatch(Record& record);
    Rooms::iterator room_of(JobId child);
    Child& child_of(JobId id);
    void refresh(JobId id, const Child& child);
    void settle_child(JobId id);
    bool is_at_rest(const Rules& rules) const;
    const Reach& reach_of(const JobClass& jobs, const Rules& rules);
    /// What a child has given before it knew of the job is reported within a second.
    bool has_arrived_now(const Record& record) const {
        return record.job.is_there && !record.is_considered && now_ <= record.arrived + 1;
    }
    /// The tick from which the job may go to another child that has room.
    std::int64_t stuck_at(const Record& record) const {
        return record.since + std::min(record.patience, record.patience_max()) + way_;
    }
    bool is_stuck(const Record& record) const { return stuck_at(record) <= now_; }
    static bool is_in_child(const Job& job) {
        return job.standing == Standing::asked || job.standing == Standing::ahead;
    }
    /// Whether a job that changes so stays in a child, in the same class and at the same place.
    static bool is_same_place(const Job& a, const Job& b) {
        const auto place = [](const Job& job) {
            return std::tie(job.child, job.priority, job.submit, job.queue, job.kind, job.cores, job.user,
                            job.is_held_back, job.whole_nodes, job.unfit);
        };
        return is_in_child(a) && is_in_child(b) && place(a) == place(b);
    }
    static JobClass class_of(const Job& job) {
        return {job.queue, job.kind, job.cores, job.user, job.is_held_back, job.whole_nodes, job.unfit};
    }
    static std::int64_t free_cores_of(const Child& child) {
        return std::max<std::int64_t>(0, child.facts.cores - child.facts.own_cores - child.busy.total().cores);
    }
    static bool has(const std::vector<std::string>& queues, const std::string& queue) {
        return std::find(queues.begin(), queues.end(), queue) != queues.end();
    }
    static bool is_empty(const Child& child) { return child.waiting.empty() && child.busy.total().jobs == 0; }

    std::int64_t depth_;
    std::int64_t way_ = 0;  ///< ticks added to each patience
    bool is_due_ = false;
    std::unordered_map<JobId, Record> jobs_;
    std::map<JobId, Child> children_;
    Rooms rooms_;                        ///< of each child, by id
    std::map<JobClass, Reach> reaches_;  ///< of classes without a user, as far as they were asked for
    Classes waiting_;
    std::int64_t now_ = 0;                           ///< ticks
    std::int64_t in_children_ = 0;                   ///< jobs that are asked or ahead
    std::int64_t watched_ = 0;                       ///< of these, those that are not stuck yet
    std::map<std::int64_t, std::int64_t> stuck_at_;  ///< how many of them are so from which tick on
};

}  // namespace weir::route
