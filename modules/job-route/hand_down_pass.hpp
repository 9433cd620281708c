// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one pass of HandDown over the jobs that wait, in their order. Must not know how facts are kept, or who carries
// the moves out.
#pragma once
#include <deque>
#include <queue>

#include "modules/job-route/hand_down.hpp"

namespace weir::route {

/// One pass over those who wait, in their order. Room and depth only shrink in it.
class HandDown::Pass {
  public:
    Pass(HandDown& plan, const Rules& rules);
    std::vector<Move> run();
    /// Of jobs that are in children: see HandDown::objections().
    std::map<JobId, Objection> objections(std::vector<Checked> jobs);
    /// After run(): what the next plan, and the depth, need to know of the children.
    void note_shortage(Rooms& rooms) const;

  private:
    static constexpr std::size_t npos = SIZE_MAX;
    /// Cores given to jobs in the order of their priorities, the highest first.
    struct RoomGiven {
        std::int64_t total = 0;
        std::int64_t above = 0;  ///< to jobs of a higher priority than `last`
        std::int64_t last = INT64_MAX;
        void add(std::int64_t priority, std::int64_t cores) {
            above = priority < last ? total : above;
            last = std::min(last, priority);
            total += cores;
        }
        std::int64_t above_of(std::int64_t priority) const { return priority < last ? total : above; }
    };
    /// What is left of a room, and who waits for it.
    struct Budget : Room {
        explicit Budget(const Room& room) : Room(room), idle(room.free) { is_short = false; }
        std::int64_t idle;                       ///< free before the pass
        bool is_waited_for = false;              ///< by a job without room
        bool is_reserved = false;                ///< for a job of another queue that only lenders can hold
        std::int64_t ahead = 0;                  ///< jobs without room that could run elsewhere
        std::int64_t ahead_cores = 0;            ///< of these
        std::int64_t refused_cores = INT64_MAX;  ///< the fewest of a job for which the depth had no place
        RoomGiven coming;                        ///< to jobs that it does not know yet
        RoomGiven arrived;                       ///< to jobs that arrived there a moment ago
        std::vector<JobId> arrived_jobs;  ///< of these, those for which nothing is recalled yet, the best one first
        std::size_t tally = npos;         ///< of tallies_
    };
    /// What counts against the limits of a partition: what no plan can move, and what this one has placed. Loans that
    /// can be moved count until their turn comes, behind all others: else a job without room would take the place of
    /// one that has room, which would take it back in the next plan, without an end.
    struct Tally {
        const std::string* partition = nullptr;
        const PartitionLimits* limits = nullptr;
        LimitCounts counts;
    };
    struct Class {
        const JobClass* jobs = nullptr;
        std::int64_t cores = 0;
        std::int64_t whole_nodes = 0;
        std::uint32_t user = 0;
        const Reach* reach = nullptr;
        // of those that a child has:
        bool is_served = false;  ///< it serves their queue
        bool is_lent = false;    ///< it does not, but lends to it
        bool is_taken = false;   ///< by its rules
        /// Where these have room and no limit counts them, none is moved: no job in a child is stuck.
        bool stays_with_room = false;
    };
    struct Source {
        Places::const_iterator next;
        Places::const_iterator end;
        std::int64_t left = 0;
        const Class* kind = nullptr;
        std::size_t budget = npos;  ///< of the child that has them
    };

    /// A job that has no room where it is, or that is with a lender.
    struct Late {
        Place place;
        const Class* kind = nullptr;
        std::size_t holder = npos;  ///< of budgets_
        std::size_t move = npos;    ///< of moves_, that this pass has for it
    };

    /// Against the limits of its partition.
    static std::int64_t counted(const Budget& budget, const Class& kind) {
        return most_cores(kind.cores, kind.whole_nodes, budget.child->facts.node_cores);
    }
    void begin_tallies();
    void count_loans();
    /// Whether the limits of its partition allow one more of these jobs.
    bool allows(const Budget& budget, const Class& kind) const;
    Class kind_of(const JobClass& jobs, std::size_t budget);
    const Reach& reach_of(const JobClass& jobs);
    void push(std::size_t source);
    void add_sources(const Classes& classes, std::size_t budget);
    void stop(const Source& source);
    std::size_t budget_of(JobId child) const;
    bool may_go_ahead(const Budget& budget, const Class& kind) const;
    bool may_stay_ahead(const Budget& budget, const Class& kind) const;
    bool has_choice(const Class& kind, std::size_t holder);
    void note_short(const Class& kind);
    /// Whether a child would take one more of these jobs.
    bool has_place(const Class& kind) const;
    void note_refused(JobId id, const Class& kind);
    template <typename Fits>
    std::size_t pick(const Class& kind, JobId job, std::size_t except, Fits fits) const {
        return pick_of(kind.reach->children, kind.cores, job, except, fits);
    }
    template <typename Fits>
    std::size_t pick_of(const std::vector<std::size_t>& children, std::int64_t cores, JobId job, std::size_t except,
                        Fits fits) const;
    static bool is_preferred(const Budget& a, const Budget& b, std::int64_t cores);
    bool can_lend(const Budget& budget, const Class& kind) const {
        return !budget.is_waited_for && !budget.is_reserved && budget.free >= kind.cores && allows(budget, kind);
    }
    bool has_lender(const Class& kind) const;
    /// No child of its own queue can hold such a job.
    static bool needs_lender(const Class& kind) { return kind.reach->children.empty() && !kind.reach->lenders.empty(); }
    static bool is_lent(const JobClass& jobs, const ChildFacts& lender) {
        return !has(lender.serves, jobs.queue) && has(lender.overflow, jobs.queue);
    }
    /// With a lender, where it takes something and may be taken away.
    static bool is_loan(const Job& job, bool is_lent) {
        return job.standing == Standing::ahead && !job.is_held_back && is_lent;
    }
    void begin_loans();
    void borrow(const Late& late);
    void reserve(const Class& kind);
    void keep_or_return(const Late& late);
    std::size_t pick_free(const Class& kind, JobId job, std::size_t except) const;
    std::size_t pick_ahead(const Class& kind, JobId job, std::size_t except) const;
    /// Room and depth. By a job that the child has.
    void charge(std::size_t budget, const Class& kind, const Place& place);
    /// By one that the child does not know yet.
    void charge_coming(std::size_t budget, const Class& kind, std::int64_t priority);
    bool take_room(Budget& budget, const Class& kind);
    /// The job that this pass places there counts against the limits.
    void count(std::size_t budget, const Class& kind);
    void uncount(std::size_t budget, const Class& kind);
    /// To a child that does not know the job yet.
    void give(std::size_t to, const Class& kind, std::int64_t priority);
    /// Whether the next of these jobs in this child stays there, whatever its record says, and takes room.
    bool has_settled(const Class& kind, const Budget& budget) const {
        return kind.stays_with_room && budget.free >= kind.cores && budget.tally == npos && checked_.empty();
    }
    bool place_waiting(const Place& place, const Class& kind);
    bool place_given(const Place& place, const Class& kind, std::size_t holder);
    bool place_held_back(const Place& place, const Class& kind, std::size_t holder);
    void keep(const Place& place, const Class& kind, std::size_t holder);
    void leave(const Place& place, const Class& kind, std::size_t holder, bool is_stuck = false);
    bool is_checked(JobId id) const;
    void check_allocation(const Place& place, Budget& budget, const Class& kind);
    void move(JobId id, std::size_t from, std::size_t to, bool is_stuck = false);

    HandDown& plan_;
    const Rules& rules_;
    std::vector<Budget> budgets_;
    std::vector<Tally> tallies_;
    std::deque<Class> kinds_;  ///< of sources_
    std::vector<Source> sources_;
    using Head = std::pair<Place, std::size_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
    int skipped_ = 0;
    int deferred_ = 0;
    std::vector<Late> late_;        ///< in the order of the pass
    std::vector<Checked> checked_;  ///< by id
    std::map<JobId, Objection> objections_;
    std::vector<Move> moves_;
};

/// The lowest preference; of these the least loaded, by cores a core. Few jobs may not have a child that fits them, so
/// that is asked of the best one first.
template <typename Fits>
std::size_t HandDown::Pass::pick_of(const std::vector<std::size_t>& children, std::int64_t cores, JobId job,
                                    std::size_t except, Fits fits) const {
    const auto best_of = [&](const auto& is_allowed) {
        std::size_t best = npos;
        for (const std::size_t i : children) {
            const Budget& candidate = budgets_[i];
            const bool is_better = best == npos || is_preferred(candidate, budgets_[best], cores);
            if (i != except && fits(candidate) && is_better && is_allowed(candidate)) {
                best = i;
            }
        }
        return best;
    };
    const auto may_have = [&](const Budget& candidate) { return rules_.may_have(job, candidate.id); };
    const std::size_t best = best_of([](const Budget&) { return true; });
    return best == npos || may_have(budgets_[best]) ? best : best_of(may_have);
}

}  // namespace weir::route
