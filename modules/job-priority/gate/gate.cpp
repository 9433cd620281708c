// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what each job counts against the limits. See gate.hpp.
#include "modules/job-priority/gate/gate.hpp"

#include <algorithm>

namespace weir::priority {
namespace {

/// What the job's user left out, where that is why the limit refuses it.
std::string omission_text(const LimitHit& hit, const BookJob& job, const LimitedJob& asked) {
    if (hit.kind == LimitKind::nodes && job.request->spread > 0) {
        return ": it names no nodes (-N), and may be spread over " + std::to_string(asked.nodes);
    }
    return hit.kind == LimitKind::wall_time && asked.wall_time == Duration::max() ? ": it names no time limit (-t)"
                                                                                  : "";
}

std::uint64_t counted(std::int64_t number) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, number));
}

}  // namespace

/// The most that it may get, since only the scheduler decides where it runs.
LimitedJob Gate::asked(const BookJob& job) const {
    const JobRequest& request = *job.request;
    const std::int64_t spread = machine_ ? std::min<std::int64_t>(request.spread, machine_->nodes) : request.spread;
    const std::int64_t whole = machine_ ? request.whole_nodes * machine_->node_cores : 0;
    return {counted(std::max(request.nodes, spread)), counted(std::max(request.cores, whole)), request.wall_time,
            is_admitted_above(job) || asks_.is_granted(job.id)};
}

void Gate::set_machine(const ShareTree& tree, const MachineSize& machine) {
    if (machine_ == machine) {
        return;
    }
    machine_ = machine;
    if (is_limited_) {
        restart(tree);
        count_all(tree);
    }
}

void Gate::restart(const ShareTree& tree) {
    admitted_before_ = admission_.admitted();
    admission_.clear();
    is_limited_ = has_limits(tree);
    for (const BookJob* job : book_.in_order()) {
        changed_.push_back(job->id);
    }
}

void Gate::count_all(const ShareTree& tree) {
    for (const BookJob* job : book_.in_order()) {
        count(tree, job->id);
    }
    for (const FluxJobId id : places_.all()) {
        count_childs(tree, id);
    }
    keep_admitted(tree);
}

void Gate::set_stopped(const ShareTree& tree, std::set<std::string> queues) {
    if (std::exchange(stopped_, std::move(queues)) != stopped_) {
        for (const BookJob* job : book_.in_order()) {
            count(tree, job->id);
        }
    }
}

void Gate::begin_backlog(const ShareTree& tree) {
    capped_.clear();
    strangers_.clear();
    restart(tree);
}

void Gate::end_backlog(const ShareTree& tree) {
    for (const FluxJobId id : asks_.all()) {
        if (!ChildPlaces::is_childs(id) && book_.find(id) == nullptr) {
            asks_.drop(id);
        }
    }
    for (const FluxJobId child : places_.children()) {
        if (const BookJob* job = book_.find(child); job == nullptr || !job->has_resources) {
            forget_child(tree, child);
        }
    }
    for (const FluxJobId id : places_.all()) {
        count_childs(tree, id);
    }
    keep_admitted(tree);
    if (const auto withheld = std::exchange(withheld_, std::nullopt)) {
        for (const BookJob* job : book_.in_order()) {
            if (withheld->count(job->id) == 0) {
                asks_.keep(job->id);
                count(tree, job->id);
                admission_.keep_admitted(tree, job->id);
            }
        }
    }
}

void Gate::keep_admitted(const ShareTree& tree) {
    for (const FluxJobId id : std::exchange(admitted_before_, {})) {
        admission_.keep_admitted(tree, id);
    }
}

void Gate::apply(const ShareTree& tree, const AppliedEvent& applied) {
    bool is_checked = false;
    if (applied.is_live && applied.is_active() && !children_.is_partition(*applied.job)) {
        const bool is_update = std::holds_alternative<UpdateEvent>(applied.event.what);
        const bool is_waiting = !applied.job->has_resources && !applied.job->is_over;
        if (applied.is_new || (is_update && is_waiting)) {
            check(tree, *applied.job);
            is_checked = true;
        }
    }
    count(tree, applied.event.id, applied.is_active() ? applied.job : nullptr);
    if (is_checked) {
        asks_.check(applied.event.id);
    }
    if (applied.is_live && (applied.change == BookChange::ended || applied.change == BookChange::gone)) {
        forget_child(tree, applied.event.id);
    }
    if (applied.change == BookChange::started || applied.change == BookChange::gone) {
        capped_.erase(applied.event.id);
    }
}

void Gate::check(const ShareTree& tree, const BookJob& job) {
    if (!is_limited_) {
        return;
    }
    auto hit = LimitCounts::never(tree, job.payer, asked(job));
    hit = hit ? hit : admission_.submission(tree, job.id, job.payer);
    if (hit) {
        refusals_.emplace_back(job.id, "refused by a limit of the share tree: " + words(tree, *hit) +
                                           omission_text(*hit, job, asked(job)));
    }
}

/// A parent that decides for its copies decides this, too.
void Gate::find_stranger(const ShareTree& tree, FluxJobId id, const BookJob* job) {
    const bool is_asked = job != nullptr && job->is_pending() && job->payer == unassociated && job->copy_of == 0 &&
                          settings_.is_enforced && tree.size() > 1;
    const bool is_stranger = is_asked && !payers_.refusal(tree, *job).empty();
    if (is_stranger ? strangers_.insert(id).second : strangers_.erase(id) != 0) {
        changed_.push_back(id);
    }
}

void Gate::count(const ShareTree& tree, FluxJobId id, const BookJob* job) {
    find_stranger(tree, id, job);
    const bool is_counted = is_limited_ && job != nullptr && !job->is_over && !children_.is_partition(*job);
    if (is_counted && job->copy_of == 0 && needs_parent(tree, job->payer)) {
        asks_.want(id, id, job->has_resources || admission_.has_place(id));
    } else {
        asks_.drop(id);
    }
    if (!is_limited_) {
        return;
    }
    is_due_ = true;
    if (!is_counted) {
        admission_.remove(tree, id);
    } else if (job->has_resources) {
        const LimitedJob got{counted(job->got_nodes), counted(job->got_cores), job->request->wall_time};
        admission_.start(tree, id, job->payer, got);
    } else if (!job->is_pending()) {
        admission_.park(tree, id, job->payer, asked(*job));
    } else if (job->is_held() || pauses(*job) || lacks_grant(id)) {
        admission_.pause(tree, id, job->payer, asked(*job));
    } else {
        admission_.wait(tree, id, job->payer, asked(*job));
    }
}

void Gate::cap(const std::vector<std::pair<FluxJobId, bool>>& caps) {
    for (const auto& [id, is_capped] : caps) {
        if (is_capped) {
            capped_.insert(id);
        } else {
            capped_.erase(id);
        }
        changed_.push_back(id);
    }
}

void Gate::admit(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                 const Admission::PriorityOf& priority_of) {
    is_due_ = false;
    if (is_limited_) {
        admission_.admit(tree, ledger, now, [&](FluxJobId id) {
            return ChildPlaces::is_childs(id) ? places_.job(id).priority : priority_of(id);
        });
        for (const FluxJobId id : admission_.changed()) {
            asks_.mark(id);
            if (ChildPlaces::is_childs(id)) {
                heard_.insert(id);
            } else {
                changed_.push_back(id);
            }
        }
    }
    settle_places(tree);
}

void Gate::for_each_change(const std::function<void(FluxJobId, bool)>& held_back) {
    for (const FluxJobId id : std::exchange(changed_, {})) {
        held_back(id, is_held_back(id));
    }
}

std::string Gate::limit_of(const ShareTree& tree, FluxJobId id) const {
    if (lacks_grant(id)) {
        const std::string& text = asks_.text(id);
        return text.empty() ? "the parent instance, whose limits count this job, has not answered yet" : text;
    }
    const auto hit = admission_.is_held_back(id) ? admission_.hit(id) : std::nullopt;
    return hit ? words(tree, *hit) : std::string();
}

std::string Gate::words(const ShareTree& tree, const LimitHit& hit) const {
    return words_of(hit, tree, {settings_.decay != DecayKind::none, settings_.usage_reset});
}

}  // namespace weir::priority
