// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's part in handing jobs down: what HandDown is told of jobs and children, and its moves.
#include <algorithm>
#include <limits>

#include "modules/job-route/route_table.hpp"

namespace weir::route {

/// One whose user holds it stays where it is and takes no place there.
HandDown::Job RouteTable::standing_of(const Entry& entry) const {
    using Standing = HandDown::Standing;
    const Job& job = entry.second;
    HandDown::Job facts;
    if (job.routed() == nullptr) {
        return facts;
    }
    facts.child = job.holder();
    facts.priority = job.priority;
    facts.cores = job.facts.cores;
    facts.queue = job.facts.queue;
    facts.kind = job.kind;
    const bool may_start = job.urgency != 0 && !is_ending(job.progress);
    if (const Given* given = job.given(); given != nullptr && job.routed()->asked.has(AskedOnce::Step::clean)) {
        return {};  // its child has its cores back
    } else if (given != nullptr) {
        facts.standing = has_alloc(job.progress) || given->may_have_alloc ? Standing::busy
                         : may_start                                      ? Standing::ahead
                                                                          : Standing::absent;
        facts.is_there = given->local.value != 0;
    } else if (job.is_unplaced()) {
        const bool is_in_sched = job.progress == Progress::sched && job.priority > 0;
        facts.standing = may_start && is_in_sched ? Standing::waits : Standing::absent;
    } else {
        facts.standing = may_start ? Standing::asked : Standing::absent;
    }
    return facts.standing != Standing::absent ? facts : HandDown::Job{};
}

void RouteTable::refile(const Entry& entry) {
    hand_down_.set(entry.first, standing_of(entry));
}

void RouteTable::refile_child(JobId id, const Child& child) {
    HandDown::ChildFacts facts;
    facts.serves = child.serves;
    facts.cores = child.cores;
    facts.own_cores = child.own_cores;
    facts.is_open = child.is_attached && drained_.count(id) == 0;
    if (const KeptPartition* partition = kept(id)) {
        facts.overflow = partition->overflow;
    }
    facts.rank = rank_of(id);
    hand_down_.set_child(id, facts);
}

// ---- partitions and their rules ----

bool KeptPartition::has_queue(const std::string& queue) const {
    return std::find(queues.begin(), queues.end(), queue) != queues.end() ||
           std::find(overflow.begin(), overflow.end(), queue) != overflow.end();
}

bool RouteTable::set_partitions(std::vector<KeptPartition> partitions) {
    if (std::exchange(partitions_, std::move(partitions)) == partitions_) {
        return false;
    }
    std::vector<PartitionRules> rules;
    for (const KeptPartition& partition : partitions_) {
        rules.push_back(partition.rules);
    }
    if (book_.set(rules)) {
        for (Entry& entry : jobs_) {
            set_kind(entry.second);
            refile(entry);
        }
    }
    for (const auto& [id, child] : children_) {
        refile_child(id, child);
    }
    hand_down_.recheck();
    return true;
}

/// The rules look at the user who submitted the job at the top.
void RouteTable::set_kind(Job& job) {
    job.kind = book_.kind_of(job.facts, user_of(job));
}

std::uint32_t RouteTable::user_of(const Job& job) const {
    return job.facts.upstream != 0 && has_parent_ ? job.facts.upstream_userid : job.userid;
}

const KeptPartition* RouteTable::kept(JobId child) const {
    const auto found = std::find_if(partitions_.begin(), partitions_.end(), [child](const KeptPartition& partition) {
        return partition.job == child && child.value != 0;
    });
    return found != partitions_.end() ? &*found : nullptr;
}

/// A child that is no partition takes all jobs.
int RouteTable::rank_of(JobId child) const {
    const KeptPartition* partition = kept(child);
    return book_.rank_of(partition != nullptr ? partition->rules : PartitionRules{});
}

bool RouteTable::is_lent(JobId child, const std::string& queue) const {
    const KeptPartition* partition = kept(child);
    return partition != nullptr &&
           std::find(partition->overflow.begin(), partition->overflow.end(), queue) != partition->overflow.end();
}

std::vector<PartitionWord> RouteTable::words_of(JobId id) const {
    std::vector<PartitionWord> words;
    const auto found = jobs_.find(id);
    for (const KeptPartition& partition : partitions_) {
        if (found != jobs_.end() && partition.has_queue(found->second.facts.queue)) {
            words.push_back({partition.name, rules_text(partition.rules),
                             misfit_of(partition.rules, found->second.facts, user_of(found->second))});
        }
    }
    return words;
}

/// A partition that has not attached, or not yet, may be any size.
std::int64_t RouteTable::ceiling(const std::string& queue, int kind) const {
    std::int64_t cores = 0;
    for (const KeptPartition& partition : partitions_) {
        if (partition.has_queue(queue) && book_.takes(kind, book_.rank_of(partition.rules))) {
            cores = std::max(cores, partition.cores);
        }
    }
    for (const JobId id : hosts_) {
        const auto child = children_.find(id);
        const auto& serves = child != children_.end() ? child->second.serves : jobs_.at(id).facts.serves;
        const bool is_of_queue = std::find(serves.begin(), serves.end(), queue) != serves.end() || is_lent(id, queue);
        if (!is_of_queue || !book_.takes(kind, rank_of(id))) {
            continue;
        }
        if (child == children_.end()) {
            return std::numeric_limits<std::int64_t>::max();
        }
        cores = std::max(cores, child->second.cores);
    }
    return cores;
}

// ---- plans ----

HandDown::Rules RouteTable::rules() const {
    return {[this](JobId job, JobId id) {
                const auto child = children_.find(id);
                return child != children_.end() && can_serve(id, child->second, *jobs_.find(job));
            },
            [this](const std::string& queue, int kind) { return ceiling(queue, kind); },
            [this](int kind, int rank) { return book_.takes(kind, rank); }};
}

void RouteTable::hand_down() {
    for (const HandDown::Move& move : hand_down_.plan(rules())) {
        Entry& entry = *jobs_.find(move.id);
        if (move.from.value != 0) {
            recall(entry);
        }
        if (move.to.value != 0) {
            give(entry, move.to);
        }
    }
}

ParentActions RouteTable::take() {
    if (is_synced_ && hand_down_.is_due()) {
        hand_down();
    }
    return std::exchange(actions_, {});
}

}  // namespace weir::route
