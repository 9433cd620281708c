// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see child_places.hpp.
#include "modules/job-priority/gate/child_places.hpp"

#include <algorithm>
#include <utility>

namespace weir::priority {

/// Until its child says more, a job with a place counts as running: another that was about to start when this module
/// ended, or seems so, must not compete with it.
void ChildPlaces::restore(const SavedState& saved) {
    for (const auto& [key, row] : saved.places) {
        const Id id = id_of(key);
        jobs_[id] = {.key = key, .state = State::running, .row = row, .is_confirmed = false, .is_granted = true};
        stored_[id] = row;
    }
}

ChildPlaces::Id ChildPlaces::id_of(ReportedKey key) {
    const auto [known, is_new] = ids_.try_emplace(key, next_id_);
    next_id_ += is_new ? 1 : 0;
    return known->second;
}

std::vector<ChildPlaces::Id> ChildPlaces::all() const {
    std::vector<Id> ids;
    for (const auto& [id, job] : jobs_) {
        ids.push_back(id);
    }
    return ids;
}

std::vector<ChildPlaces::Id> ChildPlaces::of(FluxJobId child) const {
    std::vector<Id> ids;
    for (auto one = ids_.lower_bound({child, 0}); one != ids_.end() && one->first.first == child; ++one) {
        ids.push_back(one->second);
    }
    return ids;
}

std::set<FluxJobId> ChildPlaces::children() const {
    std::set<FluxJobId> children;
    for (const auto& [key, id] : ids_) {
        children.insert(children.end(), key.first);
    }
    return children;
}

std::uint64_t ChildPlaces::attach(FluxJobId child) {
    for (const Id id : of(child)) {
        jobs_.at(id).is_confirmed = false;
    }
    unanswered_.erase(child);
    links_[child] = ++last_link_;
    return last_link_;
}

bool ChildPlaces::is_attached(FluxJobId child, std::uint64_t link) const {
    const auto known = links_.find(child);
    return known != links_.end() && known->second == link;
}

/// A child that says that a job has no place, and has not followed our last answer yet, will follow it and say more:
/// the place is not free before.
std::optional<ChildPlaces::Change> ChildPlaces::apply(FluxJobId child, const PlaceWish& wish,
                                                      const std::function<bool(Id)>& has_place) {
    const ReportedKey key{child, wish.id};
    if (wish.state == State::gone) {
        const auto known = ids_.find(key);
        return known != ids_.end() ? std::optional(Change{known->second, true, true}) : std::nullopt;
    }
    const Id id = id_of(key);
    Job& job = jobs_.try_emplace(id, Job{.key = key, .is_confirmed = false}).first->second;
    const bool has_none = wish.state == State::parked || wish.state == State::waits;
    if (!std::exchange(job.is_confirmed, true)) {
        job.number = 0;
        job.is_granted = !has_none;
    }
    const bool gives_back = has_none && (wish.seen == job.number || !has_place(id));
    job.is_granted = job.is_granted && !gives_back;
    job.row = wish.job;
    job.priority = wish.priority;
    job.is_new = job.is_new || wish.is_new;
    job.state = has_none && !gives_back ? State::holds : wish.state;
    return Change{id, false, gives_back};
}

std::vector<ChildPlaces::Id> ChildPlaces::unconfirmed(FluxJobId child) const {
    std::vector<Id> ids = of(child);
    std::erase_if(ids, [this](Id id) { return jobs_.at(id).is_confirmed; });
    return ids;
}

void ChildPlaces::remove(Id id) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) {
        return;
    }
    const ReportedKey key = job->second.key;
    if (stored_.erase(id) != 0) {
        log_.put_place(key, std::nullopt);
    }
    unwritten_.erase(id);
    if (const auto answers = unanswered_.find(key.first); answers != unanswered_.end()) {
        answers->second.erase(id);
    }
    ids_.erase(key);
    jobs_.erase(job);
}

void ChildPlaces::resolve(Id id) {
    Job& job = jobs_.at(id);
    if (job.state == State::running && is_in_tree(job.payer)) {
        return;
    }
    UplinkRow record{true, 0, job.row.user, job.row.account, 0, {}};
    record.bill.queue = job.row.queue;
    record.bill.qos = job.row.qos;
    job.payer = children_.payer_of_place(job.key.first, record);
}

void ChildPlaces::follow_tree(std::span<const NodeId> moved) {
    for (auto& [id, job] : jobs_) {
        job.payer = is_in_tree(job.payer) && job.payer.value < moved.size() ? moved[job.payer.value] : unassociated;
    }
}

void ChildPlaces::settle(Id id, bool is_granted, bool is_counted, const std::string& text) {
    Job& job = jobs_.at(id);
    const auto stored = stored_.find(id);
    if (is_counted && (stored == stored_.end() || stored->second != job.row)) {
        stored_[id] = job.row;
        log_.put_place(job.key, job.row);
        unwritten_.insert(id);
    } else if (!is_counted && stored != stored_.end()) {
        stored_.erase(stored);
        log_.put_place(job.key, std::nullopt);
        unwritten_.erase(id);
    }
    if (!job.is_confirmed) {
        return;
    }
    const bool is_other = job.state != State::running && is_granted != job.is_granted;
    if (is_other) {
        job.is_granted = is_granted;
        job.number += 1;
    }
    const bool has_news = std::exchange(job.is_new, false) || text != job.text;
    job.text = text;
    if (is_other || has_news) {
        unanswered_[job.key.first].insert(id);
    }
}

void ChildPlaces::refuse(Id id, const std::string& text) {
    Job& job = jobs_.at(id);
    job.is_refused = true;
    job.is_new = false;
    job.text = text;
    unanswered_[job.key.first].insert(id);
}

std::vector<FluxJobId> ChildPlaces::to_answer() const {
    std::vector<FluxJobId> children;
    for (const auto& [child, ids] : unanswered_) {
        if (links_.count(child) != 0 &&
            std::any_of(ids.begin(), ids.end(), [this](Id id) { return can_be_sent(id); })) {
            children.push_back(child);
        }
    }
    return children;
}

std::vector<PlaceAnswer> ChildPlaces::take_answers(FluxJobId child) {
    using What = PlaceAnswer::What;
    std::vector<PlaceAnswer> answers;
    std::set<Id>& ids = unanswered_[child];
    for (auto id = ids.begin(); id != ids.end();) {
        if (!can_be_sent(*id)) {
            ++id;
            continue;
        }
        const Job& job = jobs_.at(*id);
        const What what = job.is_refused ? What::refused : job.is_granted ? What::granted : What::waits;
        answers.push_back({job.key.second, job.number, what, job.text});
        id = ids.erase(id);
    }
    return answers;
}

}  // namespace weir::priority
