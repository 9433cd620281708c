// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one plan of HandDown. See hand_down_pass.hpp.
#include "modules/job-route/hand_down_pass.hpp"

#include <algorithm>

namespace weir::route {
namespace {

/// Waiting jobs that a pass leaves behind though a child had room, because no child may have them (another user's, or
/// it returned them): so a pass stays short.
constexpr int skipped_max = 1000;

}  // namespace

HandDown::Pass::Pass(HandDown& plan, const Rules& rules)
    : plan_(plan), rules_(rules), budgets_(plan.rooms_.begin(), plan.rooms_.end()) {
    if (plan.reaches_.size() > reaches_max) {
        plan.reaches_.clear();
    }
    begin_tallies();
    for (std::size_t i = 0; i < budgets_.size(); i++) {
        if (budgets_[i].has_waiting) {
            add_sources(budgets_[i].child->waiting, i);
        }
    }
    add_sources(plan.waiting_, npos);
    std::vector<Head> heads;
    heads.reserve(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); i++) {
        heads.emplace_back(*sources_[i].next, i);
    }
    heads_ = decltype(heads_)(std::greater<>(), std::move(heads));
}

void HandDown::Pass::add_sources(const Classes& classes, std::size_t budget) {
    for (const auto& [jobs, places] : classes) {
        const Class& kind = kinds_.emplace_back(kind_of(jobs, budget));
        if (jobs.is_held_back && kind.reach->is_bound) {
            budgets_[budget].ahead += std::ssize(places);
        }
        if (budget != npos || !kind.reach->children.empty() || !kind.reach->lenders.empty()) {
            sources_.push_back({places.begin(), places.end(), std::ssize(places), &kind, budget});
        }
    }
}

/// \param budget  of the child that has them; npos: none
HandDown::Pass::Class HandDown::Pass::kind_of(const JobClass& jobs, std::size_t budget) {
    Class kind{&jobs, jobs.cores, jobs.whole_nodes, jobs.user, &reach_of(jobs)};
    if (budget != npos) {
        const ChildFacts& facts = budgets_[budget].child->facts;
        kind.is_served = has(facts.serves, jobs.queue);
        kind.is_lent = is_lent(jobs, facts);
        kind.is_taken = rules_.takes(jobs.kind, facts.rank);
        kind.stays_with_room = facts.is_open && kind.is_served && kind.is_taken && !jobs.is_held_back &&
                               plan_.watched_ == plan_.in_children_;
    }
    return kind;
}

const HandDown::Reach& HandDown::Pass::reach_of(const JobClass& jobs) {
    if (jobs.user == 0) {
        return plan_.reach_of(jobs, rules_);
    }
    JobClass of_all = jobs;
    of_all.user = 0;
    return plan_.reach_of(of_all, rules_);
}

void HandDown::Pass::push(std::size_t source) {
    if (sources_[source].next != sources_[source].end) {
        heads_.emplace(*sources_[source].next, source);
    }
}

bool HandDown::Pass::may_go_ahead(const Budget& budget, const Class& kind) const {
    const std::int64_t growth = kind.cores <= budget.idle ? budget.growth : 1;
    return !kind.reach->is_bound || budget.ahead < growth * plan_.depth_ ||
           budget.ahead_cores + kind.cores <= budget.cores;
}

bool HandDown::Pass::may_stay_ahead(const Budget& budget, const Class& kind) const {
    return !kind.reach->is_bound ||
           (kind.cores < budget.refused_cores && budget.ahead < 2 * budget.growth * plan_.depth_) ||
           budget.ahead_cores + kind.cores <= budget.cores;
}

bool HandDown::Pass::is_preferred(const Budget& a, const Budget& b, std::int64_t cores) {
    const auto size = [](const Budget& budget) { return std::max<std::int64_t>(1, budget.cores); };
    const int first = a.preference;
    const int other = b.preference;
    return first != other ? first < other : (a.load + cores) * size(b) < (b.load + cores) * size(a);
}

std::size_t HandDown::Pass::pick_free(const Class& kind, JobId job, std::size_t except) const {
    return pick(kind, job, except,
                [&](const Budget& budget) { return budget.free >= kind.cores && allows(budget, kind); });
}

std::size_t HandDown::Pass::pick_ahead(const Class& kind, JobId job, std::size_t except) const {
    return pick(kind, job, except,
                [&](const Budget& budget) { return may_go_ahead(budget, kind) && allows(budget, kind); });
}

/// \return whether the child has room for it.
bool HandDown::Pass::take_room(Budget& budget, const Class& kind) {
    budget.load = std::min(budget.load + kind.cores, load_max);
    if (budget.free >= kind.cores) {
        budget.free -= kind.cores;
        return true;
    }
    budget.is_waited_for = true;
    budget.ahead += kind.reach->is_bound ? 1 : 0;
    budget.ahead_cores += kind.reach->is_bound ? kind.cores : 0;
    return false;
}

void HandDown::Pass::charge(std::size_t index, const Class& kind, const Place& place) {
    Budget& budget = budgets_[index];
    if (take_room(budget, kind) && !checked_.empty() && plan_.has_arrived_now(*place.record)) {
        budget.arrived.add(place.priority, kind.cores);
        budget.arrived_jobs.push_back(place.id);
    }
}

void HandDown::Pass::charge_coming(std::size_t index, const Class& kind, std::int64_t priority) {
    if (take_room(budgets_[index], kind)) {
        budgets_[index].coming.add(priority, kind.cores);
    }
}

void HandDown::Pass::give(std::size_t to, const Class& kind, std::int64_t priority) {
    count(to, kind);
    charge_coming(to, kind, priority);
}

bool HandDown::Pass::is_checked(JobId id) const {
    const auto found = std::lower_bound(checked_.begin(), checked_.end(), id,
                                        [](const Checked& checked, JobId other) { return checked.id < other; });
    return found != checked_.end() && found->id == id;
}

/// Of a job of another queue, all that is the child's own comes first.
void HandDown::Pass::check_allocation(const Place& place, Budget& budget, const Class& kind) {
    const JobId id = place.id;
    if (!is_checked(id)) {
        return;
    }
    const bool is_lent = !kind.is_served;
    const auto above = [&](const RoomGiven& room) { return is_lent ? room.total : room.above_of(place.priority); };
    const std::int64_t with_coming = budget.free + above(budget.coming);
    if (!allows(budget, kind)) {
        objections_.emplace(id, Objection{Objection::Kind::rules, {}});
    } else if (budget.free < kind.cores && with_coming >= kind.cores) {
        objections_.emplace(id, Objection{Objection::Kind::coming, {}});
    } else if (budget.free < kind.cores && with_coming + above(budget.arrived) >= kind.cores &&
               !budget.arrived_jobs.empty()) {
        objections_.emplace(id, Objection{Objection::Kind::arrived, budget.arrived_jobs.front()});
        budget.arrived_jobs.erase(budget.arrived_jobs.begin());
    }
}

void HandDown::Pass::move(JobId id, std::size_t from, std::size_t to, bool is_stuck) {
    moves_.push_back(
        {id, from != npos ? budgets_[from].id : JobId{}, to != npos ? budgets_[to].id : JobId{}, is_stuck});
}

bool HandDown::Pass::has_lender(const Class& kind) const {
    return std::any_of(kind.reach->lenders.begin(), kind.reach->lenders.end(),
                       [&](std::size_t i) { return can_lend(budgets_[i], kind); });
}

/// Whether the next of these jobs in this child may start there, count, or go elsewhere. A child with room may be one
/// that may not have them, so these are asked a bounded number of times. Where there are limits each one counts.
bool HandDown::Pass::has_choice(const Class& kind, std::size_t holder) {
    if (budgets_[holder].tally != npos) {
        return true;
    }
    const auto has_free = [&](std::size_t i) { return budgets_[i].free >= kind.cores && allows(budgets_[i], kind); };
    const bool is_taken =
        std::find(kind.reach->children.begin(), kind.reach->children.end(), holder) != kind.reach->children.end();
    return kind.reach->is_bound || !is_taken || has_free(holder) || (has_lender(kind) && deferred_ < skipped_max) ||
           (std::any_of(kind.reach->children.begin(), kind.reach->children.end(), has_free) &&
            ++skipped_ < skipped_max);
}

void HandDown::Pass::note_short(const Class& kind) {
    for (const std::size_t i : kind.reach->children) {
        Budget& budget = budgets_[i];
        budget.is_short = budget.is_short || (budget.idle >= kind.cores && allows(budget, kind));
    }
}

bool HandDown::Pass::has_place(const Class& kind) const {
    return std::any_of(kind.reach->children.begin(), kind.reach->children.end(), [&](std::size_t i) {
        return (budgets_[i].free >= kind.cores || may_go_ahead(budgets_[i], kind)) && allows(budgets_[i], kind);
    });
}

/// The job waits here. What comes behind it and needs no less must not be with a child that would have taken this one.
/// Where a child has a place that this job may not have now, since its copy there has not ended, it does not wait for
/// the depth.
void HandDown::Pass::note_refused(JobId id, const Class& kind) {
    if (has_place(kind)) {
        return;
    }
    for (const std::size_t i : kind.reach->children) {
        Budget& budget = budgets_[i];
        if (allows(budget, kind) && rules_.may_have(id, budget.id)) {
            budget.refused_cores = std::min(budget.refused_cores, kind.cores);
        }
    }
}

/// \return whether the next of its class may find a child.
bool HandDown::Pass::place_waiting(const Place& place, const Class& kind) {
    const JobId id = place.id;
    const std::size_t free = pick_free(kind, id, npos);
    const std::size_t to = free != npos ? free : pick_ahead(kind, id, npos);
    if (to != npos) {
        if (free == npos && has_lender(kind) && deferred_ < skipped_max) {
            deferred_ += 1;
            late_.push_back({place, &kind, npos, moves_.size()});
        }
        move(id, npos, to);
        give(to, kind, place.priority);
        return true;
    }
    const bool can_borrow = has_lender(kind);
    if ((can_borrow || needs_lender(kind)) && deferred_ < skipped_max) {
        deferred_ += 1;
        late_.push_back({place, &kind});
        note_refused(id, kind);
        return can_borrow;
    }
    note_short(kind);
    note_refused(id, kind);
    return ++skipped_ < skipped_max && has_place(kind);
}

/// \return whether the next of its class in this child may have another fate than to wait there.
bool HandDown::Pass::place_given(const Place& place, const Class& kind, std::size_t holder) {
    Budget& budget = budgets_[holder];
    if (has_settled(kind, budget)) {
        take_room(budget, kind);
        return has_choice(kind, holder);
    }
    const JobId id = place.id;
    const Record& record = *place.record;
    if (kind.is_lent) {
        late_.push_back({place, &kind, holder});
        return true;
    }
    if (record.job.standing == Standing::asked) {
        charge_coming(holder, kind, place.priority);
        return has_choice(kind, holder);
    }
    if (!budget.child->facts.is_open) {
        return false;
    }
    if (!kind.is_served) {  // it was in another queue when it was handed down
        if (is_checked(id)) {
            objections_.emplace(id, Objection{});
        }
        leave(place, kind, holder);
        return true;
    }
    check_allocation(place, budget, kind);
    if (!kind.is_taken) {
        leave(place, kind, holder);
        return true;
    }
    if (record.job.is_held_back) {
        return place_held_back(place, kind, holder);
    }
    if (!allows(budget, kind)) {
        leave(place, kind, holder);
        return true;
    }
    const bool has_free = budget.free >= kind.cores;
    const bool is_stuck = has_free && plan_.is_stuck(record);
    const bool is_well = has_free && !is_stuck;
    const std::size_t to = is_well ? npos : pick_free(kind, id, holder);
    if (to != npos) {
        move(id, holder, to, is_stuck);
        give(to, kind, place.priority);
        return true;
    }
    if (!has_free && !may_stay_ahead(budget, kind)) {
        const std::size_t other = pick_ahead(kind, id, holder);
        move(id, holder, other);
        if (other != npos) {
            give(other, kind, place.priority);
        } else {
            note_refused(id, kind);
        }
        return true;
    }
    keep(place, kind, holder);
    return has_choice(kind, holder);
}

/// \return whether the next of its class in this child may find another one.
bool HandDown::Pass::place_held_back(const Place& place, const Class& kind, std::size_t holder) {
    const bool is_stuck = plan_.is_stuck(*place.record);
    const std::size_t to = is_stuck ? pick_free(kind, place.id, holder) : npos;
    if (to != npos) {
        move(place.id, holder, to, true);
        give(to, kind, place.priority);
        return true;
    }
    const auto has_free = [&](std::size_t i) {
        return i != holder && budgets_[i].free >= kind.cores && allows(budgets_[i], kind);
    };
    return std::any_of(kind.reach->children.begin(), kind.reach->children.end(), has_free) && ++skipped_ < skipped_max;
}

void HandDown::Pass::keep(const Place& place, const Class& kind, std::size_t holder) {
    const Record& record = *place.record;
    if (budgets_[holder].free < kind.cores && has_lender(kind) && deferred_ < skipped_max) {
        deferred_ += 1;
        late_.push_back({place, &kind, holder});
    }
    count(holder, kind);
    // Cores do not wait for one that does not arrive: a plugin of the child may keep it from its scheduler.
    if (record.job.is_there || plan_.is_stuck(record)) {
        charge(holder, kind, place);
    } else {
        charge_coming(holder, kind, place.priority);
    }
}

/// The rest of a class waits where it is, whatever else this pass does.
void HandDown::Pass::stop(const Source& source) {
    const std::int64_t cores = source.kind->cores;
    Budget& budget = budgets_[source.budget];
    budget.load = source.left <= (load_max - budget.load) / cores ? budget.load + source.left * cores : load_max;
    if (source.next == source.end) {
        return;
    }
    for (const auto& [id, record] : checked_) {
        const Job& job = record->job;
        if (job.child != budget.id || HandDown::class_of(job) != *source.kind->jobs) {
            continue;
        }
        const auto place = budget.child->waiting.at(*source.kind->jobs).find(place_of(id, *record));
        if (!(*place < *source.next)) {
            sources_.push_back({place, std::next(place), 1, source.kind, source.budget});
            push(sources_.size() - 1);
        }
    }
}

/// It goes to another child, or waits here.
void HandDown::Pass::leave(const Place& place, const Class& kind, std::size_t holder, bool is_stuck) {
    const std::size_t free = pick_free(kind, place.id, holder);
    const std::size_t to = free != npos ? free : pick_ahead(kind, place.id, holder);
    move(place.id, holder, to, is_stuck);
    if (to != npos) {
        give(to, kind, place.priority);
    } else {
        note_refused(place.id, kind);
    }
}

std::vector<HandDown::Move> HandDown::Pass::run() {
    while (!heads_.empty()) {
        const auto [place, index] = heads_.top();
        heads_.pop();
        Source& source = sources_[index];
        ++source.next;
        --source.left;
        const bool goes_on = source.budget != npos ? place_given(place, *source.kind, source.budget)
                                                   : place_waiting(place, *source.kind);
        if (goes_on) {
            push(index);
        } else if (source.budget != npos) {
            stop(Source(source));
        }
    }
    begin_loans();
    for (const Late& late : late_) {
        if (late.kind->is_lent) {
            keep_or_return(late);
        } else {
            borrow(late);
        }
    }
    return std::move(moves_);
}

std::size_t HandDown::Pass::budget_of(JobId child) const {
    return static_cast<std::size_t>(plan_.room_of(child) - plan_.rooms_.begin());
}

void HandDown::Pass::note_shortage(Rooms& rooms) const {
    for (std::size_t i = 0; i < rooms.size(); i++) {
        rooms[i].is_short = budgets_[i].is_short;
        rooms[i].growth = budgets_[i].ahead < plan_.depth_ ? 1 : rooms[i].growth;
    }
}

/// The child knows best that the cores which it gave the jobs were free.
std::map<JobId, HandDown::Objection> HandDown::Pass::objections(std::vector<Checked> jobs) {
    checked_ = std::move(jobs);
    std::map<JobId, std::int64_t> given;
    for (const Checked& checked : checked_) {
        const Job& job = checked.record->job;
        std::int64_t& cores = given[job.child];
        cores = std::min(cores + job.cores, load_max);
    }
    for (const auto& [child, cores] : given) {
        Budget& budget = budgets_[budget_of(child)];
        budget.free = std::max(budget.free, cores);
    }
    (void)run();
    return std::move(objections_);
}

}  // namespace weir::route
