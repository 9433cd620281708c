// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's part in handing jobs down: the facts that HandDown gets of jobs and children, and its moves.
#include <algorithm>
#include <limits>

#include "modules/job-route/route_table.hpp"

namespace weir::route {

/// A job that its user holds stays where it is and takes no place there.
HandDown::Job RouteTable::standing_of(const Entry& entry) const {
    using Standing = HandDown::Standing;
    const Job& job = entry.second;
    HandDown::Job facts;
    if (job.routed() == nullptr) {
        return facts;
    }
    facts.child = job.holder();
    facts.priority = job.priority;
    facts.submit = job.submit;
    facts.cores = job.facts.cores;
    facts.queue = job.facts.queue;
    facts.kind = job.kind;
    facts.user = do_limits_count_users_ ? user_of(job) : 0;
    const bool may_start = job.urgency != 0 && !is_ending(job.progress);
    if (const Given* given = job.given(); given != nullptr && job.routed()->asked.has(AskedOnce::Step::clean)) {
        return {};  // its child has its cores back
    } else if (given != nullptr) {
        facts.standing = has_alloc(job.progress) || given->may_have_alloc ? Standing::busy
                         : may_start                                      ? Standing::ahead
                                                                          : Standing::absent;
        facts.is_there = given->local.value != 0;
        facts.is_held_back = given->is_held_back && facts.standing == Standing::ahead;
    } else if (job.is_unplaced()) {
        const bool is_in_sched = job.progress == Progress::sched && job.priority > 0;
        facts.standing = may_start && is_in_sched && !is_stopped(job) ? Standing::waits : Standing::absent;
    } else {
        facts.standing = may_start ? Standing::asked : Standing::absent;
    }
    facts.whole_nodes = job.facts.whole_nodes;
    facts.held = held_cores(job);
    facts.unfit = unfit_for(entry.first);
    return facts.standing != Standing::absent ? facts : HandDown::Job{};
}

void RouteTable::refile(Entry& entry) {
    hand_down_.set(entry.first, entry.second.filed, standing_of(entry));
    list_running(entry);
}

/// Of its largest node; 0: unknown.
std::int64_t RouteTable::node_cores_of(JobId id) const {
    const auto child = children_.find(id);
    if (child != children_.end() && child->second.node_cores > 0) {
        return child->second.node_cores;
    }
    const KeptPartition* partition = family_of(id);
    return partition != nullptr ? partition->node_cores : 0;
}

/// That a job in a child has, or those that it may get at most.
std::int64_t RouteTable::held_cores(const Job& job) const {
    return job.holder().value == 0 ? 0
           : job.cores > 0         ? job.cores
                           : HandDown::most_cores(job.facts.cores, job.facts.whole_nodes, node_cores_of(job.holder()));
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
    facts.node_cores = node_cores_of(id);
    facts.preference = book_.preference_of(facts.rank);
    if (const KeptPartition* partition = family_of(id); partition != nullptr && !partition->limits.is_empty()) {
        facts.partition = partition->name;
        facts.limits = partition->limits;
    }
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
    const bool do_count_users = std::any_of(partitions_.begin(), partitions_.end(), [](const KeptPartition& partition) {
        return partition.limits.counts_users();
    });
    const bool is_other_count = std::exchange(do_limits_count_users_, do_count_users) != do_count_users;
    if (book_.set(rules) || is_other_count) {
        for (Entry& entry : jobs_) {
            set_kind(entry.second);
            refile(entry);
        }
    }
    for (const auto& [id, child] : children_) {
        refile_child(id, child);
    }
    hand_down_.rules_changed();
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

const KeptPartition* RouteTable::family_of(JobId child) const {
    const auto found = std::find_if(partitions_.begin(), partitions_.end(), [child](const KeptPartition& partition) {
        return partition.job == child ||
               std::find(partition.old.begin(), partition.old.end(), child) != partition.old.end();
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
            words.push_back(word_of(partition, *found));
        }
    }
    return words;
}

/// A limit that does not keep the job away is not mentioned.
PartitionWord RouteTable::word_of(const KeptPartition& partition, const Entry& entry) const {
    const Job& job = entry.second;
    PartitionWord word{
        partition.name, rules_text(partition.rules), misfit_of(partition.rules, job.facts, user_of(job)), {}};
    if (word.misfit || (job.holder().value != 0 && job.holder() == partition.job)) {
        return word;
    }
    const bool is_too_small = job.facts.cores > partition.cores;
    const std::string size = "has " + std::to_string(partition.cores) + (partition.cores == 1 ? " core" : " cores");
    const std::string reason = unfit_text(entry.first, partition.job);
    word.away = is_too_small ? size : !reason.empty() ? "cannot run it: " + reason : partition.away;
    const bool is_there = job.holder().value != 0 && family_of(job.holder()) == &partition;
    word.may_start = !is_there && !is_too_small && reason.empty() && !partition.is_drained;
    const std::uint32_t user = do_limits_count_users_ ? user_of(job) : 0;
    const JobId instance = partition.job;
    const std::int64_t node_cores = instance.value != 0 ? node_cores_of(instance) : partition.node_cores;
    const std::int64_t cores = HandDown::most_cores(job.facts.cores, job.facts.whole_nodes, node_cores);
    if (const auto state = hand_down_.limit_state(partition.name, user, cores); state && !partition.limits.is_empty()) {
        word.limit = limit_text(state->hit, state->running);
    }
    return word;
}

/// The size of a partition that has not attached is unknown: it may be any. A guest's child takes his jobs alone,
/// whatever size it claims to have, so it is none that others can wait for.
HandDown::Takers RouteTable::takers(const HandDown::JobClass& jobs) const {
    HandDown::Takers takers;
    int count = 0;
    const auto add = [&](std::int64_t cores, bool is_place) {
        takers.cores_max = std::max(takers.cores_max, cores);
        count += is_place && cores >= jobs.cores ? 1 : 0;
    };
    const auto has = [&](const std::vector<std::string>& queues) {
        return std::find(queues.begin(), queues.end(), jobs.queue) != queues.end();
    };
    for (const KeptPartition& partition : partitions_) {
        if (partition.has_queue(jobs.queue) && book_.takes(jobs.kind, book_.rank_of(partition.rules))) {
            add(partition.cores, has(partition.queues) && !jobs.is_unfit_for(partition.job));
        }
    }
    const auto is_of_queue = [&](JobId id, const std::vector<std::string>& serves) {
        return (has(serves) || is_lent(id, jobs.queue)) && book_.takes(jobs.kind, rank_of(id));
    };
    for (const auto& [id, child] : children_) {
        if (child.is_trusted && is_of_queue(id, child.serves)) {
            add(child.cores, has(child.serves) && is_place_besides(id) && !jobs.is_unfit_for(id));
        }
    }
    for (const JobId id : hosts_) {
        const Job& host = jobs_.at(id);
        if (host.userid == owner_ && children_.count(id) == 0 && is_of_queue(id, host.facts.serves)) {
            add(std::numeric_limits<std::int64_t>::max(), false);
        }
    }
    takers.is_one = count == 1;
    return takers;
}

// ---- plans ----

HandDown::Rules RouteTable::rules() const {
    return {[this](JobId job, JobId id) {
                const auto child = children_.find(id);
                return child != children_.end() && may_have(child->second, *jobs_.find(job));
            },
            [this](const HandDown::JobClass& jobs) { return takers(jobs); },
            [this](int kind, int rank) { return book_.takes(kind, rank); }};
}

void RouteTable::hand_down() {
    for (const HandDown::Move& move : hand_down_.plan(rules())) {
        Entry& entry = *jobs_.find(move.id);
        if (move.from.value != 0) {
            recall(entry);
        }
        if (move.to.value != 0) {
            assign(entry, move.to);
        }
    }
    for (auto& [id, child] : children_) {
        if (!child.is_complete) {
            prune_first(id, child);
        }
    }
}

/// A job whose old copy ends there is sent after that. One that is no longer for this child is not waited for.
void RouteTable::prune_first(JobId id, Child& child) {
    std::erase_if(child.first, [&](JobId job) {
        const auto entry = jobs_.find(job);
        return entry == jobs_.end() || is_ending(entry->second.progress) ||
               (entry->second.is_unplaced() ? child.stale.count(job) == 0 : entry->second.holder() != id);
    });
    report_if_complete(id, child);
}

ParentActions RouteTable::take() {
    if (is_synced_ && hand_down_.is_due()) {
        settle_held_allocations();
        hand_down();
    }
    return std::exchange(actions_, {});
}

}  // namespace weir::route
