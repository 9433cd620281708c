// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the conductor. See priority_service.hpp.
#include "modules/job-priority/priority_service.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir::priority {
namespace {

/// \param replaced  the oldest first, with the times of their ends  \param present  the tree after the last one
EarlierTrees::Trees earlier_trees(std::vector<std::pair<ShareTree, Instant>> replaced, ShareTreePtr present) {
    EarlierTrees::Trees trees;
    for (auto tree = replaced.rbegin(); tree != replaced.rend(); ++tree) {
        auto shared = std::make_shared<const ShareTree>(std::move(tree->first));
        trees.push_front({shared, match_nodes(*shared, *present), tree->second});
        present = std::move(shared);
    }
    return trees;
}

}  // namespace

PriorityService::PriorityService(Settings settings, UserDatabase database, std::uint32_t owner, bool is_child)
    : settings_(std::move(settings)),
      users_(std::move(database), settings_.users),
      trees_(log_),
      accounting_(log_, trees_.tree(), counting_of(settings_)),
      book_(owner, settings_.ageing),
      payers_(users_, book_),
      membership_(payers_, book_, accounting_),
      sends_(log_, is_child),
      charges_(settings_, book_, users_, accounting_, sends_.uplink()),
      children_(log_, book_, payers_, accounting_, sends_.uplink()),
      gate_({settings_, book_, payers_, children_, log_}, is_child),
      ranking_(settings_, users_, is_child),
      ranked_(settings_, {book_, accounting_, users_, ranking_, gate_, children_}, log_) {}

Result<std::vector<std::string>> PriorityService::restore(const SavedState& saved, Instant now) {
    log_.restore(saved);
    log_.begin_usage_hours(now);
    std::vector<std::string> warnings = trees_.restore(saved);
    Result<Accounting> accounting = Accounting::restore(log_, trees_.tree(), saved, counting_of(settings_), now);
    if (!accounting) {
        return accounting.error();
    }
    accounting_ = std::move(*accounting);
    if (settings_.usage_reset == ResetPeriod::now) {
        accounting_.ledgers().reset(now);
    }
    sends_.uplink().restore(saved);
    children_.restore(saved);
    ranked_.site().restore(saved);
    gate_.restore(saved);
    children_.restore_trees(trees_.in_force().time,
                            [this, revision = trees_.in_force().revision, present = accounting_.tree_ptr()] {
                                return earlier_trees(trees_.before(members(), revision, EarlierTrees::kept), present);
                            });
    payers_.set_tree(tree());
    ranking_.set_tree(tree());
    gate_.restart(tree());
    return warnings;
}

// ---- the journal ----

void PriorityService::begin_backlog() {
    is_synced_ = false;
    backlog_.clear();
    sends_.begin_backlog();
}

std::vector<std::string> PriorityService::end_backlog(Instant now) {
    book_.clear();
    ranked_.begin_backlog();
    gate_.begin_backlog(tree());
    const std::vector<JobEvent> events = backlog_.take();
    membership_.admit_newcomers(events);
    const Instant last_seen = log_.meta().position;  // before the backlog advances it
    children_.forget(charges_.end_vanished(backlog_.runs(), last_seen));
    std::vector<std::string> faults = apply_each(events, [this](const JobEvent& event) { apply(event); });
    charges_.end_unheld(last_seen);
    children_.forget_unheld();
    membership_.follow_charges([this](FluxJobId id) { gate_.count(tree(), id); });
    backlog_.clear();
    sends_.end_backlog(book_.pending());
    gate_.resolve_places();
    gate_.end_backlog(tree());
    ranked_.end_backlog();
    is_synced_ = true;
    log_.set_position(now);
    return faults;
}

void PriorityService::apply(const JobEvent& event) {
    counts_.events += 1;
    if (book_.lacks_free(event)) {
        pass_on({event.id, event.time, FreeEvent{}, event.moved});
    }
    pass_on(event);
}

void PriorityService::reach(Instant now) {
    accounting_.ledgers().reset_due(settings_.usage_reset, now, utc_offset_);
    log_.set_position(now);
    ranking_.set_time(now);
}

void PriorityService::pass_on(const JobEvent& event) {
    reach(event.time);
    const AppliedEvent applied = book_.apply(event, is_synced_);
    membership_.apply(applied, gate_.is_limited());
    gate_.apply(tree(), applied);
    children_.apply(applied);
    const bool is_charged = charges_.apply(applied);
    ranked_.apply(applied, is_charged);
    sends_.apply(applied);
    if (applied.job != nullptr && applied.job->is_pending() && gate_.is_stopped(*applied.job)) {
        sends_.memos().mark(event.id, true);
    }
}

// ---- the pass ----

void PriorityService::pass(Instant now, Pass which) {
    if (which == Pass::full) {
        refresh_users();
        reach(now);
    } else if (const auto due = evaluation_due(); !is_synced_ || (!has_marked() && !(due && now >= *due))) {
        return;
    }
    counts_.changes += ranking_.evaluate(which, accounting_, now, sends_.plugin());
    ranked_.evaluated(which);
    gate_.cap(ranking_.caps());
    gate_.settle(tree(), has_withdrawn());
    gate_.admit(tree(), accounting_.ledger(), now, [&](FluxJobId id) { return ranking_.fine_priority(id, now); });
    gate_.for_each_change([&](FluxJobId id, bool is_held_back) {
        sends_.hold_back(id, is_held_back);
        ranking_.hold_back(id, is_held_back);
    });
    ranking_.push_head(now, which, sends_.plugin(), sends_.scheduler());
    if (which == Pass::full) {
        counts_.passes += 1;
        gate_.renew_wishes();
    }
}

void PriorityService::refresh_users() {
    children_.forget_payers();
    if (users_.refresh()) {
        accounts_version_ += 1;
        charges_.settle_doubts([this](const BookJob& job) { return membership_.resolve(job); });
        renew_all();
    }
}

// ---- inputs of the stages ----

/// The memos of their jobs say so, or no more.
void PriorityService::set_stopped_queues(std::set<std::string> queues) {
    const std::set<std::string> before = gate_.stopped();
    gate_.set_stopped(tree(), std::move(queues));
    if (before == gate_.stopped()) {
        return;
    }
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending()) {
            sends_.memos().mark(id, gate_.is_stopped(job));
        }
    }
}

void PriorityService::renew_all() {
    children_.forget_payers();
    gate_.restart(tree());
    membership_.resolve_all(gate_.is_limited());
    gate_.resolve_places();
    gate_.count_all(tree());
    ranked_.put_all();
}

void PriorityService::configure(Settings settings, Instant now) {
    accounts_version_ += is_same_for_accounts(settings, settings_) ? 0 : 1;
    settings_ = std::move(settings);
    users_.configure(settings_.users);
    accounting_.configure(counting_of(settings_), now);
    book_.set_age_rule(settings_.ageing);
    if (ranked_.configure(now)) {
        gate_.uncap_all();
    }
    renew_all();
}

void PriorityService::set_scheduler(const SchedulerView& scheduler) {
    if (!scheduler.takes_order) {
        sends_.scheduler().clear();
    }
    ranking_.set_scheduler(scheduler);
}

void PriorityService::accept(TreeChangeover changeover) {
    trees_.accept(changeover.proposal);
    children_.keep_tree(accounting_.tree_ptr(), changeover.moved, changeover.at);
    accounting_ = std::move(changeover.accounting);
    log_ = std::move(changeover.log);
    payers_.set_tree(tree());
    book_.follow_tree(changeover.moved);
    gate_.follow_tree(changeover.moved);
    ranking_.set_tree(tree());
    sends_.factors().restart();
    accounts_version_ += 1;
    renew_all();
}

// ---- places under limits ----

PlaceWishes PriorityService::take_wishes(Instant now) {
    return is_synced_ ? gate_.take_wishes([&](FluxJobId id) { return ranking_.fine_priority(id, now); })
                      : PlaceWishes{};
}

void PriorityService::take_wishes_of(FluxJobId child, const PlaceWishes& wishes, Instant now) {
    reach(now);
    const std::vector<ChildPlaces::Change> changes = gate_.hear(child, wishes);
    gate_.count_heard(tree(), changes);
}

// ---- children ----

std::uint64_t PriorityService::attach_child(FluxJobId child, const std::string& instance, std::uint64_t first_seq,
                                            Instant now, const std::vector<FluxJobId>& hosts) {
    reach(now);
    const std::uint64_t acked = children_.attach(child, instance, first_seq, now, hosts);
    if (const BookJob* job = book_.find(child); job != nullptr && children_.is_partition(*job)) {
        gate_.count(tree(), child);  // until now it was counted as any other job
        ranking_.release(child);
    }
    return acked;
}

std::uint64_t PriorityService::report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records,
                                      Instant now) {
    reach(now);
    const std::uint64_t acked = children_.report(child, first_seq, std::move(records), now);
    ranking_.mark(children_.take_touched());
    return acked;
}

}  // namespace weir::priority
