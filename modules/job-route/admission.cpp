// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see admission.hpp.
#include "modules/job-route/admission.hpp"

#include <algorithm>

#include "modules/job-route/partition_json.hpp"

namespace weir::route {
namespace {

/// No job of it is larger than the partition itself.
PartitionRules size_of(const PartitionSpec& spec) {
    PartitionRules size;
    size.cores.most = spec.cores_in_all();
    if (spec.nodes > 0) {
        size.nodes.most = spec.nodes;
    }
    return size;
}

}  // namespace

void Admission::set_partitions(const json_t* array, const json_t* users) {
    if (auto specs = decode_partitions(array, users)) {
        partitions_ = std::move(*specs);
    }
}

std::optional<std::string> Admission::refusal(const JobFacts& job, std::uint32_t userid, bool is_owners) const {
    if (shared_.count(job.queue) > 0) {
        return std::nullopt;
    }
    if (!is_owners && !runs_as_owner_) {
        return "the partitions of the queue " + job.queue +
               " run jobs as the owner of this instance, so they take no other user's job";
    }
    if (!job.serves.empty()) {
        return "partitions serve the queue " + job.queue + ": a job that serves queues itself needs another one";
    }
    std::vector<PartitionWord> words;
    for (const PartitionSpec& spec : partitions_) {
        const auto serves = [&job](const std::vector<std::string>& queues) {
            return std::find(queues.begin(), queues.end(), job.queue) != queues.end();
        };
        if (serves(spec.queues) || serves(spec.overflow)) {
            PartitionRules rules = spec.takes;
            if (job.account.empty() && !is_owners) {
                rules.accounts.clear();
            }
            const auto misfit = misfit_of(rules, job, userid);
            words.push_back({spec.name, rules_text(rules), misfit ? misfit : misfit_of(size_of(spec), job, userid)});
        }
    }
    return refusal_text(job.queue, words);
}

std::optional<std::string> Admission::refusal_here(const std::string& queue, bool is_owners) const {
    if (is_owners || queue != instance_queue || partitions_.empty()) {
        return std::nullopt;
    }
    std::set<std::string> others;
    for (const PartitionSpec& spec : partitions_) {
        others.insert(spec.queues.begin(), spec.queues.end());
    }
    std::string names;
    for (const std::string& name : others) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return "the queue " + queue + " is for the partitions themselves: submit to " + names;
}

}  // namespace weir::route
