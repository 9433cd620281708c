// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the charges of our own jobs. See accounting.hpp.
#include "modules/job-priority/charges/accounting.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace weir::priority {
namespace {

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
ShareTreePtr with_members(const ShareTree& tree, const std::set<std::string>& paths) {
    std::vector<std::pair<NodeId, std::string>> users;
    for (const std::string& path : paths) {
        const auto parts = account_and_user(path);
        if (const auto account = parts ? tree.find(parts->first) : std::nullopt) {
            users.emplace_back(*account, parts->second);
        }
    }
    return std::make_shared<const ShareTree>(tree.with_members(users));
}

}  // namespace

Accounting::Accounting(StateLog& log, ShareTreePtr tree, const Counting& counting)
    : Accounting(Ledgers(log, std::move(tree), counting)) {}

Result<Accounting> Accounting::restore(StateLog& log, ShareTreePtr tree, const SavedState& saved,
                                       const Counting& counting, Instant now) {
    Result<Ledgers> ledgers = Ledgers::restore(log, with_members(*tree, paths_in(saved)), saved);
    if (!ledgers) {
        return ledgers.error();
    }
    Accounting accounting(std::move(*ledgers));
    accounting.restore_jobs(saved);
    // What happened since the last commit is still to come. Jobs that ended since then were counted as running until
    // now by the old decay; their ends would be taken back by the new one, which takes more or less than they were
    // charged.
    const Instant committed = saved.meta.position;
    accounting.configure(counting, committed == Instant{} ? now : std::min(committed, now));
    return accounting;
}

void Accounting::restore_jobs(const SavedState& saved) {
    for (const auto& [id, row] : saved.running) {
        running_[id] = job_of(tree(), row);
    }
    for (const auto& [key, row] : saved.reported) {
        const RunningJob job = job_of(tree(), row);
        reported_.emplace(key, job);
        if (job.inside != 0) {
            inside_.add(key, job.inside);
        }
    }
    for (const auto& [key, job] : reported_) {
        if (RunningJob* from = lender(key.first, job.inside)) {
            from->given += job.cores;
        }
    }
    closed_.restore(tree(), saved);
    charged_.restore(saved);
}

// ---- our own jobs ----

std::optional<RunningRow> Accounting::row_of_running(FluxJobId id) const {
    const auto found = running_.find(id);
    return found == running_.end() ? std::nullopt : std::optional(row_of(tree(), found->second));
}

std::optional<RunningRow> Accounting::row_of_reported(ReportedKey key) const {
    const auto found = reported_.find(key);
    return found == reported_.end() ? std::nullopt : std::optional(row_of(tree(), found->second));
}

std::optional<ClosedRow> Accounting::row_of_closed(ReportedKey key) const {
    const auto found = closed_.all().find(key);
    return found == closed_.all().end() ? std::nullopt : std::optional(row_of(tree(), found->second));
}

bool Accounting::start(const JobRun& run, NodeId payer, std::int64_t cores, Instant at, const Bill& bill) {
    const auto open = running_.find(run.id);
    if (open != running_.end() && open->second.run.is(run)) {
        if (open->second.run != run) {  // a row of an older version, without times
            open->second.run = run;
            ledgers_.log().mark_running(run.id);
        }
        return false;
    }
    if (charged_.contains(run)) {
        return false;
    }
    if (open != running_.end()) {
        end(run.id, ledgers_.log().meta().position);
    }
    const RunningJob job{.payer = payer, .cores = cores, .start = at, .bill = bill, .run = run};
    running_.emplace(run.id, job);
    ledgers_.open(job);
    ledgers_.log().mark_running(run.id);
    return true;
}

bool Accounting::end(FluxJobId id, Instant at) {
    const auto found = running_.find(id);
    if (found == running_.end()) {
        return false;
    }
    const Instant end_at = std::max(at, found->second.start);
    end_all_of(id, end_at);
    ledgers_.close(found->second, end_at);
    JobRun run = found->second.run;
    run.id = id;
    running_.erase(found);
    ledgers_.log().mark_running(id);
    charged_.add(ledgers_.log(), run, end_at);
    return true;
}

/// The job's charge ends at `pause`; from `start` on `payer` is charged for it.
void Accounting::resume(FluxJobId id, RunningJob& job, Instant pause, NodeId payer, Instant start) {
    ledgers_.close(job, pause);
    job.payer = payer;
    job.departed.clear();
    job.start = start;
    ledgers_.open(job);
    ledgers_.log().mark_running(id);
}

bool Accounting::skip(FluxJobId id, Instant from, Instant to) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.start >= to || found->second.told_until != Instant{}) {
        return false;
    }
    RunningJob& job = found->second;
    resume(id, job, std::max(from, job.start), job.payer, to);
    return true;
}

bool Accounting::move_payer(FluxJobId id, NodeId payer, Instant at) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.payer == payer || found->second.told_until != Instant{}) {
        return false;
    }
    RunningJob& job = found->second;
    at = std::max(at, job.start);
    resume(id, job, at, payer, at);
    return true;
}

bool Accounting::is_charged(const JobRun& run, Instant freed) const {
    return charged_.contains(run) || (running_.count(run.id) == 0 && freed <= ledgers_.log().meta().charged_floor);
}

const RunningJob* Accounting::find(FluxJobId id) const {
    const auto found = running_.find(id);
    return found == running_.end() ? nullptr : &found->second;
}

std::vector<FluxJobId> Accounting::running_ids() const {
    std::vector<FluxJobId> ids;
    ids.reserve(running_.size());
    for (const auto& [id, job] : running_) {
        ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

std::vector<FluxJobId> Accounting::vanished(const std::map<FluxJobId, JobRun>& seen) const {
    std::vector<FluxJobId> vanished = running_ids();
    std::erase_if(vanished, [&](FluxJobId id) {
        const auto known = seen.find(id);
        return known != seen.end() && running_.at(id).run.is(known->second);
    });
    return vanished;
}

// ---- tree and usage ----

std::vector<NodeId> Accounting::rebind(ShareTreePtr tree, Instant at) {
    const ShareTreePtr before = ledgers_.tree_ptr();
    std::vector<NodeId> moved = ledgers_.rebind(std::move(tree), at);
    for (auto& [id, job] : running_) {
        follow_tree(job, *before, moved);
    }
    for (auto& [key, job] : reported_) {
        follow_tree(job, *before, moved);
    }
    closed_.follow(*before, moved);
    charge_returned(at);
    return moved;
}

/// The jobs of leaves that an earlier tree removed and this one has again.
void Accounting::charge_returned(Instant at) {
    std::set<const RunningJob*> returned;
    const auto look = [&](RunningJob& job) {
        if (const NodeId payer = payer_at(tree(), job.departed); !job.departed.empty() && payer != unassociated) {
            job.payer = payer;
            job.departed.clear();
            returned.insert(&job);
            ledgers_.charge_returned(job, at);
        }
    };
    for (const FluxJobId id : running_ids()) {
        look(running_.at(id));
    }
    for (auto& [key, job] : reported_) {
        look(job);
    }
    for (const auto& [key, inner] : reported_) {
        if (const RunningJob* from = lender(key.first, inner.inside); returned.count(from) != 0) {
            ledgers_.lend_returned(*from, inner, at);
        }
    }
}

void Accounting::rewrite(StateLog& log) const {
    for (const auto& [id, job] : running_) {
        log.mark_running(id);
    }
    for (const auto& [key, job] : reported_) {
        log.mark_reported(key);
    }
    for (const auto& [key, closed] : closed_.all()) {
        log.mark_closed(key);
    }
    log.want_checkpoint();
}

void Accounting::each_open(const std::function<void(const RunningJob&, std::int64_t, Instant)>& take) const {
    for (const FluxJobId id : running_ids()) {
        const RunningJob& job = running_.at(id);
        take(job, job.cores, job.start);
    }
    for (const auto& [key, job] : reported_) {
        take(job, job.cores, job.start);
        if (const RunningJob* from = lender(key.first, job.inside)) {
            take(*from, -job.cores, job.start);
        }
    }
}

/// The charges that have not ended, as the site counts them.
std::vector<CountedJob> Accounting::open_jobs() {
    std::vector<CountedJob> open;
    open.reserve(running_.size() + 2 * reported_.size());
    for (const FluxJobId id : running_ids()) {
        open.push_back(Ledgers::counted(running_.at(id)));
    }
    for (const auto& [key, job] : reported_) {
        open.push_back(Ledgers::counted(job));
        if (const RunningJob* from = lender(key.first, job.inside)) {
            open.push_back(Ledgers::counted_lent(*from, job));
        }
    }
    return open;
}

void Accounting::configure(const Counting& counting, Instant at) {
    if (ledgers_.begins_to_count(counting)) {
        // Core-seconds so far are in the usage that is taken over.
        for (auto& [id, job] : running_) {
            if (std::exchange(job.bill.prepaid, {}) != Duration{}) {
                ledgers_.log().mark_running(id);
            }
        }
        for (auto& [key, job] : reported_) {
            if (std::exchange(job.bill.prepaid, {}) != Duration{}) {
                ledgers_.log().mark_reported(key);
            }
        }
    }
    ledgers_.configure(counting, open_jobs(), at);
}

}  // namespace weir::priority
