// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one plan of HandDown. See hand_down_pass.hpp.
#include "modules/job-route/hand_down_pass.hpp"

#include <algorithm>

namespace weir::route {
namespace {

/// Waiting jobs that a pass leaves behind though a child had room, because no child may have them (another user's, or
/// it returned them): so a pass stays short.
constexpr int skipped_max = 1000;
constexpr std::int64_t load_max = 4 * cores_max;  ///< products with cores must fit

bool has(const std::vector<std::string>& queues, const std::string& queue) {
    return std::find(queues.begin(), queues.end(), queue) != queues.end();
}

}  // namespace

HandDown::Pass::Pass(const HandDown& plan, const Rules& rules) : plan_(plan), rules_(rules) {
    for (const auto& [id, child] : plan.children_) {
        const std::int64_t held = child.busy_cores + child.facts.own_cores;
        const std::int64_t room = child.facts.is_open ? std::max<std::int64_t>(0, child.facts.cores - held) : 0;
        budgets_.push_back({id, &child, room, std::clamp<std::int64_t>(held, 0, load_max), 0, 0, {}});
    }
    for (std::size_t i = 0; i < budgets_.size(); i++) {
        const Places& places = budgets_[i].child->waiting;
        sources_.push_back({places.begin(), places.end(), i, nullptr});
    }
    for (const auto& [queue, classes] : plan.waiting_) {
        for (const auto& [size, places] : classes) {
            if (const Class& kind = class_of(queue, size); !kind.children.empty() || !kind.lenders.empty()) {
                sources_.push_back({places.begin(), places.end(), npos, &kind});
            }
        }
    }
    for (std::size_t i = 0; i < sources_.size(); i++) {
        push(i);
    }
}

const HandDown::Pass::Class& HandDown::Pass::class_of(const std::string& queue, Size size) {
    const auto [found, is_new] = classes_.try_emplace({queue, size});
    if (!is_new) {
        return found->second;
    }
    const auto [kind, cores] = size;
    found->second.cores = cores;
    std::vector<std::size_t>& children = found->second.children;
    const std::int64_t ceiling = rules_.ceiling(queue, kind);
    for (std::size_t i = 0; i < budgets_.size(); i++) {
        const ChildFacts& facts = budgets_[i].child->facts;
        if (!facts.is_open || !rules_.takes(kind, facts.rank)) {
            continue;
        }
        if (has(facts.serves, queue)) {
            if (facts.cores == 0 || cores <= facts.cores || cores > ceiling) {
                children.push_back(i);
            }
        } else if (has(facts.overflow, queue) && cores <= facts.cores) {
            found->second.lenders.push_back(i);
        }
    }
    return found->second;
}

void HandDown::Pass::push(std::size_t source) {
    if (sources_[source].next != sources_[source].end) {
        heads_.emplace(*sources_[source].next, source);
    }
}

bool HandDown::Pass::may_go_ahead(const Budget& budget, std::int64_t cores, std::int64_t depth) const {
    return budget.ahead < depth || budget.ahead_cores + cores <= budget.child->facts.cores;
}

bool HandDown::Pass::is_preferred(const Budget& a, const Budget& b, std::int64_t cores) {
    const auto size = [](const Budget& budget) { return std::max<std::int64_t>(1, budget.child->facts.cores); };
    const int rank = a.child->facts.rank;
    const int other = b.child->facts.rank;
    return rank != other ? rank < other : (a.load + cores) * size(b) < (b.load + cores) * size(a);
}

/// The lowest rank; of these the least loaded, by cores a core.
template <typename Fits>
std::size_t HandDown::Pass::pick_of(const std::vector<std::size_t>& children, std::int64_t cores, JobId job,
                                    std::size_t except, Fits fits) const {
    std::size_t best = npos;
    for (const std::size_t i : children) {
        const Budget& candidate = budgets_[i];
        if (i == except || !fits(candidate) || !rules_.may_have(job, candidate.id)) {
            continue;
        }
        if (best == npos || is_preferred(candidate, budgets_[best], cores)) {
            best = i;
        }
    }
    return best;
}

std::size_t HandDown::Pass::pick_room(const Class& kind, JobId job, std::size_t except) const {
    return pick(kind, job, except, [&](const Budget& budget) { return budget.room >= kind.cores; });
}

std::size_t HandDown::Pass::pick_ahead(const Class& kind, JobId job, std::size_t except) const {
    return pick(kind, job, except,
                [&](const Budget& budget) { return may_go_ahead(budget, kind.cores, plan_.depth_); });
}

void HandDown::Pass::charge(std::size_t index, std::int64_t cores) {
    Budget& budget = budgets_[index];
    budget.load = std::min(budget.load + cores, load_max);
    if (budget.room >= cores) {
        budget.room -= cores;
    } else {
        budget.ahead += 1;
        budget.ahead_cores += cores;
    }
}

/// By a job that the child does not know yet.
void HandDown::Pass::charge_coming(std::size_t index, std::int64_t cores, std::int64_t priority) {
    if (budgets_[index].room >= cores) {
        budgets_[index].coming.emplace_back(priority, cores);
    }
    charge(index, cores);
}

/// Of a job of another queue, all that is the child's own comes first.
void HandDown::Pass::judge(const Budget& budget, const Record& record) {
    const bool is_lent = !has(budget.child->facts.serves, record.job.queue);
    std::int64_t room = budget.room;
    for (const auto& [priority, cores] : budget.coming) {
        room += priority > record.job.priority || is_lent ? cores : 0;
    }
    is_passed_over_ = budget.room < record.job.cores && room >= record.job.cores;
}

void HandDown::Pass::move(JobId id, std::size_t from, std::size_t to, bool is_stuck) {
    moves_.push_back(
        {id, from != npos ? budgets_[from].id : JobId{}, to != npos ? budgets_[to].id : JobId{}, is_stuck});
}

/// \return whether the next of its class may find a child.
bool HandDown::Pass::place_waiting(const Place& place, const Class& kind) {
    const JobId id = place.id;
    const std::size_t room = pick_room(kind, id, npos);
    const std::size_t to = room != npos ? room : pick_ahead(kind, id, npos);
    if (to != npos) {
        if (room == npos && !kind.lenders.empty()) {
            late_.push_back({place, npos, moves_.size()});
        }
        move(id, npos, to);
        charge_coming(to, kind.cores, place.priority);
        return true;
    }
    const bool is_lent = std::any_of(kind.lenders.begin(), kind.lenders.end(),
                                     [&](std::size_t i) { return can_lend(budgets_[i], kind.cores); });
    if (is_lent && deferred_ < skipped_max) {
        deferred_ += 1;
        late_.push_back({place});
        return true;
    }
    return ++skipped_ < skipped_max && std::any_of(kind.children.begin(), kind.children.end(), [&](std::size_t i) {
        return budgets_[i].room >= kind.cores || may_go_ahead(budgets_[i], kind.cores, plan_.depth_);
    });
}

void HandDown::Pass::place_given(const Place& place, std::size_t holder) {
    const JobId id = place.id;
    const Record& record = plan_.jobs_.at(id);
    const std::int64_t cores = record.job.cores;
    const Budget& budget = budgets_[holder];
    const ChildFacts& facts = budget.child->facts;
    if (is_lent(record, holder)) {
        late_.push_back({place, holder});
        return;
    }
    if (record.job.standing == Standing::asked) {
        charge_coming(holder, cores, place.priority);
        return;
    }
    if (!facts.is_open) {
        return;
    }
    if (id == judged_) {
        judge(budget, record);
    }
    if (!rules_.takes(record.job.kind, facts.rank)) {
        leave(place, holder);
        return;
    }
    const bool has_room = budget.room >= cores;
    const bool is_stuck = has_room && record.ticks >= record.patience;
    const bool is_well = has_room && !is_stuck;
    const std::size_t to = is_well ? npos : pick_room(class_of(record.job), id, holder);
    if (to != npos) {
        move(id, holder, to, is_stuck);
        charge_coming(to, cores, place.priority);
        return;
    }
    if (!has_room && !may_go_ahead(budget, cores, 2 * plan_.depth_)) {
        const std::size_t other = pick_ahead(class_of(record.job), id, holder);
        move(id, holder, other);
        if (other != npos) {
            charge_coming(other, cores, place.priority);
        }
        return;
    }
    if (!has_room) {
        late_.push_back({place, holder});
    }
    if (!record.job.is_there) {
        charge_coming(holder, cores, place.priority);
    } else {
        charge(holder, cores);
    }
}

/// It goes to another child, or waits here.
void HandDown::Pass::leave(const Place& place, std::size_t holder, bool is_stuck) {
    const Class& kind = class_of(plan_.jobs_.at(place.id).job);
    const std::size_t room = pick_room(kind, place.id, holder);
    const std::size_t to = room != npos ? room : pick_ahead(kind, place.id, holder);
    move(place.id, holder, to, is_stuck);
    if (to != npos) {
        charge_coming(to, kind.cores, place.priority);
    }
}

// ---- behind the own jobs of a child ----

bool HandDown::Pass::is_lent(const Record& record, std::size_t holder) const {
    const ChildFacts& facts = budgets_[holder].child->facts;
    return !has(facts.serves, record.job.queue) && has(facts.overflow, record.job.queue);
}

/// Room that a lender leaves.
void HandDown::Pass::borrow(const Late& late) {
    const Job& job = plan_.jobs_.at(late.place.id).job;
    const std::size_t to = pick_of(class_of(job).lenders, job.cores, late.place.id, npos,
                                   [&](const Budget& budget) { return can_lend(budget, job.cores); });
    if (to == npos) {
        return;
    }
    if (late.move != npos) {
        moves_[late.move].to = budgets_[to].id;
    } else {
        move(late.place.id, late.holder, to);
    }
    charge_coming(to, job.cores, late.place.priority);
}

/// A job that is with a lender and has not started.
void HandDown::Pass::keep_or_return(const Late& late) {
    const auto [priority, id] = late.place;
    const Record& record = plan_.jobs_.at(id);
    const std::int64_t cores = record.job.cores;
    const Budget& budget = budgets_[late.holder];
    if (record.job.standing == Standing::asked) {
        charge_coming(late.holder, cores, priority);
        return;
    }
    if (!budget.child->facts.is_open) {
        return;
    }
    if (id == judged_) {
        judge(budget, record);
    }
    const bool has_room = can_lend(budget, cores) && rules_.takes(record.job.kind, budget.child->facts.rank);
    const bool is_stuck = has_room && record.ticks >= record.patience;
    if (has_room && !is_stuck) {
        charge(late.holder, cores);
        return;
    }
    leave(late.place, late.holder, is_stuck);
}

std::vector<HandDown::Move> HandDown::Pass::run() {
    while (!heads_.empty()) {
        const auto [place, index] = heads_.top();
        heads_.pop();
        Source& source = sources_[index];
        ++source.next;
        if (source.budget != npos) {
            place_given(place, source.budget);
            push(index);
        } else if (place_waiting(place, *source.kind)) {
            push(index);
        }
    }
    for (const Late& late : late_) {
        const bool is_with_lender = late.holder != npos && is_lent(plan_.jobs_.at(late.place.id), late.holder);
        if (is_with_lender) {
            keep_or_return(late);
        } else {
            borrow(late);
        }
    }
    return std::move(moves_);
}

/// The child knows best that the cores which it gave the job were free.
bool HandDown::Pass::is_passed_over(JobId id) {
    judged_ = id;
    const Job& job = plan_.jobs_.at(id).job;
    for (Budget& budget : budgets_) {
        budget.room = budget.id == job.child ? std::max(budget.room, job.cores) : budget.room;
    }
    (void)run();
    return is_passed_over_;
}

}  // namespace weir::route
