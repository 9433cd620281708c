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

Accounting::Accounting(ShareTreePtr tree, const Counting& counting) : ledger_(std::move(tree), counting.half_life) {
    if (counting.rules) {
        counted_.emplace(ledger_.tree_ptr(), *counting.rules);
    }
}

Result<Accounting> Accounting::restore(ShareTreePtr tree, const SavedState& saved, const Counting& counting,
                                       Instant now) {
    tree = with_members(std::move(tree), paths_in(saved));
    Accounting accounting(tree, {counting.half_life, {}});
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
    accounting.meta_ = saved.meta;
    accounting.reset_from_ = std::max(saved.ledger.since, saved.meta.position);
    accounting.charges_since_checkpoint_ = saved.charges.size();
    if (const Status restored = accounting.restore_counted(saved); !restored) {
        return restored.error();
    }
    accounting.configure(counting, now);
    return accounting;
}

void Accounting::post(NodeId payer, std::int64_t rate, Instant at) {
    post_to(ledger_, payer, rate, at);
    batch_.charges.push_back({payer_path(tree(), payer), rate, at});
    charges_since_checkpoint_ += 1;
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
            batch_.running[run.id] = row_of(open->second);
        }
        return false;
    }
    if (was_charged(run)) {
        return false;
    }
    if (open != running_.end()) {
        end(run.id, meta_.position);
    }
    const RunningJob job{.payer = payer, .cores = cores, .start = at, .bill = bill, .run = run};
    running_.emplace(run.id, job);
    post(payer, cores, at);
    count_start(billed(job));
    batch_.running[run.id] = row_of(job);
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
    batch_.running[id] = std::nullopt;
    batch_.charged[run] = end_at;
    prune_charged();
    return true;
}

bool Accounting::is_charged(const JobRun& run, Instant freed) const {
    return was_charged(run) || (running_.count(run.id) == 0 && freed <= meta_.charged_floor);
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
            batch_.charged[entry->first] = std::nullopt;
            meta_.charged_floor = std::max(meta_.charged_floor, entry->second);
            entry = charged_.erase(entry);
        } else {
            ++entry;
        }
    }
    batch_.meta = meta_;
}

NodeId Accounting::leaf_of(const Association& association, const std::string& user) {
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

void Accounting::follow(const std::vector<NodeId>& moved) {
    const auto move = [&moved](NodeId& payer) { payer = is_in_tree(payer) ? moved.at(payer.value) : payer; };
    for (auto& [id, job] : running_) {
        move(job.payer);
        batch_.running[id] = row_of(job);
    }
    for (auto& [key, job] : reported_) {
        move(job.payer);
        batch_.reported[key] = row_of(job);
    }
    for (auto& [key, closed] : closed_) {
        move(closed.job.payer);
        batch_.closed[key] = ClosedRow{row_of(closed.job), closed.end, closed.downlink};
    }
}

std::vector<NodeId> Accounting::rebind(ShareTreePtr new_tree, Instant at) {
    std::vector<NodeId> moved = ledger_.rebind(std::move(new_tree), at);
    if (counted_) {
        counted_->rebind(ledger_.tree_ptr(), at);
    }
    follow(moved);
    is_checkpoint_due_ = true;
    return moved;
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
    is_checkpoint_due_ = true;
}

void Accounting::set_position(Instant at) {
    if (at > meta_.position) {
        meta_.position = at;
        batch_.meta = meta_;
    }
}

StateBatch Accounting::take() {
    if (charges_since_checkpoint_ >= charges_per_checkpoint) {
        is_checkpoint_due_ = true;
    }
    if (is_checkpoint_due_) {
        batch_.checkpoint = ledger_.save();
        batch_.charges.clear();
        batch_.counted = counted_ ? counted_->save() : CountedUsageState{};
        batch_.counted_events.clear();
        charges_since_checkpoint_ = 0;
        is_checkpoint_due_ = false;
    }
    if (!batch_.is_empty()) {
        batch_.meta = meta_;
    }
    return std::exchange(batch_, StateBatch{});
}

void Accounting::untake(StateBatch batch) {
    StateBatch newer = std::exchange(batch_, std::move(batch));  // only take() makes a checkpoint: there is none in it
    const auto append = [](auto& into, auto& from) { into.insert(into.end(), from.begin(), from.end()); };
    append(batch_.charges, newer.charges);
    append(batch_.counted_events, newer.counted_events);
    append(batch_.revisions, newer.revisions);
    const auto merge = [](auto& into, auto& from) {
        for (auto& [key, value] : from) {
            into.insert_or_assign(key, std::move(value));
        }
    };
    merge(batch_.running, newer.running);
    merge(batch_.charged, newer.charged);
    merge(batch_.reported, newer.reported);
    merge(batch_.downlinks, newer.downlinks);
    merge(batch_.closed, newer.closed);
    merge(batch_.uplink, newer.uplink);
    merge(batch_.site, newer.site);
    batch_.uplink_acked = std::max(batch_.uplink_acked, newer.uplink_acked);
    batch_.meta = meta_;
}

}  // namespace weir::priority
