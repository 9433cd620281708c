// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one pass of HandDown over the jobs that wait, in their order. Must not know how facts are kept, or who carries
// the moves out.
#pragma once
#include <queue>

#include "modules/job-route/hand_down.hpp"

namespace weir::route {

/// One pass over those who wait, in their order. Room and depth only shrink in it.
class HandDown::Pass {
  public:
    Pass(const HandDown& plan, const Rules& rules);
    std::vector<Move> run();
    bool is_passed_over(JobId id);

  private:
    static constexpr std::size_t npos = SIZE_MAX;
    struct Budget {
        JobId id;
        const Child* child = nullptr;
        std::int64_t room = 0;
        std::int64_t load = 0;  ///< cores that are held or that jobs wait for
        std::int64_t ahead = 0;
        std::int64_t ahead_cores = 0;
        std::vector<std::pair<std::int64_t, std::int64_t>> coming;  ///< (priority, cores) that take room of it
    };
    struct Class {
        std::int64_t cores = 0;
        std::vector<std::size_t> children;  ///< of budgets_, that serve the queue and are large enough
        std::vector<std::size_t> lenders;   ///< that lend to the queue and are large enough
    };
    struct Source {
        Places::const_iterator next;
        Places::const_iterator end;
        std::size_t budget = npos;    ///< of the child that has them
        const Class* kind = nullptr;  ///< null: of jobs that a child has
    };

    /// A job that has no room where it is, or that is with a lender.
    struct Late {
        Place place;
        std::size_t holder = npos;  ///< of budgets_
        std::size_t move = npos;    ///< of moves_, that this pass has for it
    };

    const Class& class_of(const std::string& queue, Size size);
    const Class& class_of(const Job& job) { return class_of(job.queue, {job.kind, job.cores}); }
    void push(std::size_t source);
    bool may_go_ahead(const Budget& budget, std::int64_t cores, std::int64_t depth) const;
    template <typename Fits>
    std::size_t pick(const Class& kind, JobId job, std::size_t except, Fits fits) const {
        return pick_of(kind.children, kind.cores, job, except, fits);
    }
    template <typename Fits>
    std::size_t pick_of(const std::vector<std::size_t>& children, std::int64_t cores, JobId job, std::size_t except,
                        Fits fits) const;
    static bool is_preferred(const Budget& a, const Budget& b, std::int64_t cores);
    static bool can_lend(const Budget& budget, std::int64_t cores) { return budget.ahead == 0 && budget.room >= cores; }
    bool is_lent(const Record& record, std::size_t holder) const;
    void borrow(const Late& late);
    void keep_or_return(const Late& late);
    std::size_t pick_room(const Class& kind, JobId job, std::size_t except) const;
    std::size_t pick_ahead(const Class& kind, JobId job, std::size_t except) const;
    void charge(std::size_t budget, std::int64_t cores);
    void charge_coming(std::size_t budget, std::int64_t cores, std::int64_t priority);
    bool place_waiting(const Place& place, const Class& kind);
    void place_given(const Place& place, std::size_t holder);
    void leave(const Place& place, std::size_t holder, bool is_stuck = false);
    void judge(const Budget& budget, const Record& record);
    void move(JobId id, std::size_t from, std::size_t to, bool is_stuck = false);

    const HandDown& plan_;
    const Rules& rules_;
    std::vector<Budget> budgets_;
    std::map<std::pair<std::string, Size>, Class> classes_;
    std::vector<Source> sources_;
    using Head = std::pair<Place, std::size_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
    int skipped_ = 0;
    int deferred_ = 0;
    std::vector<Late> late_;  ///< in the order of the pass
    JobId judged_;
    bool is_passed_over_ = false;
    std::vector<Move> moves_;
};

}  // namespace weir::route
