// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see admission.hpp.
#include "libfairshare/limits/admission.hpp"

#include <algorithm>

namespace weir {

void Admission::count(const ShareTree& tree, const Job& job, bool more) {
    more ? counts_.add_active(tree, job.payer) : counts_.remove_active(tree, job.payer);
    if (job.state == State::let_in || job.state == State::running) {
        more ? counts_.add_running(tree, job.payer, job.size) : counts_.remove_running(tree, job.payer, job.size);
    }
    if (job.state == State::let_in) {
        std::uint64_t& waiting = let_in_[job.payer.value];
        waiting = more ? waiting + 1 : waiting - 1;
        if (waiting == 0) {
            let_in_.erase(job.payer.value);
        }
    }
}

void Admission::set(const ShareTree& tree, Id id, const Job& now) {
    const auto [place, is_new] = jobs_.try_emplace(id, now);
    if (!is_new) {
        count(tree, place->second, false);
        place->second = now;
    }
    count(tree, now, true);
}

void Admission::park(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    set(tree, id, {payer, job, State::parked, std::nullopt, false});
}

void Admission::wait(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    const auto known = jobs_.find(id);
    if (known == jobs_.end() || known->second.state == State::parked || known->second.payer != payer ||
        known->second.size != job) {
        const bool keeps = known != jobs_.end() && (known->second.state == State::let_in || known->second.keeps_place);
        set(tree, id, {payer, job, State::waiting, std::nullopt, keeps});
    }
}

void Admission::keep_place(Id id) {
    if (const auto known = jobs_.find(id); known != jobs_.end() && known->second.state == State::waiting) {
        known->second.keeps_place = true;
    }
}

void Admission::start(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job) {
    set(tree, id, {payer, job, State::running, std::nullopt, false});
}

void Admission::remove(const ShareTree& tree, Id id) {
    if (const auto known = jobs_.find(id); known != jobs_.end()) {
        count(tree, known->second, false);
        jobs_.erase(known);
    }
}

void Admission::clear() {
    jobs_.clear();
    let_in_.clear();
    counts_.clear();
}

bool Admission::do_others_wait(NodeId payer) const {
    return std::any_of(let_in_.begin(), let_in_.end(), [payer](const auto& one) { return one.first != payer.value; });
}

bool Admission::is_due(const Job& job, Turn turn) const {
    return job.state == State::waiting &&
           (turn == Turn::soft || (turn == Turn::kept && job.keeps_place) ||
            (turn == Turn::alone && job.hit && job.hit->is_soft && !do_others_wait(job.payer)));
}

/// Only who is refused by nothing is sorted: while jobs are let in, room gets less.
void Admission::let_in(const ShareTree& tree, const UsageLedger& ledger, Instant now, const PriorityOf& priority_of,
                       Turn turn, std::vector<Id>& in) {
    const LimitRule rule = turn == Turn::soft ? LimitRule::soft : LimitRule::hard;
    struct Candidate {
        std::uint64_t priority;
        Id id;
    };
    std::vector<Candidate> fitting;
    for (const auto& [id, job] : jobs_) {
        if (is_due(job, turn) && !counts_.start(tree, job.payer, job.size, ledger, now, rule)) {
            fitting.push_back({priority_of(id), id});
        }
    }
    std::sort(fitting.begin(), fitting.end(), [](const Candidate& a, const Candidate& b) {
        return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
    });
    for (const Candidate& candidate : fitting) {
        Job job = jobs_.at(candidate.id);
        if (is_due(job, turn) && !counts_.start(tree, job.payer, job.size, ledger, now, rule)) {
            job.hit.reset();
            job.state = State::let_in;
            set(tree, candidate.id, job);
            in.push_back(candidate.id);
        }
    }
    for (auto& [id, job] : jobs_) {
        if (is_due(job, turn)) {
            job.hit = counts_.start(tree, job.payer, job.size, ledger, now, rule);
        }
        job.keeps_place = false;  // it has one now, or there is no room for it any more
    }
}

std::vector<Admission::Id> Admission::let_in(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                                             const PriorityOf& priority_of) {
    std::vector<Id> in;
    for (const Turn turn : {Turn::kept, Turn::soft, Turn::alone}) {
        let_in(tree, ledger, now, priority_of, turn, in);
    }
    return in;
}

bool Admission::is_held_back(Id id) const {
    const auto known = jobs_.find(id);
    return known != jobs_.end() && known->second.state == State::waiting;
}

bool Admission::is_let_in(Id id) const {
    const auto known = jobs_.find(id);
    return known != jobs_.end() && known->second.state == State::let_in;
}

std::vector<Admission::Id> Admission::places() const {
    std::vector<Id> ids;
    for (const auto& [id, job] : jobs_) {
        if (job.state == State::let_in) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::optional<LimitHit> Admission::hit(Id id) const {
    const auto known = jobs_.find(id);
    return known == jobs_.end() ? std::nullopt : known->second.hit;
}

}  // namespace weir
