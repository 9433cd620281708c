// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the conductor. See priority_service.hpp.
#include "modules/job-priority/priority_service.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace weir::priority {

PriorityService::PriorityService(Settings settings, UserDatabase database, std::uint32_t owner, bool is_child)
    : settings_(std::move(settings)),
      users_(std::move(database)),
      accounting_(log_, trees_.tree(), counting_of(settings_)),
      book_(owner, settings_.ageing),
      payers_(users_, book_),
      uplink_(log_, is_child),
      charges_(settings_, book_, users_, accounting_, uplink_),
      children_(log_, book_, payers_, accounting_, uplink_),
      ranking_(settings_, users_, is_child),
      site_(log_) {
    users_.configure(settings_.users);
}

Result<std::vector<std::string>> PriorityService::restore(const SavedState& saved, Instant now) {
    log_.restore(saved);
    std::vector<std::string> warnings = trees_.restore(saved.revisions);
    Result<Accounting> accounting = Accounting::restore(log_, trees_.tree(), saved, counting_of(settings_), now);
    if (!accounting) {
        return accounting.error();
    }
    accounting_ = std::move(*accounting);
    if (settings_.usage_reset == ResetPeriod::now) {
        accounting_.reset(now);
    }
    uplink_.restore(saved);
    children_.restore(saved);
    site_.restore(saved);
    payers_.set_tree(tree());
    ranking_.set_tree(tree());
    gate_.restart(tree(), book_);
    return warnings;
}

StateBatch PriorityService::take_batch() {
    return log_.take([this] { return accounting_.checkpoint(); });
}

// ---- the journal ----

void PriorityService::begin_backlog() {
    is_synced_ = false;
    backlog_.clear();
}

void PriorityService::add_backlog(const std::vector<JobEvent>& events) {
    const bool needs_past = settings_.policy == PolicyKind::load_threshold;  // what was in use counts, whoever paid
    backlog_.add(events,
                 [&](const JobRun& run, Instant freed) { return !needs_past && accounting_.is_charged(run, freed); });
}

std::vector<std::string> PriorityService::end_backlog(Instant now) {
    book_.clear();
    ranking_.clear();
    gate_.uncap_all();
    const std::vector<FluxJobId> places = gate_.restart(tree(), book_);
    const std::vector<JobEvent> events = backlog_.take();
    accounting_.admit(payers_.newcomers(tree(), events));  // all in one copy of the tree
    const Instant last_seen = log_.meta().position;        // before the backlog moves it on
    for (const FluxJobId id : charges_.end_vanished(backlog_.runs(), last_seen)) {
        children_.forget(id);
    }
    std::vector<std::string> faults;
    for (const JobEvent& event : events) {
        try {
            apply(event);
        } catch (const std::exception& fault) {
            faults.push_back("job " + std::to_string(event.id) + ": an event was not applied: " + fault.what());
        }
    }
    charges_.end_unheld(last_seen);
    children_.forget_unheld();
    backlog_.clear();
    std::set<FluxJobId> pending;
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending()) {
            pending.insert(id);
        }
    }
    pusher_.retain(pending);
    gate_.keep_admitted(places);
    gate_.keep_admitted_except_withheld(book_);
    site_.forget_vanished(book_);
    is_synced_ = true;
    log_.set_position(now);
    return faults;
}

void PriorityService::apply(const JobEvent& event) {
    counts_.events += 1;
    ranking_.set_time(event.time);
    accounting_.reset_due(settings_.usage_reset, event.time, utc_offset_);
    const BookJob* before = book_.find(event.id);
    const bool is_new = before == nullptr && std::holds_alternative<SubmitEvent>(event.what);
    if (before != nullptr && before->has_resources && std::holds_alternative<CleanEvent>(event.what)) {
        end(*before, event.time);  // a journal that lost the `free`
    }
    const BookChange change = book_.apply(event);
    log_.set_position(event.time);
    const BookJob* job = book_.find(event.id);
    const bool is_waiting_or_starting = change == BookChange::inputs || change == BookChange::started;
    if (job != nullptr && !job->is_over && (is_waiting_or_starting || gate_.is_limited())) {
        resolve(*job);
    }
    const bool is_update = std::holds_alternative<UpdateEvent>(event.what) && job != nullptr;
    if (is_synced_ && (is_new || (is_update && !job->has_resources && !job->is_over))) {
        gate_.judge(tree(), *job, is_new);
    }
    gate_.count(tree(), event.id, job);
    if (job != nullptr) {
        charges_.follow_broker(*job, event);
    }
    switch (change) {
        case BookChange::none:
            break;
        case BookChange::inputs:
            ranking_.put(tree(), *job, site_.of(job->id));
            if (job->is_held() || job->is_expedited()) {
                pusher_.override(job->id);
            }
            break;
        case BookChange::started:
            leave(job->id, true);
            start(*job, event);
            break;
        case BookChange::ended:
            end(*job, event.time);
            break;
        case BookChange::gone:
            leave(event.id, false);
            site_.forget(event.id);
            break;
    }
}

void PriorityService::start(const BookJob& job, const JobEvent& event) {
    const auto& alloc = std::get<AllocEvent>(event.what);
    if (alloc.is_charged_elsewhere) {
        return;  // the child instance that runs it reports its usage
    }
    ranking_.hold(job.id, alloc.cores, users_.name(job.charged_userid()));
    charges_.started(job, event);
    ranking_.mark_like(job);
}

void PriorityService::end(const BookJob& job, Instant at) {
    ranking_.release(job.id);
    children_.close(job, at);
    if (charges_.ended(job, at)) {
        counts_.rebuilt += is_synced_ ? 0 : 1;
        ranking_.mark_like(job);
    }
}

void PriorityService::leave(FluxJobId id, bool is_start) {
    ranking_.leave(id, is_start);
    pusher_.forget(id);
    gate_.uncap(id);
}

NodeId PriorityService::resolve(const BookJob& job) {
    counts_.resolved += 1;
    const auto payer = payers_.would_pay(tree(), job);
    const NodeId node = payer ? accounting_.admit(payer->association, payer->user) : unassociated;
    book_.set_payer(job.id, node);
    return node;
}

// ---- the pass ----

void PriorityService::pass(Instant now, Pass which) {
    if (which == Pass::full) {
        refresh_users();
        accounting_.reset_due(settings_.usage_reset, now, utc_offset_);
        ranking_.set_time(now);
    } else if (!has_marked()) {
        return;
    }
    counts_.changes += ranking_.judge(which, accounting_, now, pusher_);
    for (const auto& [id, is_capped] : ranking_.caps()) {
        gate_.cap(id, is_capped);
    }
    gate_.admit(tree(), accounting_.ledger(), now, [&](FluxJobId id) { return ranking_.fine_priority(id, now); });
    gate_.tell(pusher_);
    if (which == Pass::full) {
        counts_.passes += 1;
        log_.set_position(now);
    }
}

void PriorityService::refresh_users() {
    if (users_.refresh()) {
        accounts_version_ += 1;
        charges_.settle_doubts([this](const BookJob& job) { return resolve(job); });
        renew_all();
    }
}

// ---- what the stages depend on ----

void PriorityService::renew_all() {
    const std::vector<FluxJobId> places = gate_.restart(tree(), book_);
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending() || job.has_resources || (gate_.is_limited() && !job.is_over)) {
            resolve(job);
        }
        gate_.count(tree(), id, &job);
    }
    gate_.keep_admitted(places);
    put_all();
}

void PriorityService::put_all() {
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending()) {
            ranking_.put(tree(), job, site_.of(id));
        }
    }
}

void PriorityService::configure(Settings settings, Instant now) {
    const bool is_same_users = settings.users == settings_.users && settings.is_enforced == settings_.is_enforced;
    settings_ = std::move(settings);
    users_.configure(settings_.users);
    accounting_.configure(counting_of(settings_), now);
    book_.set_age_rule(settings_.ageing);
    if (ranking_.configure(accounting_, book_, now)) {
        gate_.uncap_all();
    }
    renew_all();
    accounts_version_ += is_same_users ? 0 : 1;
}

void PriorityService::set_machine(const MachineSize& machine) {
    if (ranking_.set_machine(tree(), machine)) {
        put_all();
    }
}

void PriorityService::take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete) {
    ranking_.take_parent_factors(tree(), rows, is_complete);
    put_all();
}

TreeChangeover PriorityService::prepare(TreeProposal proposal, Instant now) const {
    Accounting next = accounting_;
    next.rebind(proposal.tree, now);
    StateLog log = log_;
    next.rewrite(log);
    log.add_revision(proposal.revision);
    StateBatch batch = log.take([&next] { return next.checkpoint(); });
    return {std::move(proposal), std::move(next), std::move(log), std::move(batch)};
}

void PriorityService::accept(TreeChangeover changeover) {
    trees_.accept(changeover.proposal);
    accounting_ = std::move(changeover.accounting);
    log_ = std::move(changeover.log);
    payers_.set_tree(tree());
    ranking_.set_tree(tree());
    publication_.restart();
    accounts_version_ += 1;
    renew_all();
}

void PriorityService::accept(const SiteEdit& edit) {
    site_.accept(edit);
    for (const auto& [id, row] : edit.rows) {
        if (const BookJob* job = book_.find(id); job != nullptr && job->is_pending()) {
            ranking_.put(tree(), *job, site_.of(id));
        }
    }
}

// ---- children ----

std::uint64_t PriorityService::attach_child(FluxJobId child, const std::string& instance, std::uint64_t first_seq,
                                            Instant now) {
    return children_.attach(child, instance, first_seq, now);
}

std::uint64_t PriorityService::report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records,
                                      Instant now) {
    const std::uint64_t acked = children_.report(child, first_seq, std::move(records), now);
    for (const NodeId payer : children_.take_touched()) {
        ranking_.mark(payer);
    }
    return acked;
}

}  // namespace weir::priority
