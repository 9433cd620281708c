// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's jobs that a child refuses, as its scheduler or its own policy says: where else they may go, and
// what is said when no place is left.
#include <algorithm>

#include "modules/job-route/route_table.hpp"

namespace weir::route {

bool RouteTable::is_unfit_for(JobId job, JobId child) const {
    const auto found = unfit_.find(job);
    return found != unfit_.end() && found->second.count(child) > 0;
}

std::vector<JobId> RouteTable::unfit_for(JobId job) const {
    std::vector<JobId> children;
    if (const auto found = unfit_.find(job); found != unfit_.end()) {
        for (const auto& [child, note] : found->second) {
            children.push_back(child);
        }
    }
    return children;
}

std::string RouteTable::unfit_text(JobId job, JobId child) const {
    return is_unfit_for(job, child) ? unfit_.at(job).at(child) : std::string();
}

/// A child of the owner that is no partition and gets jobs.
bool RouteTable::is_place_besides(JobId child) const {
    return kept(child) == nullptr && drained_.count(child) == 0;
}

/// Whether a place is left that takes the job, is large enough, and has not said that it cannot run it. One that is
/// down now may come back, and so counts. One that only lends counts if it has an instance.
bool RouteTable::has_other_place(const Entry& entry) const {
    const auto& [id, job] = entry;
    const auto has = [&queue = job.facts.queue](const std::vector<std::string>& queues) {
        return std::find(queues.begin(), queues.end(), queue) != queues.end();
    };
    for (const KeptPartition& partition : partitions_) {
        const bool is_for_it = has(partition.queues) || (has(partition.overflow) && children_.count(partition.job) > 0);
        if (is_for_it && partition.cores >= job.facts.cores && book_.takes(job.kind, book_.rank_of(partition.rules)) &&
            !is_unfit_for(id, partition.job)) {
            return true;
        }
    }
    const auto is_place = [&, id = id, &job = job](JobId child, const std::vector<std::string>& serves) {
        return is_place_besides(child) && has(serves) && book_.takes(job.kind, rank_of(child)) &&
               !is_unfit_for(id, child);
    };
    for (const auto& [child, facts] : children_) {
        const bool is_large = facts.cores == 0 || facts.cores >= job.facts.cores;
        if (facts.is_trusted && is_large && is_place(child, facts.serves)) {
            return true;
        }
    }
    return std::any_of(hosts_.begin(), hosts_.end(), [&](JobId child) {
        const Job& host = jobs_.at(child);
        return host.userid == owner_ && children_.count(child) == 0 && host.facts.partition.empty() &&
               is_place(child, host.facts.serves);
    });
}

/// The child's copy ends by itself, and the child reports that. \return whether another child may run the job.
bool RouteTable::try_others(Child& child, Entry& entry, const std::string& note) {
    const JobId holder = entry.second.given()->child;
    unfit_[entry.first].insert_or_assign(holder, note);
    if (!has_other_place(entry)) {
        return false;
    }
    child.stale.insert(entry.first);
    take_back(entry);
    return true;
}

/// A sentence is about its own instance. \return what each child said, in the order of the partitions.
std::string RouteTable::why_unfit(const Entry& entry) const {
    std::map<JobId, std::string> left = unfit_.at(entry.first);
    std::vector<std::string> reasons;
    for (const KeptPartition& partition : partitions_) {
        if (const auto said = left.find(partition.job); said != left.end()) {
            reasons.push_back("in the partition " + partition.name + ": " + said->second);
            left.erase(said);
        } else if (partition.has_queue(entry.second.facts.queue) && partition.cores < entry.second.facts.cores) {
            reasons.push_back("the partition " + partition.name + " has " + std::to_string(partition.cores) +
                              (partition.cores == 1 ? " core" : " cores"));
        }
    }
    for (const auto& [child, said] : left) {
        const std::string name = partition_of(child);
        reasons.push_back(name.empty() ? said : "in the partition " + name + ": " + said);
    }
    std::string text;
    for (const std::string& reason : reasons) {
        text += (text.empty() ? "" : "; ") + reason;
    }
    return text;
}

/// Its answer may be another one now.
void RouteTable::forget_unfit(JobId child) {
    for (auto next = unfit_.begin(); next != unfit_.end();) {
        const auto unfit = next++;
        if (unfit->second.erase(child) == 0) {
            continue;
        }
        const JobId job = unfit->first;
        if (unfit->second.empty()) {
            unfit_.erase(unfit);
        }
        if (const auto entry = jobs_.find(job); entry != jobs_.end()) {
            refile(*entry);
        }
    }
}

}  // namespace weir::route
