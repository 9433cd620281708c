// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the charging rules. See accounting.hpp.
#include "modules/job-priority/charges/accounting.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace weir::priority {
namespace {

/// "physics/lattice/@alice" -> ("physics/lattice", "alice"); empty when it is no user's path.
std::optional<std::pair<std::string, std::string>> split_user(const std::string& path) {
    const std::size_t at = path.rfind("/@");
    if (at == std::string::npos) {
        return std::nullopt;
    }
    return std::make_pair(path.substr(0, at), path.substr(at + 2));
}

/// Every user path that the state mentions.
std::set<std::string> paths_in(const SavedState& saved) {
    std::set<std::string> paths;
    for (const PayerState& payer : saved.ledger.payers) {
        paths.insert(payer.path);
    }
    for (const ChargeRow& charge : saved.charges) {
        paths.insert(charge.path);
    }
    for (const auto& [id, row] : saved.running) {
        paths.insert(row.path);
    }
    for (const auto& [key, row] : saved.reported) {
        paths.insert(row.path);
    }
    for (const auto& [key, row] : saved.closed) {
        paths.insert(row.job.path);
    }
    return paths;
}

/// The tree with a leaf for each of `paths` that an `@*` line admits.
ShareTreePtr with_members(ShareTreePtr tree, const std::set<std::string>& paths) {
    std::vector<std::pair<NodeId, std::string>> users;
    for (const std::string& path : paths) {
        const auto parts = split_user(path);
        if (const auto account = parts ? tree->find(parts->first) : std::nullopt) {
            users.emplace_back(*account, parts->second);
        }
    }
    return std::make_shared<const ShareTree>(tree->with_members(users));
}

void post_to(UsageLedger& ledger, NodeId payer, std::int64_t rate, Instant at) {
    if (rate > 0) {
        ledger.start(payer, rate, at);
    } else if (rate < 0) {
        ledger.end(payer, -rate, at);
    }
}

}  // namespace

Accounting::Accounting(StateLog& log, ShareTreePtr tree, const Counting& counting)
    : log_(&log), ledger_(std::move(tree), counting.half_life) {
    if (counting.rules) {
        counted_.emplace(ledger_.tree_ptr(), *counting.rules);
    }
}

Result<Accounting> Accounting::restore(StateLog& log, ShareTreePtr tree, const SavedState& saved,
                                       const Counting& counting, Instant now) {
    tree = with_members(std::move(tree), paths_in(saved));
    Accounting accounting(log, tree, {counting.half_life, {}});
    if (saved.ledger.half_life != Duration{} || !saved.ledger.payers.empty()) {
        Result<UsageLedger> ledger = UsageLedger::restore(tree, saved.ledger);
        if (!ledger) {
            return ledger.error();
        }
        accounting.ledger_ = std::move(*ledger);
    }
    for (const ChargeRow& charge : saved.charges) {
        post_to(accounting.ledger_, payer_at(*tree, charge.path), charge.rate, charge.time);
    }
    const auto job_of = [&tree](const RunningRow& row) {
        return RunningJob{.payer = payer_at(*tree, row.path),
                          .cores = row.cores,
                          .start = row.start,
                          .inside = row.inside,
                          .bill = row.bill,
                          .told_until = row.told_until,
                          .run = row.run};
    };
    for (const auto& [id, row] : saved.running) {
        accounting.running_[id] = job_of(row);
    }
    for (const auto& [key, row] : saved.reported) {
        accounting.reported_[key] = job_of(row);
    }
    for (const auto& [key, row] : saved.closed) {
        accounting.closed_[key] = {job_of(row.job), row.end, row.downlink};
    }
    for (const auto& [key, job] : accounting.reported_) {
        if (RunningJob* giver = accounting.giver(key.first, job.inside)) {
            giver->given += job.cores;
            giver->inner += 1;
        }
    }
    accounting.charged_ = saved.charged;
    accounting.reset_from_ = std::max(saved.ledger.since, saved.meta.position);
    if (const Status restored = accounting.restore_counted(saved); !restored) {
        return restored.error();
    }
    accounting.configure(counting, now);
    return accounting;
}

void Accounting::post(NodeId payer, std::int64_t rate, Instant at) {
    post_to(ledger_, payer, rate, at);
    log_->add_charge({payer_path(tree(), payer), rate, at});
}

RunningRow Accounting::row_of(const RunningJob& job) const {
    return {payer_path(tree(), job.payer), job.cores, job.start, job.inside, job.bill, job.told_until, job.run};
}

bool Accounting::was_charged(const JobRun& run) const {
    return charged_.count(run) != 0 || charged_.count({run.id, {}, {}}) != 0;
}

bool Accounting::start(const JobRun& run, NodeId payer, std::int64_t cores, Instant at, const Bill& bill) {
    const auto open = running_.find(run.id);
    if (open != running_.end() && open->second.run.is(run)) {
        if (open->second.run != run) {  // of an older version: now its times are known
            open->second.run = run;
            log_->put_running(run.id, row_of(open->second));
        }
        return false;
    }
    if (was_charged(run)) {
        return false;
    }
    if (open != running_.end()) {
        end(run.id, log_->meta().position);
    }
    const RunningJob job{.payer = payer, .cores = cores, .start = at, .bill = bill, .run = run};
    running_.emplace(run.id, job);
    post(payer, cores, at);
    count_start(billed(job));
    log_->put_running(run.id, row_of(job));
    return true;
}

bool Accounting::end(FluxJobId id, Instant at) {
    const auto found = running_.find(id);
    if (found == running_.end()) {
        return false;
    }
    const Instant end_at = std::max(at, found->second.start);
    end_inside(id, 0, end_at);
    post(found->second.payer, -found->second.cores, end_at);
    count_end(billed(found->second), end_at);
    JobRun run = found->second.run;
    run.id = id;
    running_.erase(found);
    charged_[run] = end_at;
    log_->put_running(id, std::nullopt);
    log_->put_charged(run, end_at);
    prune_charged();
    return true;
}

bool Accounting::skip(FluxJobId id, Instant from, Instant to) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.start >= to || found->second.told_until != Instant{}) {
        return false;
    }
    RunningJob& job = found->second;
    from = std::max(from, job.start);
    post(job.payer, -job.cores, from);
    count_end(billed(job), from);
    job.start = to;
    post(job.payer, job.cores, to);
    count_start(billed(job));
    log_->put_running(id, row_of(job));
    return true;
}

bool Accounting::is_charged(const JobRun& run, Instant freed) const {
    return was_charged(run) || (running_.count(run.id) == 0 && freed <= log_->meta().charged_floor);
}

const RunningJob* Accounting::find(FluxJobId id) const {
    const auto found = running_.find(id);
    return found == running_.end() ? nullptr : &found->second;
}

std::vector<FluxJobId> Accounting::vanished(const std::map<FluxJobId, JobRun>& seen) const {
    std::vector<FluxJobId> vanished;
    for (const auto& [id, job] : running_) {
        const auto known = seen.find(id);
        if (known == seen.end() || !job.run.is(known->second)) {
            vanished.push_back(id);
        }
    }
    return vanished;
}

void Accounting::prune_charged() {
    if (charged_.size() <= 2 * charged_kept) {
        return;
    }
    std::vector<Instant> ends;
    ends.reserve(charged_.size());
    for (const auto& [run, end_at] : charged_) {
        ends.push_back(end_at);
    }
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(charged_.size() - charged_kept);
    std::nth_element(ends.begin(), middle, ends.end());
    const Instant floor = *middle;
    for (auto entry = charged_.begin(); entry != charged_.end();) {
        if (entry->second < floor) {
            log_->put_charged(entry->first, std::nullopt);
            log_->set_charged_floor(entry->second);
            entry = charged_.erase(entry);
        } else {
            ++entry;
        }
    }
}

NodeId Accounting::admit(const Association& association, const std::string& user) {
    if (association.leaf) {
        return *association.leaf;
    }
    auto grown = tree().with_member(association.account, user);
    if (!grown) {
        return unassociated;
    }
    const NodeId leaf = grown->second;
    extend(std::move(grown->first));
    return leaf;
}

void Accounting::admit(const std::vector<std::pair<NodeId, std::string>>& members) {
    if (!members.empty()) {
        extend(tree().with_members(members));
    }
}

void Accounting::extend(ShareTree grown) {
    ledger_.extend(std::make_shared<const ShareTree>(std::move(grown)));
    if (counted_) {
        counted_->extend(ledger_.tree_ptr());
    }
}

void Accounting::rebind(ShareTreePtr new_tree, Instant at) {
    const std::vector<NodeId> moved = ledger_.rebind(std::move(new_tree), at);
    if (counted_) {
        counted_->rebind(ledger_.tree_ptr(), at);
    }
    const auto follow = [&moved](NodeId& payer) { payer = is_in_tree(payer) ? moved.at(payer.value) : payer; };
    for (auto& [id, job] : running_) {
        follow(job.payer);
    }
    for (auto& [key, job] : reported_) {
        follow(job.payer);
    }
    for (auto& [key, closed] : closed_) {
        follow(closed.job.payer);
    }
}

void Accounting::rewrite(StateLog& log) const {
    for (const auto& [id, job] : running_) {
        log.put_running(id, row_of(job));
    }
    for (const auto& [key, job] : reported_) {
        log.put_reported(key, row_of(job));
    }
    for (const auto& [key, closed] : closed_) {
        log.put_closed(key, ClosedRow{row_of(closed.job), closed.end, closed.downlink});
    }
    log.want_checkpoint();
}

void Accounting::reset_due(ResetPeriod period, Instant at, Duration utc_offset) {
    const Instant from = std::exchange(reset_from_, std::max(reset_from_, at));
    if (period == ResetPeriod::none || period == ResetPeriod::now) {
        return;
    }
    const std::optional<Instant> boundary = period_start(period, at, utc_offset);
    if (boundary && *boundary > from) {
        reset(*boundary);
    }
}

void Accounting::reset(Instant at) {
    ledger_.reset(at);
    if (counted_) {
        counted_->reset(at);
    }
    log_->want_checkpoint();
}

LedgerCheckpoint Accounting::checkpoint() const {
    return {ledger_.save(), counted_ ? counted_->save() : CountedUsageState{}};
}

}  // namespace weir::priority
