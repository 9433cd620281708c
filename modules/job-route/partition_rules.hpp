// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rules of a partition (`takes` of [[partition]]): which jobs it takes, and why it does not take another.
// Must not know JSON, queues or children.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "modules/job-route/journal_event.hpp"

namespace weir::route {

template <typename T>
struct Range {
    std::optional<T> least;
    std::optional<T> most;
    friend bool operator==(const Range&, const Range&) = default;
};

/// What the nodes of a partition have together, and each of them. A partition that was given no memory knows none.
struct PartitionMemory {
    std::uint32_t per_node_mib = 0;
    std::int64_t nodes = 1;
    friend bool operator==(const PartitionMemory&, const PartitionMemory&) = default;
};

/// A job must meet all of them; in a list, one of the names. Without any it takes every job.
struct PartitionRules {
    Range<Duration> duration;
    Range<std::int64_t> cores;
    Range<std::int64_t> nodes;
    std::vector<std::string> accounts;  ///< with the accounts below them
    std::vector<std::string> users;     ///< names or numbers
    std::set<std::uint32_t> userids;    ///< of `users`
    std::vector<std::string> qos;
    std::vector<std::string> properties;         ///< that the job requires; "^gpu": it does not require gpu
    std::optional<PartitionMemory> memory = {};  ///< nothing: whatever the job requests
    friend bool operator==(const PartitionRules&, const PartitionRules&) = default;
};

/// For people: "at most 1h, 2 to 16 cores, account bio or chem"; empty where there are none.
std::string rules_text(const PartitionRules& rules);

struct Misfit {
    std::string rule;  ///< the first that is not met: "at most 1h"
    std::string job;   ///< what the job has: "it asks for 2h"
};
/// Nothing: the job meets all rules. \param userid of the job's user. O(names).
std::optional<Misfit> misfit_of(const PartitionRules& rules, const JobFacts& job, std::uint32_t userid);

/// Whether a partition takes a job.
struct PartitionWord {
    std::string name;
    std::string rules;             ///< all of them; empty: it takes every job
    std::optional<Misfit> misfit;  ///< nothing: it takes this one
    std::string limit = {};        ///< that keeps it away now: "runs at most 2 jobs; 2 run"; empty: none
    std::string away = {};         ///< why it cannot run the job, however few others wait: "is drained", "has 2 cores"
    bool may_start = false;        ///< the job is not there, and may start there unless somebody changes a setting
};
/// The sentence about a job that no partition takes; nothing where one takes it, or there are no partitions.
std::optional<std::string> refusal_text(const std::string& queue, const std::vector<PartitionWord>& words);

}  // namespace weir::route
