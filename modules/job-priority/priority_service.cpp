// SPDX-License-Identifier: LGPL-3.0-only
// Owns: events and passes. See priority_service.hpp; children: service_children.cpp; tree: service_tree.cpp.
#include "modules/job-priority/priority_service.hpp"

#include <algorithm>
#include <utility>

#include "modules/job-priority/jobs/job_cost.hpp"

namespace weir::priority {
namespace {

constexpr std::uint32_t no_factor = root_node.value;  // an account's factor is 0

/// An event pass uses factors up to this part of the update interval old.
constexpr int evaluations_per_interval = 30;

std::uint32_t machine_from(const BookJob& job) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(job.request.cores, 1, 0xffffffffLL));
}

}  // namespace

Algorithm algorithm_of(const Settings& settings) {
    Result<Algorithm> found = algorithm_named(settings.algorithm);
    if (found && std::holds_alternative<Lsf>(*found)) {
        return Lsf{settings.lsf.factors};
    }
    return found ? *found : Algorithm{};
}

PriorityService::PriorityService(Settings settings, UserDatabase database, std::uint32_t owner, bool is_child)
    : settings_(std::move(settings)),
      users_(std::move(database)),
      is_child_(is_child),
      accounting_(trees_.tree(), counting_of(settings_)),
      book_(owner, settings_.ageing),
      queue_(settings_, MachineSize{}),
      order_(settings_, MachineSize{}),
      algorithm_(algorithm_of(settings_)) {
    users_.configure(settings_.users);
}

Result<std::vector<std::string>> PriorityService::restore(const SavedState& saved, Instant now) {
    std::vector<std::string> warnings = trees_.restore(saved.revisions);
    Result<Accounting> accounting = Accounting::restore(trees_.tree(), saved, counting_of(settings_), now);
    if (!accounting) {
        return accounting.error();
    }
    accounting_ = std::move(*accounting);
    has_groups_ = has_groups(accounting_.tree());
    if (settings_.usage_reset == ResetPeriod::now) {
        accounting_.reset(now);
    }
    uplink_ = UplinkQueue(saved.meta.uplink_seq, saved.uplink);
    children_ = saved.downlinks;
    site_.insert(saved.site.begin(), saved.site.end());
    configure_queue();
    recount_limits();
    return warnings;
}

void PriorityService::set_instance(std::string instance) {
    accounting_.meta().instance = std::move(instance);
    accounting_.batch().meta = accounting_.meta();
}

// ---- journal ----

void PriorityService::begin_backlog() {
    is_synced_ = false;
    backlog_.clear();
    backlog_runs_.clear();
}

void PriorityService::add_backlog(const std::vector<JobEvent>& events) {
    if (events.empty()) {
        return;
    }
    JobRun& run = backlog_runs_[events.front().id];
    run.id = events.front().id;
    const bool needs_past = settings_.policy == PolicyKind::load_threshold;  // what was in use counts, whoever paid
    for (const JobEvent& event : events) {
        if (std::holds_alternative<SubmitEvent>(event.what)) {
            run.submit = event.stamp();
        } else if (std::holds_alternative<AllocEvent>(event.what)) {
            run.alloc = event.stamp();
        }
        if (!needs_past && std::holds_alternative<FreeEvent>(event.what) && accounting_.is_charged(run, event.time)) {
            return;  // over and charged: nothing of it matters any more
        }
    }
    backlog_.insert(backlog_.end(), events.begin(), events.end());
}

std::vector<std::string> PriorityService::end_backlog(Instant now) {
    book_.clear();
    queue_.clear();
    order_ = PolicyOrder(settings_, machine_);
    capped_.clear();
    const std::vector<FluxJobId> places = admission_.places();
    admission_.clear();
    // The backlog comes job by job; the live stream came in order of time. Stable: a job's own order stays.
    std::stable_sort(backlog_.begin(), backlog_.end(),
                     [](const JobEvent& a, const JobEvent& b) { return a.time < b.time; });
    if (!has_parent_factors()) {
        admit_members_of_backlog();
    }
    const Instant last_seen = accounting_.position();  // before the backlog moves it on
    for (const FluxJobId id : accounting_.vanished(backlog_runs_)) {
        end_vanished(id, last_seen);
    }
    std::vector<std::string> faults;
    for (const JobEvent& event : std::exchange(backlog_, {})) {
        try {
            apply(event);
        } catch (const std::exception& fault) {
            faults.push_back("job " + std::to_string(event.id) + ": an event was not applied: " + fault.what());
        }
    }
    forget_ended(last_seen);
    backlog_runs_.clear();
    std::set<FluxJobId> pending;
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending()) {
            pending.insert(id);
        }
    }
    pusher_.retain(pending);
    keep_places(places);
    if (const auto withheld = std::exchange(withheld_, std::nullopt)) {
        keep_places_but(*withheld);
    }
    forget_vanished_site_values();
    is_synced_ = true;
    accounting_.set_position(now);
    return faults;
}

void PriorityService::apply(const JobEvent& event) {
    counts_.events += 1;
    order_time_ = event.time;
    accounting_.reset_due(settings_.usage_reset, event.time, utc_offset_);
    const BookJob* before = book_.find(event.id);
    const bool was_charged = before != nullptr && before->has_resources;
    if (was_charged && std::holds_alternative<CleanEvent>(event.what)) {
        on_ended(*before, event.time);  // a journal that lost the `free`
    }
    const BookChange change = book_.apply(event);
    accounting_.set_position(event.time);
    const BookJob* job = book_.find(event.id);
    if (std::holds_alternative<SubmitEvent>(event.what) && before == nullptr) {
        judge_submission(*job);
    } else if (std::holds_alternative<UpdateEvent>(event.what)) {
        judge_update(job);
    }
    count_limits(event.id);
    switch (change) {
        case BookChange::none:
            break;
        case BookChange::inputs:
            put(*job);
            if (job->is_held() || job->is_expedited()) {
                pusher_.override(event.id);
            }
            break;
        case BookChange::started:
            if (const PriorityEngine::Slot* slot = queue_.find(event.id)) {
                order_.start(JobId{slot->value}, event.time);
            }
            leave(event.id, event.time);
            on_started(*job, event);
            break;
        case BookChange::ended:
            on_ended(*job, event.time);
            break;
        case BookChange::gone:
            leave(event.id, event.time);
            forget_site_value(event.id);
            break;
    }
}

void PriorityService::end_vanished(FluxJobId id, Instant last_seen) {
    counts_.vanished += 1;
    record({false, id, {}, {}, 0, last_seen});
    accounting_.end(id, last_seen);
    forget_child(id);
}

void PriorityService::on_started(const BookJob& job, const JobEvent& event) {
    const auto& alloc = std::get<AllocEvent>(event.what);
    const Instant at = event.time;
    if (alloc.is_charged_elsewhere) {
        return;  // the child instance that runs it reports its usage
    }
    order_.hold(job.id, alloc.cores, users_.name(job.charged_userid()), at);
    const JobRun run{job.id, job.submit_stamp, event.stamp()};
    const bool is_idle = job.request.is_instance && is_partition(job);
    const NodeId payer = is_idle ? idle : payer_of(job);
    if (!is_idle && users_.is_in_doubt(job.charged_userid())) {
        paid_in_doubt_.insert(job.id);
    }
    if (accounting_.start(run, payer, alloc.cores, at, bill_of(settings_, job.request, alloc))) {
        const std::string user = is_idle ? std::string() : users_.name(job.charged_userid());
        record({true, job.id, user, job.request.account, alloc.cores, at});
    }
    queue_.mark_factor(factor_index(job));
}

void PriorityService::on_ended(const BookJob& job, Instant at) {
    order_.release(job.id, at);
    close_child(job, at);
    paid_in_doubt_.erase(job.id);
    const RunningJob* running = accounting_.find(job.id);
    if (running == nullptr) {
        return;
    }
    record({false, job.id, users_.name(job.charged_userid()), job.request.account, running->cores, at});
    accounting_.end(job.id, at);
    counts_.rebuilt += is_synced_ ? 0 : 1;
    queue_.mark_factor(factor_index(job));
}

void PriorityService::record(UplinkRow row) {
    if (!is_child_) {
        return;
    }
    const std::uint64_t seq = uplink_.add(row);
    accounting_.batch().uplink[seq] = std::move(row);
    accounting_.meta().uplink_seq = seq;
}

void PriorityService::uplink_acknowledged(std::uint64_t seq) {
    accounting_.batch().uplink_acked = std::max(accounting_.batch().uplink_acked, uplink_.acknowledged(seq));
}

// ---- who pays, whose factor ----

bool has_groups(const ShareTree& tree) {
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        if (tree.kind(NodeId{index}) == NodeKind::group) {
            return true;
        }
    }
    return false;
}

Result<Association> PriorityService::association_of(const Credentials& job, std::optional<std::uint32_t> userid) {
    Credentials all = job;
    if (has_groups_ && userid) {
        all.groups = users_.groups(*userid);
    }
    return weir::payer_of(accounting_.tree(), all);
}

NodeId PriorityService::resolve(const Credentials& job, std::optional<std::uint32_t> userid) {
    const Result<Association> association = association_of(job, userid);
    return association ? accounting_.leaf_of(*association, std::string(job.user)) : unassociated;
}

/// Who enters the tree by an `@*` line with this job; nothing where he is in it, or is not known.
std::optional<std::pair<NodeId, std::string>> PriorityService::newcomer_of(const SubmitEvent& submit) {
    const JobRequest& request = submit.request;
    const std::uint32_t userid = book_.charged_userid(submit);
    try {
        const std::string user = users_.name(userid);
        const auto association = association_of(
            {.user = user, .account = request.account, .queue = request.queue, .qos = request.qos}, userid);
        if (association && !association->leaf) {
            return std::make_pair(association->account, user);
        }
    } catch (const std::exception&) {
        // The user database is away: applying the event says so.
    }
    return std::nullopt;
}

/// Each new leaf is a copy of the tree; those that the backlog brings come in one. Who pays for a job that was changed
/// is known when its events are applied.
void PriorityService::admit_members_of_backlog() {
    std::unordered_map<FluxJobId, const SubmitEvent*> submitted;
    std::vector<std::pair<NodeId, std::string>> members;
    for (const JobEvent& event : backlog_) {
        if (const auto* submit = std::get_if<SubmitEvent>(&event.what)) {
            submitted[event.id] = submit;
        } else if (std::holds_alternative<UpdateEvent>(event.what)) {
            submitted.erase(event.id);
        } else if (const auto job = submitted.find(event.id);
                   job != submitted.end() && std::holds_alternative<DependEvent>(event.what)) {
            if (auto newcomer = newcomer_of(*job->second)) {
                members.push_back(std::move(*newcomer));
            }
        }
    }
    accounting_.admit(members);
}

NodeId PriorityService::payer_of(const BookJob& job) {
    if (job.request.is_instance && is_partition(job)) {
        return unassociated;  // and idle from its start on: its owner gets no leaf by it
    }
    const JobRequest& request = job.request;
    const std::uint32_t userid = job.charged_userid();
    Credentials all{.user = users_.name(userid), .account = request.account};
    all.queue = request.queue;
    all.qos = request.qos;
    if (has_groups_) {
        (void)users_.groups(userid);
    }
    return users_.is_in_doubt(userid) ? unassociated : resolve(all, userid);
}

void PriorityService::refresh_users() {
    if (!users_.refresh()) {
        return;
    }
    accounts_version_ += 1;
    for (auto id = paid_in_doubt_.begin(); id != paid_in_doubt_.end();) {
        const BookJob* job = book_.find(*id);
        const RunningJob* running = accounting_.find(*id);
        if (job != nullptr && running != nullptr) {
            const NodeId payer = payer_of(*job);
            if (users_.is_in_doubt(job->charged_userid())) {
                ++id;
                continue;
            }
            accounting_.move_payer(*id, payer, running->start);
        }
        id = paid_in_doubt_.erase(id);
    }
    put_all();
    recount_limits();
}

std::uint32_t PriorityService::factor_index(const BookJob& job) {
    const std::uint32_t userid = job.charged_userid();
    if (has_parent_factors()) {
        return from_parent_.index(userid, users_.name(userid), job.request.account);
    }
    const NodeId payer = payer_of(job);
    return payer == unassociated ? no_factor : payer.value;
}

std::span<const double> PriorityService::factors() const {
    return has_parent_factors() ? from_parent_.factors() : std::span<const double>(standings_.factor);
}

void PriorityService::put(const BookJob& job) {
    if (!is_machine_known_ && machine_from(job) > machine_.cores) {
        machine_.cores = machine_from(job);
        order_.set_machine(machine_, order_time_);
        configure_queue();
    }
    const std::uint32_t factor = factor_index(job);
    if (!settings_.associations.empty() && factor >= queue_.engine().settings().association_priority.size()) {
        configure_queue();  // a new member of the tree
    }
    const double site = site_value(job.id).value_or(0.);
    queue_.put(job, factor, site);
    if (!is_sum()) {
        order_.put(JobId{queue_.find(job.id)->value}, job, owner_of(job), site, order_time_);
    }
}

void PriorityService::put_all() {
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending()) {
            put(job);
        }
    }
}

// ---- passes ----

void PriorityService::measure(Instant now, Measured& into) const {
    accounting_.measure(now, into.usage);
    accounting_.measure_use(now, into.dynamic);
    into.capacity = is_machine_known_ ? machine_.cores : 0;
    into.demand.clear();
    if (std::holds_alternative<DemandCapped>(algorithm_)) {
        measure_demand(into);
    }
}

void PriorityService::measure_demand(Measured& into) const {
    const UsageLedger& ledger = accounting_.ledger();
    const ShareTree& tree = ledger.tree();
    into.demand.assign(tree.size(), 0);
    if (!has_parent_factors()) {  // else the queue's indices are the parent's
        queue_.add_cores(into.demand);
    }
    for (std::uint32_t index = tree.size() - 1; index > 0 && index < tree.size(); --index) {
        if (tree.is_association(NodeId{index})) {
            into.demand[index] += static_cast<std::uint64_t>(std::max<std::int64_t>(0, ledger.rate(NodeId{index})));
        }
        into.demand[tree.parent(NodeId{index}).value] += into.demand[index];
    }
}

void PriorityService::evaluate_now(Instant now) {
    measure(now, measured_);
    evaluate(algorithm_, accounting_.tree(), measured_.measures(), standings_);
    order_.measure(accounting_.tree(), measured_);
    evaluated_at_ = now;
    evaluated_size_ = accounting_.tree().size();
    counts_.evaluations += 1;
}

void PriorityService::pass(Instant now) {
    refresh_users();
    accounting_.reset_due(settings_.usage_reset, now, utc_offset_);
    order_time_ = now;
    evaluate_now(now);
    give_values(now, true);
    counts_.changes += queue_.pass(now, factors(), pusher_);
    hold_capped();
    let_in(now);
    counts_.passes += 1;
    accounting_.set_position(now);
}

void PriorityService::pass_changed(Instant now) {
    if (!has_marked()) {
        return;
    }
    const Duration fresh = settings_.update_interval / evaluations_per_interval;
    const bool is_stale = !evaluated_at_ || now - *evaluated_at_ >= fresh || now < *evaluated_at_;
    if (is_stale || order_.wants_fresh() || evaluated_size_ != accounting_.tree().size()) {
        evaluate_now(now);
    }
    give_values(now, false);
    counts_.changes += queue_.pass_marked(now, factors(), pusher_);
    hold_capped();
    let_in(now);
}

// ---- parent ----

void PriorityService::take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete) {
    from_parent_.take(rows, is_complete);
    configure_queue();
    put_all();
}

}  // namespace weir::priority
