// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how jobs of children are counted, and what is said to the parent and to the children. See gate.hpp. A place is
// asked for from instance to instance, up to the one whose share tree all below have. That one decides. Each
// instance on the way counts the job too, so it never has more places than it was granted.
#include <algorithm>

#include "modules/job-priority/gate/gate.hpp"

namespace weir::priority {
namespace {

/// With more jobs than this, why each of them waits is told anew by a full pass alone.
constexpr std::size_t told_at_once_max = 100;

}  // namespace

// ---- the parent ----

bool Gate::needs_parent(const ShareTree& tree, NodeId payer) const {
    return is_child_ && settings_.takes_parent_factors && asks_.parent() != PlaceAsks::Parent::absent &&
           has_limits(tree, payer);
}

void Gate::set_parent(const ShareTree& tree, PlaceAsks::Parent parent) {
    if (!asks_.set_parent(parent)) {
        return;
    }
    for (const BookJob* job : book_.in_order()) {
        count(tree, job->id);
    }
    for (const FluxJobId id : places_.all()) {
        count_childs(tree, id);
    }
}

/// A job that was granted a place and is not ready gives it back. One that is admitted here may be starting.
PlaceWish::State Gate::wish_state(FluxJobId id, bool is_running, bool is_ready) const {
    using State = PlaceWish::State;
    if (is_running) {
        return State::running;
    }
    if (admission_.has_place(id) || (is_ready && asks_.is_granted(id))) {
        return State::holds;
    }
    return is_ready ? State::waits : State::parked;
}

PlaceWish Gate::wish_of(FluxJobId id) const {
    using State = PlaceWish::State;
    PlaceWish wish;
    if (ChildPlaces::is_childs(id)) {
        const ChildPlaces::Job& job = places_.job(id);
        wish.job = job.row;
        wish.state = wish_state(id, job.state == State::running, may_get_place(id));
        return wish;
    }
    const BookJob& job = *book_.find(id);
    const LimitedJob size = asked(job);
    wish.job = {payers_.user_of(job), job.request->account, job.request->queue_above, job.request->qos, size.nodes,
                size.cores,           size.wall_time};
    if (job.has_resources) {
        wish.job.nodes = static_cast<std::uint64_t>(std::max<std::int64_t>(1, job.got_nodes));
        wish.job.cores = static_cast<std::uint64_t>(std::max<std::int64_t>(1, job.got_cores));
    }
    wish.state = wish_state(id, job.has_resources, job.is_pending() && !job.is_held() && !pauses(job));
    return wish;
}

PlaceWishes Gate::take_wishes(const Admission::PriorityOf& priority_of) {
    return asks_.take([&](FluxJobId id) {
        PlaceWish wish = wish_of(id);
        if (wish.state == PlaceWish::State::waits) {
            wish.priority = ChildPlaces::is_childs(id) ? places_.job(id).priority : priority_of(id);
        }
        return wish;
    });
}

void Gate::take_answers(const ShareTree& tree, const std::vector<PlaceAnswer>& answers) {
    for (const PlaceAnswer& answer : answers) {
        const auto told = asks_.apply(answer);
        if (!told) {
            continue;
        }
        const bool is_childs = ChildPlaces::is_childs(told->id);
        if (told->is_refused && is_childs) {
            places_.refuse(told->id, told->text);
        } else if (told->is_refused) {
            refusals_.emplace_back(told->id, told->text);
        }
        if (is_childs) {
            count_childs(tree, told->id);
            heard_.insert(told->id);
        } else {
            count(tree, told->id);
            changed_.push_back(told->id);
        }
        is_due_ = true;
    }
}

// ---- the children ----

std::uint64_t Gate::attach_child(const ShareTree& tree, FluxJobId child) {
    const std::uint64_t link = places_.attach(child);
    park_placeless(tree, child);
    return link;
}

void Gate::detach_child(const ShareTree& tree, FluxJobId child) {
    places_.detach(child);
    park_placeless(tree, child);
}

void Gate::park_placeless(const ShareTree& tree, FluxJobId child) {
    for (const FluxJobId id : places_.of(child)) {
        count_childs(tree, id);
    }
}

std::vector<ChildPlaces::Change> Gate::hear(FluxJobId child, const PlaceWishes& wishes) {
    std::vector<ChildPlaces::Change> changes;
    if (!places_.is_attached(child, wishes.link)) {
        return changes;
    }
    for (const PlaceWish& wish : wishes.jobs) {
        if (const auto change = places_.apply(child, wish, [this](FluxJobId id) { return admission_.has_place(id); })) {
            if (!change->is_gone) {
                places_.resolve(change->id);
            }
            changes.push_back(*change);
        }
    }
    if (wishes.is_complete) {
        for (const FluxJobId id : places_.unconfirmed(child)) {
            changes.push_back({id, true, true});
        }
    }
    return changes;
}

void Gate::count_heard(const ShareTree& tree, const std::vector<ChildPlaces::Change>& changes) {
    for (const ChildPlaces::Change& change : changes) {
        const FluxJobId id = change.id;
        if (change.is_gone) {
            forget_childs(tree, id);
            continue;
        }
        const ChildPlaces::Job& job = places_.job(id);
        if (is_limited_ && change.gives_back && admission_.has_place(id)) {
            admission_.park(tree, id, job.payer, asked_by_child(id));
        }
        if (job.is_new) {
            check_childs(tree, id);
        }
        count_childs(tree, id);
        if (job.is_new) {
            asks_.check(id);
        }
        heard_.insert(id);
    }
    is_due_ = is_due_ || !changes.empty();
}

/// The instance that decides checks a submission.
void Gate::check_childs(const ShareTree& tree, FluxJobId id) {
    const ChildPlaces::Job& job = places_.job(id);
    if (job.is_refused) {
        places_.refuse(id, job.text);
        return;
    }
    if (!is_limited_ || job.state == PlaceWish::State::running || needs_parent(tree, job.payer)) {
        return;
    }
    auto hit = LimitCounts::never(tree, job.payer, asked_by_child(id));
    hit = hit ? hit : admission_.submission(tree, id, job.payer);
    if (hit) {
        places_.refuse(id, "refused by a limit of the share tree: " + words(tree, *hit));
    }
}

LimitedJob Gate::asked_by_child(FluxJobId id) const {
    const PlaceRow& row = places_.job(id).row;
    return {row.nodes, row.cores, row.wall_time, asks_.is_granted(id)};
}

/// Whether it is ready, and the child can be told that it has a place.
bool Gate::may_get_place(FluxJobId id) const {
    const ChildPlaces::Job& job = places_.job(id);
    const bool is_ready = job.state == PlaceWish::State::waits || job.state == PlaceWish::State::holds;
    return is_ready && !job.is_refused && (job.is_granted || places_.is_reached(id));
}

void Gate::count_childs(const ShareTree& tree, FluxJobId id) {
    using State = PlaceWish::State;
    const ChildPlaces::Job& job = places_.job(id);
    const bool may_be_starting = job.state == State::holds || (job.state == State::waits && job.is_granted);
    if (is_limited_ && needs_parent(tree, job.payer)) {
        asks_.want(id, children_.name_of_place(job.key),
                   job.state == State::running || may_be_starting || admission_.has_place(id));
    } else {
        asks_.drop(id);
    }
    is_due_ = true;
    if (!is_limited_) {
        return;
    }
    const LimitedJob size = asked_by_child(id);
    if (job.state != State::running && admission_.is_running(id)) {  // it was thought to run
        admission_.park(tree, id, job.payer, size);
    }
    if (job.state == State::running) {
        admission_.start(tree, id, job.payer, size);
    } else if (job.state == State::parked || job.is_refused) {
        admission_.park(tree, id, job.payer, size);
    } else if (!may_be_starting && !may_get_place(id)) {
        admission_.park(tree, id, job.payer, size);
    } else if (lacks_grant(id)) {
        admission_.pause(tree, id, job.payer, size);
    } else {
        const bool had_place = admission_.has_place(id);
        admission_.wait(tree, id, job.payer, size);
        if (may_be_starting && !had_place) {
            admission_.keep_admitted(tree, id);
        }
    }
}

void Gate::forget_childs(const ShareTree& tree, FluxJobId id) {
    admission_.remove(tree, id);
    asks_.drop(id);
    places_.remove(id);
    heard_.erase(id);
    is_due_ = true;
}

void Gate::forget_child(const ShareTree& tree, FluxJobId child) {
    places_.detach(child);
    for (const FluxJobId id : places_.of(child)) {
        forget_childs(tree, id);
    }
}

void Gate::resolve_places() {
    for (const FluxJobId id : places_.all()) {
        places_.resolve(id);
    }
}

/// Answers what was heard, and what changed by the last admit().
void Gate::settle_places(const ShareTree& tree) {
    using State = PlaceWish::State;
    std::set<FluxJobId> due = std::exchange(heard_, {});
    if (places_.size() <= told_at_once_max) {
        for (const FluxJobId id : places_.all()) {
            due.insert(id);
        }
    }
    for (const FluxJobId id : due) {
        if (!places_.has(id)) {
            continue;
        }
        const ChildPlaces::Job& job = places_.job(id);
        const bool is_ready = job.state == State::waits || job.state == State::holds;
        const bool is_granted = is_limited_ ? admission_.is_admitted(id) : is_ready && !job.is_refused;
        const bool is_counted = is_limited_ && (admission_.has_place(id) || job.state == State::running);
        const bool is_told = !is_granted && is_ready && !job.is_refused;
        places_.settle(id, is_granted, is_counted, is_told ? limit_of(tree, id) : job.is_refused ? job.text : "");
    }
}

}  // namespace weir::priority
