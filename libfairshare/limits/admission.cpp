// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see admission.hpp.
#include "libfairshare/limits/admission.hpp"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

bool is_of_count(LimitKind kind) {
    return kind == LimitKind::running_jobs || kind == LimitKind::nodes || kind == LimitKind::cores;
}

bool is_of_usage(LimitKind kind) {
    return kind == LimitKind::usage || kind == LimitKind::usage_part || kind == LimitKind::charged ||
           kind == LimitKind::charged_part;
}

template <class Map>
void erase_from(Map& sets, const typename Map::key_type& key, Admission::Id id) {
    const auto place = sets.find(key);
    if (place != sets.end() && place->second.erase(id) != 0 && place->second.empty()) {
        sets.erase(place);
    }
}

/// The first instant after `now` at which the node's usage is below `most` core-seconds, to the microsecond. At
/// constant rates usage only falls or only rises, so a bisection finds it. Nothing: it stays there for 64 half-lives.
std::optional<Instant> first_below(const UsageLedger& ledger, NodeId node, std::uint64_t most, Instant now) {
    const auto is_below = [&](Duration after) {
        return ledger.usage(node, now + after) < CoreMicros{most} * micros_a_second;
    };
    const Duration last = std::min(64 * ledger.half_life(), Instant::max() - now);
    Duration high = std::chrono::seconds{1};
    while (high <= last && !is_below(high)) {
        high *= 2;
    }
    if (high > last) {
        return std::nullopt;
    }
    Duration low{};  // not below, or now
    while (high - low > Duration{1}) {
        const Duration middle = low + (high - low) / 2;
        if (is_below(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return now + high;
}

}  // namespace

void Admission::count(const ShareTree& tree, const Job& job, bool more) {
    if (more) {
        counts_.add_active(tree, job.payer);
    } else {
        counts_.remove_active(tree, job.payer);
    }
    const auto count_in = [&](LimitCounts& counts) {
        if (more) {
            counts.add_running(tree, job.payer, job.size);
        } else {
            counts.remove_running(tree, job.payer, job.size);
        }
    };
    if (counts_as_running(job.state)) {
        count_in(counts_);
    }
    if (job.state == State::admitted || job.state == State::recalled) {
        count_in(reserved_);
    }
    if (job.state == State::admitted) {
        std::uint64_t& waiting = admitted_[job.payer.value];
        waiting = more ? waiting + 1 : waiting - 1;
        if (waiting == 0) {
            admitted_.erase(job.payer.value);
        }
    }
}

std::optional<LimitHit> Admission::submission(const ShareTree& tree, Id id, NodeId payer) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) {
        return counts_.submission(tree, payer);
    }
    const NodeId before = job->second.payer;
    if (before == payer) {
        return std::nullopt;
    }
    counts_.remove_active(tree, before);
    auto hit = counts_.submission(tree, payer);
    counts_.add_active(tree, before);
    return hit;
}

void Admission::note_freed(const ShareTree& tree, const Job& before) {
    if (before.payer == unassociated || !counts_as_running(before.state)) {
        return;
    }
    for (NodeId node = before.payer;; node = tree.parent(node)) {
        freed_.insert(node);
        if (node == root_node) {
            return;
        }
    }
}

void Admission::set(const ShareTree& tree, Id id, const Job& now) {
    const auto [place, is_new] = jobs_.try_emplace(id, now);
    Job& job = place->second;
    if (!is_new) {
        const bool is_as_large =
            now.payer == job.payer && now.size.nodes >= job.size.nodes && now.size.cores >= job.size.cores;
        if (!counts_as_running(now.state) || !is_as_large) {
            note_freed(tree, job);
        }
        unblock(id, job);
        count(tree, job, false);
        job = now;
    }
    count(tree, job, true);
    if (job.state == State::waiting) {
        fresh_.insert(id);
    } else {
        fresh_.erase(id);
        kept_.erase(id);
    }
    if (job.state != State::recalled) {
        recalled_.erase(id);
    }
    touched_.push_back(id);
}

void Admission::park(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    set(tree, id, {payer, job, State::parked});
}

void Admission::pause(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    const auto known = jobs_.find(id);
    if (known == jobs_.end() || !known->second.is_paused || known->second.payer != payer || known->second.size != job) {
        const bool may_be_starting = has_place(id);
        set(tree, id, {payer, job, State::parked, std::nullopt, true});
        if (may_be_starting) {
            recall(tree, id);
        }
    }
}

void Admission::wait(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    const auto known = jobs_.find(id);
    if (known == jobs_.end() || known->second.state == State::parked || known->second.is_paused ||
        known->second.payer != payer || known->second.size != job) {
        const bool keeps = has_place(id);
        set(tree, id, {payer, job, State::waiting});
        if (keeps) {
            kept_.insert(id);
        }
    }
}

bool Admission::has_place(Id id) const {
    const auto known = jobs_.find(id);
    return known != jobs_.end() &&
           (known->second.state == State::admitted || known->second.state == State::recalled || kept_.count(id) != 0);
}

void Admission::keep_admitted(const ShareTree& tree, Id id) {
    const auto known = jobs_.find(id);
    if (known == jobs_.end()) {
        return;
    }
    if (known->second.state == State::waiting) {
        kept_.insert(id);
        fresh_.insert(id);
    } else if (known->second.state == State::parked && known->second.is_paused) {
        recall(tree, id);
    }
}

void Admission::start(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    const auto known = jobs_.find(id);
    const bool is_running = known != jobs_.end() && known->second.state == State::running;
    const bool had_place = is_running || has_place(id);
    set(tree, id, {payer, job, State::running});
    if (!had_place && !admitted_.empty() && counts_.exceeded(tree, payer)) {
        examine_again(tree);
    }
}

void Admission::examine_again(const ShareTree& tree) {
    std::vector<Id> ids;
    for (const auto& [id, job] : jobs_) {
        if (job.state == State::admitted && counts_.exceeded(tree, job.payer)) {
            ids.push_back(id);
        }
    }
    for (const Id id : ids) {
        Job job = jobs_.at(id);
        job.state = State::waiting;
        set(tree, id, job);
        kept_.insert(id);
    }
}

void Admission::remove(const ShareTree& tree, Id id) {
    if (const auto known = jobs_.find(id); known != jobs_.end()) {
        note_freed(tree, known->second);
        unblock(id, known->second);
        count(tree, known->second, false);
        jobs_.erase(known);
        fresh_.erase(id);
        kept_.erase(id);
        recalled_.erase(id);
        touched_.push_back(id);
    }
}

void Admission::clear() {
    *this = Admission();
}

void Admission::recall(const ShareTree& tree, Id id) {
    Job job = jobs_.at(id);
    const std::optional<LimitHit> hit = std::exchange(job.hit, std::nullopt);
    unblock(id, jobs_.at(id));
    job.state = State::recalled;
    set(tree, id, job);
    jobs_.at(id).hit = hit;
    recalled_.insert(id);
}

bool Admission::can_settle(const std::function<bool(Id)>& has_withdrawn) const {
    return std::any_of(recalled_.begin(), recalled_.end(), has_withdrawn);
}

void Admission::settle(const ShareTree& tree, const std::function<bool(Id)>& has_withdrawn) {
    for (const Id id : std::set<Id>(recalled_)) {
        if (has_withdrawn(id)) {
            Job job = jobs_.at(id);
            job.state = job.is_paused ? State::parked : State::waiting;
            job.hit.reset();
            set(tree, id, job);
        }
    }
}

// ---- who waits for what ----

void Admission::block(Id id, Job& job, const LimitHit& hit) {
    unblock(id, job);
    job.hit = hit;
    const Cause cause{hit.node, hit.kind, hit.is_soft};
    if (is_of_count(hit.kind)) {
        by_count_[cause].insert(id);
    } else if (is_of_usage(hit.kind)) {
        by_usage_[cause].insert(id);
    }  // else the job itself is too long, which only a change of it or of the tree ends
    if (hit.is_soft) {
        soft_[job.payer].insert(id);
    }
}

void Admission::unblock(Id id, Job& job) {
    if (!job.hit) {
        return;
    }
    const Cause cause{job.hit->node, job.hit->kind, job.hit->is_soft};
    erase_from(by_count_, cause, id);
    erase_from(by_usage_, cause, id);
    erase_from(soft_, job.payer, id);
    job.hit.reset();
}

std::optional<LimitHit> Admission::hit_at_start(const Scene& scene, const Job& job, LimitRule rule) {
    ++looks_;
    return counts_.start({scene.tree, scene.ledger, scene.now}, job.payer, job.size, rule);
}

std::set<Admission::Id> Admission::take_due(const Scene& scene) {
    std::set<Id> due = std::exchange(fresh_, {});
    for (const NodeId node : std::exchange(freed_, {})) {
        auto waiters = by_count_.lower_bound(Cause{node, LimitKind{}, false});
        while (waiters != by_count_.end() && waiters->first.node == node) {
            const std::set<Id> ids = waiters->second;
            ++waiters;
            due.insert(ids.begin(), ids.end());
            for (const Id id : ids) {
                unblock(id, jobs_.at(id));
            }
        }
    }
    take_due_of_usage(scene, due);
    return due;
}

/// Whether a limit of usage is reached does not depend on the job, so one of its jobs speaks for all.
void Admission::take_due_of_usage(const Scene& scene, std::set<Id>& due) {
    for (auto waiters = by_usage_.begin(); waiters != by_usage_.end();) {
        const Cause cause = waiters->first;
        const std::set<Id> ids = waiters->second;
        ++waiters;
        for (const Id id : ids) {
            Job& job = jobs_.at(id);
            const auto hit = hit_at_start(scene, job, cause.is_soft ? LimitRule::soft : LimitRule::hard);
            if (hit && Cause{hit->node, hit->kind, hit->is_soft} == cause) {
                break;
            }
            unblock(id, job);
            due.insert(id);
        }
    }
}

std::optional<Instant> Admission::usage_allows(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                                               std::optional<Instant> reset) const {
    std::optional<Instant> first;
    for (const auto& [cause, waiters] : by_usage_) {
        const auto limit = tree.limit(cause.node, cause.kind);
        const std::uint64_t most = !limit ? 0 : cause.is_soft && limit->soft ? *limit->soft : limit->hard;
        const bool is_part = cause.kind == LimitKind::usage_part;  // decay does not change parts
        if ((cause.kind != LimitKind::usage && !is_part) || most == 0) {
            continue;  // charges do not decrease, and nothing is below 0
        }
        auto allows = is_part ? std::nullopt : first_below(ledger, cause.node, most, now);
        if (reset && *reset > now && (!allows || *reset < *allows)) {
            allows = reset;
        }
        if (allows && (!first || *allows < *first)) {
            first = allows;
        }
    }
    return first;
}

std::set<Admission::Id> Admission::alone() const {
    std::set<Id> ids;
    if (admitted_.size() > 1) {
        return ids;
    }
    for (const auto& [payer, waiters] : soft_) {
        if (!do_others_wait(payer)) {
            ids.insert(waiters.begin(), waiters.end());
        }
    }
    return ids;
}

bool Admission::do_others_wait(NodeId payer) const {
    return admitted_.size() > 1 || (admitted_.size() == 1 && admitted_.begin()->first != payer.value);
}

// ---- letting in ----

/// Only jobs that no limit refuses are sorted: admitting jobs only tightens the limits.
void Admission::admit(const Scene& scene, const std::set<Id>& ids, LimitRule rule, bool only_alone,
                      std::vector<Id>& in) {
    struct Candidate {
        std::uint64_t priority;
        Id id;
    };
    std::vector<Candidate> fitting;
    for (const Id id : ids) {
        const Job& job = jobs_.at(id);
        if (job.state == State::waiting && !hit_at_start(scene, job, rule)) {
            fitting.push_back({scene.priority_of(id), id});
        }
    }
    std::sort(fitting.begin(), fitting.end(), [](const Candidate& a, const Candidate& b) {
        return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
    });
    for (const Candidate& candidate : fitting) {
        Job job = jobs_.at(candidate.id);
        if ((!only_alone || !do_others_wait(job.payer)) && !hit_at_start(scene, job, rule)) {
            unblock(candidate.id, jobs_.at(candidate.id));
            job.hit.reset();
            job.state = State::admitted;
            set(scene.tree, candidate.id, job);
            in.push_back(candidate.id);
        }
    }
    for (const Id id : ids) {
        Job& job = jobs_.at(id);
        if (job.state != State::waiting || (only_alone && do_others_wait(job.payer))) {
            continue;
        }
        if (const auto hit = hit_at_start(scene, job, rule)) {
            block(id, job, *hit);
        }
    }
}

std::vector<Admission::Id> Admission::admit(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                                            const PriorityOf& priority_of) {
    const Scene scene{tree, ledger, now, priority_of};
    std::vector<Id> in;
    const std::set<Id> due = take_due(scene);
    const std::set<Id> kept = std::exchange(kept_, {});
    admit(scene, kept, LimitRule::hard, false, in);
    for (const Id id : kept) {
        if (jobs_.at(id).state == State::waiting) {
            recall(tree, id);
        }
    }
    admit(scene, due, LimitRule::soft, false, in);
    admit(scene, alone(), LimitRule::hard, true, in);
    changed_ = std::exchange(touched_, {});
    return in;
}

bool Admission::is_held_back(Id id) const {
    const auto known = jobs_.find(id);
    return known != jobs_.end() && (known->second.state == State::waiting || known->second.state == State::parked ||
                                    known->second.state == State::recalled);
}

bool Admission::is_admitted(Id id) const {
    const auto known = jobs_.find(id);
    return known != jobs_.end() && known->second.state == State::admitted;
}

bool Admission::is_running(Id id) const {
    const auto known = jobs_.find(id);
    return known != jobs_.end() && known->second.state == State::running;
}

std::vector<Admission::Id> Admission::admitted() const {
    std::vector<Id> ids;
    for (const auto& [id, job] : jobs_) {
        if (has_place(id)) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::optional<LimitHit> Admission::hit(Id id) const {
    const auto known = jobs_.find(id);
    if (known == jobs_.end() || !known->second.hit) {
        return std::nullopt;
    }
    LimitHit hit = *known->second.hit;
    const bool has_place = known->second.state == State::recalled;
    const auto others = [&](const LimitCounts& counts) -> std::uint64_t {  // it does not hold itself back
        const LimitCounts::Use use = counts.of(hit.node);
        const LimitedJob& own = known->second.size;
        switch (hit.kind) {
            case LimitKind::running_jobs:
                return use.running_jobs - (has_place ? 1 : 0);
            case LimitKind::nodes:
                return use.nodes - (has_place ? own.nodes : 0);
            case LimitKind::cores:
                return use.cores - (has_place ? own.cores : 0);
            default:
                return 0;
        }
    };
    hit.used = others(counts_);
    hit.reserved = others(reserved_);
    return hit;
}

}  // namespace weir
