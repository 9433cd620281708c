// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf_ranking.hpp.
#include "libsched/order/lsf_ranking.hpp"

#include <algorithm>
#include <limits>

namespace weir {
namespace {

double committed_h(const LsfRanking::Job& job) {
    return job.limit == Duration::max() ? 0. : to_seconds(job.limit) / 3600 * job.slots;
}

}  // namespace

LsfRanking::LsfRanking(const PolicySettings& settings) : policy_(settings.lsf), queue_priorities_(settings.queues) {}

std::uint32_t LsfRanking::queue(const std::string& name) {
    const auto [known, is_new] = queue_index_.try_emplace(name, static_cast<std::uint32_t>(queues_.size()));
    if (is_new) {
        const auto priority = queue_priorities_.find(name);
        const auto own = policy_.queue_factors.find(name);
        const auto group =
            own == policy_.queue_factors.end() ? 0 : std::distance(policy_.queue_factors.begin(), own) + 1;
        queues_.push_back({priority == queue_priorities_.end() ? 0. : priority->second,
                           static_cast<std::uint32_t>(group), lsf_factors_of(policy_, name)});
    }
    return known->second;
}

void LsfRanking::put(JobId id, const Job& job) {
    if (id.value >= jobs_.size()) {
        jobs_.resize(id.value + 1);
    }
    jobs_[id.value] = job;
    waiting_.insert_or_assign(job.place, id);
}

void LsfRanking::remove(JobId id) {
    if (id.value >= jobs_.size()) {
        return;
    }
    if (const auto at = waiting_.find(jobs_[id.value].place); at != waiting_.end() && at->second == id) {
        waiting_.erase(at);
        values_.forget(id);
    }
}

void LsfRanking::order_by_users(const Use& use) {
    std::map<std::pair<double, std::uint32_t>, std::vector<JobId>> groups;
    for (const auto& [place, id] : waiting_) {
        const Queue& queue = queues_[jobs_[id.value].queue];
        groups[{-queue.priority, queue.group}].push_back(id);
    }
    for (const auto& [group, ids] : groups) {
        LsfDispatch dispatch(use.tree, queues_[jobs_[ids.front().value].queue].factors, use.use);
        std::vector<JobId> shareless;  // LSF refuses jobs of users without shares; here they come last
        for (const JobId id : ids) {
            const Job& job = jobs_[id.value];
            if (const NodeId leaf = use.leaf(job.payer); leaf != unassociated) {
                dispatch.submit({leaf, job.place, job.slots, committed_h(job)});
            } else {
                shareless.push_back(id);
            }
        }
        while (const auto next = dispatch.next()) {
            order_.push_back(waiting_.at(next->order));
        }
        order_.insert(order_.end(), shareless.begin(), shareless.end());
    }
}

std::array<double, aps_parts> LsfRanking::aps_values(const Job& job, NodeId leaf, const LsfDispatch& users) const {
    std::array<double, aps_parts> parts{};
    parts[static_cast<std::size_t>(ApsPart::fs)] = leaf == unassociated ? 0. : users.priority(leaf);
    parts[static_cast<std::size_t>(ApsPart::proc)] = job.slots;
    parts[static_cast<std::size_t>(ApsPart::mem)] = job.memory_mib;
    parts[static_cast<std::size_t>(ApsPart::jprio)] = job.job_priority;
    parts[static_cast<std::size_t>(ApsPart::qprio)] = queues_[job.queue].priority;
    return parts;
}

void LsfRanking::order_by_aps(const Use& use, Instant now) {
    const LsfDispatch users(use.tree, policy_.factors, use.use);
    std::vector<std::pair<double, JobId>> values;
    for (const auto& [place, id] : waiting_) {
        const Job& job = jobs_[id.value];
        values.emplace_back(
            aps_value(*policy_.aps, aps_values(job, use.leaf(job.payer), users), now - job.since, job.admin), id);
    }
    std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [value, id] : values) {
        order_.push_back(id);
    }
}

void LsfRanking::prioritize(const Use& use, Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    order_.clear();
    if (policy_.aps) {
        order_by_aps(use, now);
    } else {
        order_by_users(use);
    }
    values_.assign(order_, changed);
}

std::optional<Course> LsfRanking::course(JobId id, const Use& use) const {
    if (!policy_.aps) {
        return std::nullopt;
    }
    const Job& job = jobs_[id.value];
    const auto values = aps_values(job, use.leaf(job.payer), LsfDispatch(use.tree, policy_.factors, use.use));
    Course course;
    course.is_rounded = false;
    course.number = [rule = *policy_.aps, values, job](Instant at) {
        return aps_value(rule, values, at - job.since, job.admin);
    };
    course.slope = [rule = *policy_.aps, since = job.since](Instant from, Instant to) {
        const bool jumps = std::any_of(rule.parts.begin(), rule.parts.end(), [&](const ApsRule::Part& part) {
            return part.grace > Duration::zero() && from - since <= part.grace && to - since > part.grace;
        });
        constexpr double any = std::numeric_limits<double>::infinity();
        return jumps ? Slope{-any, any} : Slope{};
    };
    return course;
}

// ---- in words ----

OrderTerms LsfRanking::explain_aps(const Job& job, const Use& use, Instant now) const {
    const std::array<double, aps_parts> values =
        aps_values(job, use.leaf(job.payer), LsfDispatch(use.tree, policy_.factors, use.use));
    const std::array<const char*, aps_parts> units{"priority", "", "", "slots", "MiB", "MiB", "urgency", "priority"};
    const Duration waited = now - job.since;
    ApsRule open = *policy_.aps;  // the limits of sums are terms of their own
    open.parts[static_cast<std::size_t>(ApsPart::rsrc)].limit = 0;
    open.parts[static_cast<std::size_t>(ApsPart::work)].limit = 0;
    OrderTerms out;
    for (std::size_t i = 0; i < aps_parts; i++) {
        const auto part = static_cast<ApsPart>(i);
        if (part == ApsPart::rsrc || part == ApsPart::work || policy_.aps->parts[i].weight == 0) {
            continue;
        }
        std::array<double, aps_parts> alone{};
        alone[i] = values[i];
        out.terms.push_back({std::string(aps_part_names[i]), values[i], units[i], policy_.aps->parts[i].weight,
                             aps_value(open, alone, waited)});
    }
    for (const auto sum : {ApsPart::rsrc, ApsPart::work}) {
        const auto i = static_cast<std::size_t>(sum);
        if (const double limit = policy_.aps->parts[i].limit; limit > 0) {
            ApsRule without = *policy_.aps;
            without.parts[i].limit = 0;
            out.terms.push_back({std::string(aps_part_names[i]) + " cap", limit, "", 1,
                                 aps_value(*policy_.aps, values, waited) - aps_value(without, values, waited)});
        }
    }
    out.terms.push_back({"admin", job.admin, "value", 1, job.admin});
    out.sum = aps_value(*policy_.aps, values, waited, job.admin);
    out.words.push_back("Its absolute priority is " + order_number(out.sum) +
                        ": the sum of the terms, each at most its limit and 0 until its grace period is over.");
    return out;
}

OrderTerms LsfRanking::explain(JobId id, const Use& use, Instant now) const {
    const Job& job = jobs_[id.value];
    if (policy_.aps) {
        return explain_aps(job, use, now);
    }
    const Queue& queue = queues_[job.queue];
    const LsfFactors& f = queue.factors;
    OrderTerms out;
    out.words.push_back("Its queue's priority is " + order_number(queue.priority) +
                        ": jobs of queues with a higher priority go first, whatever their users have used.");
    const NodeId leaf = use.leaf(job.payer);
    if (leaf == unassociated) {
        out.words.emplace_back(
            "Its user has no shares: within its queue it comes after all jobs of users with shares.");
        return out;
    }
    const DynamicUse used = use.use.empty() ? DynamicUse{} : use.use[leaf.value];
    const double outstanding =
        used.committed_run_time_h > 0 ? std::max(used.committed_run_time_h - used.run_time_h, 0.) : 0.;
    const auto add = [&](const char* name, double raw, const char* unit, double weight) {
        out.terms.push_back({name, raw, unit, weight, raw * weight});
        out.sum += raw * weight;
    };
    add("cpu-time", used.cpu_time_h, "h", f.cpu_time);
    add("run-time", used.hist_run_time_h + used.run_time_h, "h", f.run_time);
    add("committed-run-time", outstanding, "h", f.committed_run_time);
    add("slots", 1 + used.job_slots, "slots and one", f.run_job);
    const double shares = use.tree.shares(leaf);
    out.words.push_back("Its share account's dynamic priority is " + order_number(lsf_priority(shares, used, f)) +
                        ": " + order_number(shares) + (shares == 1 ? " share over " : " shares over ") +
                        order_number(out.sum) +
                        ", the sum of the terms. It falls with each dispatched job of the account.");
    return out;
}

std::string LsfRanking::lead(JobId own_id, JobId other_id, const Use& use, Instant now) const {
    const Job& own = jobs_[own_id.value];
    const Job& other = jobs_[other_id.value];
    if (policy_.aps) {
        return order_lead("its absolute priority", explain_aps(own, use, now), explain_aps(other, use, now));
    }
    const Queue& queue = queues_[own.queue];
    const Queue& others = queues_[other.queue];
    if (queue.priority != others.priority) {
        return "its queue's priority is " + order_number(others.priority) + " against " + order_number(queue.priority);
    }
    if (queue.group != others.group) {
        return "its queue, of the same priority, is dispatched before this job's, which has factors of its own";
    }
    const NodeId own_leaf = use.leaf(own.payer);
    const NodeId other_leaf = use.leaf(other.payer);
    if (own_leaf == other_leaf) {
        return "it is of the same share account and was submitted earlier";
    }
    if (own_leaf == unassociated) {
        return "this job has no shares";
    }
    const std::vector<NodeId> mine = use.tree.lineage(own_leaf);
    const std::vector<NodeId> theirs = use.tree.lineage(other_leaf);
    std::size_t parting = 0;
    while (mine[parting] == theirs[parting]) {
        parting++;
    }
    const LsfDispatch dispatch(use.tree, queue.factors, use.use);
    const double ours = dispatch.priority(mine[parting]);
    const double its = dispatch.priority(theirs[parting]);
    const std::string accounts = use.tree.path(theirs[parting]) + " has " + order_number(its) + ", " +
                                 use.tree.path(mine[parting]) + " " + order_number(ours);
    return its > ours ? "its share account's dynamic priority is higher: " + accounts
                      : "its share account is next, after the dispatches ahead; before them " + accounts;
}

}  // namespace weir
