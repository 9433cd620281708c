// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the conductor. See priority_service.hpp.
#include "modules/job-priority/priority_service.hpp"

#include <utility>

#include "modules/job-priority/tap/job_kind.hpp"

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
        accounting_.ledgers().reset(now);
    }
    uplink_.restore(saved);
    children_.restore(saved);
    site_.restore(saved);
    payers_.set_tree(tree());
    ranking_.set_tree(tree());
    gate_.restart(tree(), book_);
    return warnings;
}

// ---- the journal ----

void PriorityService::begin_backlog() {
    is_synced_ = false;
    backlog_.clear();
    memos_.restart();
}

void PriorityService::add_backlog(std::vector<JobEvent> events) {
    const bool needs_past = settings_.policy == PolicyKind::load_threshold;  // what was in use counts, whoever paid
    backlog_.add(std::move(events),
                 [&](const JobRun& run, Instant freed) { return !needs_past && accounting_.is_charged(run, freed); });
}

std::vector<std::string> PriorityService::end_backlog(Instant now) {
    book_.clear();
    given_.forget_copies();
    ranking_.clear();
    gate_.uncap_all();
    const std::vector<FluxJobId> places = gate_.restart(tree(), book_);
    const std::vector<JobEvent> events = backlog_.take();
    accounting_.ledgers().admit(payers_.newcomers(tree(), events));  // all in one copy of the tree
    const Instant last_seen = log_.meta().position;                  // before the backlog moves it on
    for (const FluxJobId id : charges_.end_vanished(backlog_.runs(), last_seen)) {
        children_.forget(id);
    }
    std::vector<std::string> faults = apply_each(events, [this](const JobEvent& event) { apply(event); });
    charges_.end_unheld(last_seen);
    children_.forget_unheld();
    backlog_.clear();
    const std::set<FluxJobId> pending = book_.pending();
    pusher_.retain(pending);
    scheduler_.retain(pending);
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
    accounting_.ledgers().reset_due(settings_.usage_reset, event.time, utc_offset_);
    const BookJob* before = book_.find(event.id);
    const bool is_new = before == nullptr && std::holds_alternative<SubmitEvent>(event.what);
    if (before != nullptr && before->has_resources && std::holds_alternative<CleanEvent>(event.what)) {
        end(*before, event.time);  // a journal that lost the `free`
    }
    if (before != nullptr && std::holds_alternative<CleanEvent>(event.what)) {
        given_.forget(*before);
    }
    const BookChange change = book_.apply(event);
    log_.set_position(event.time);
    const BookJob* job = book_.find(event.id);
    const bool is_waiting_or_starting = change == BookChange::inputs || change == BookChange::started;
    if (job != nullptr && !job->is_over && (is_waiting_or_starting || gate_.is_limited())) {
        resolve(*job);
    }
    const bool is_update = std::holds_alternative<UpdateEvent>(event.what) && job != nullptr;
    if (is_synced_ && (is_new || (is_update && !job->has_resources && !job->is_over)) && is_limited(*job)) {
        gate_.judge(tree(), *job, is_new);
    }
    gate_.count(tree(), event.id, job != nullptr && is_limited(*job) ? job : nullptr);
    if (job != nullptr) {
        charges_.follow_broker(*job, event);
    }
    switch (change) {
        case BookChange::none:
            break;
        case BookChange::inputs:
            rank(*job);
            memos_.mark(job->id, job->is_held() && job->is_pending());
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
    if (is_synced_) {  // also a job that runs in a child, which is charged by the child's reports
        counts_.waits.add(event.time - job.submit);
    }
    if (charges_.started(job, event)) {
        ranking_.hold(job.id, job.got_cores, users_.name(job.charged_userid()));
        ranking_.mark_like(job);
    }
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
    if (is_start) {
        scheduler_.forget(id);  // and so does the scheduler
    } else {
        scheduler_.withdraw(id);
    }
    gate_.uncap(id);
    if (is_start) {
        memos_.mark(id, false);  // it waits no more
    } else {
        memos_.forget(id);
    }
}

NodeId PriorityService::resolve(const BookJob& job) {
    counts_.resolved += 1;
    const auto payer = payers_.would_pay(tree(), job);
    const NodeId node = payer ? accounting_.ledgers().admit(payer->association, payer->user) : unassociated;
    book_.set_payer(job.id, node);
    return node;
}

// ---- the pass ----

void PriorityService::pass(Instant now, Pass which) {
    if (which == Pass::full) {
        refresh_users();
        accounting_.ledgers().reset_due(settings_.usage_reset, now, utc_offset_);
        ranking_.set_time(now);
    } else if (!has_marked()) {
        return;
    }
    counts_.changes += ranking_.judge(which, accounting_, now, pusher_);
    renew_first_values();
    for (const auto& [id, is_capped] : ranking_.caps()) {
        gate_.cap(id, is_capped);
    }
    gate_.admit(tree(), accounting_.ledger(), now, [&](FluxJobId id) { return ranking_.fine_priority(id, now); });
    gate_.tell([&](FluxJobId id, bool is_held_back) {
        pusher_.hold_back(id, is_held_back);
        memos_.mark(id, is_held_back);
        ranking_.hold_back(id, is_held_back);
    });
    ranking_.push_head(now, pusher_, scheduler_);
    if (!ranking_.queue().has_head()) {
        scheduler_.withdraw_all();
    }
    if (which == Pass::full) {
        counts_.passes += 1;
        is_full_due_ = false;
        log_.set_position(now);
    }
}

// ---- first values ----

bool PriorityService::gives_first_values() const {
    return settings_.policy == PolicyKind::multifactor && settings_.size_rule == SizeRule::cores &&
           settings_.resources.empty() && ranking_.queue().has_head() && !gate_.is_limited();
}

void PriorityService::meet(const BookJob& job) {
    if (job.is_held() || job.is_expedited() || job.copy_of != 0 || !gives_first_values()) {
        return;
    }
    const JobRequest& request = *job.request;
    const std::string kind =
        text_of(JobKind{job.userid, job.urgency, request.account, request.queue, request.qos, request.cores});
    if (const auto given = first_values_.known(kind)) {
        ranking_.expect(job.id, *given);
    }
    first_values_.note(kind, ranking_.queue().engine().inputs(*ranking_.queue().find(job.id)),
                       [this](const JobInputs& like) { return ranking_.first_number(like); });
}

void PriorityService::renew_first_values() {
    if (!gives_first_values()) {
        first_values_.clear();
    } else if (std::exchange(first_values_of_, ranking_.shares().evaluations()) != ranking_.shares().evaluations()) {
        first_values_.renew([this](const JobInputs& like) { return ranking_.first_number(like); });
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
        gate_.count(tree(), id, is_limited(job) ? &job : nullptr);
    }
    gate_.keep_admitted(places);
    put_all();
}

void PriorityService::put_all() {
    first_values_.clear();
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending()) {
            rank(job);
        }
    }
}

void PriorityService::rank(const BookJob& job) {
    const auto from_above = given_.of(job);  // told in any case: it says which job here is the parent's
    const bool is_followed = from_above && settings_.takes_parent_factors;
    const bool is_new = ranking_.queue().find(job.id) == nullptr;
    ranking_.put(tree(), job, site_.of(job.id), is_followed ? from_above : std::nullopt);
    if (is_new && is_synced_) {
        meet(job);
    }
    if (is_followed || job.request->is_instance) {
        is_full_due_ = ranking_.set_routed(true) || is_full_due_;
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

void PriorityService::set_scheduler(const SchedulerView& scheduler) {
    if (!scheduler.takes_order) {
        scheduler_.clear();
    }
    ranking_.set_scheduler(scheduler);
}

void PriorityService::take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete) {
    ranking_.take_parent_factors(tree(), rows, is_complete);
    put_all();
}

void PriorityService::take_given_priorities(const std::vector<GivenPriority>& rows, bool is_all) {
    for (const FluxJobId id : given_.take(rows, is_all)) {
        if (const BookJob* job = book_.find(id); job != nullptr && job->is_pending()) {
            rank(*job);
        }
    }
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
            rank(*job);
        }
    }
}

// ---- children ----

std::uint64_t PriorityService::attach_child(FluxJobId child, const std::string& instance, std::uint64_t first_seq,
                                            Instant now) {
    const std::uint64_t acked = children_.attach(child, instance, first_seq, now);
    if (const BookJob* job = book_.find(child); job != nullptr && !is_limited(*job)) {
        gate_.count(tree(), child, nullptr);  // until now it was a job as any other
    }
    return acked;
}

bool PriorityService::is_limited(const BookJob& job) const {
    const bool is_instance = job.request->is_instance || children_.children().count(job.id) != 0;
    return !(is_instance && book_.is_partition(job));
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
