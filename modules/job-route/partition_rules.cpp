// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_rules.hpp.
#include "modules/job-route/partition_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/memory_size.hpp"

namespace weir::route {
namespace {

/// "at most 1h", "at least 1h", "1h to 2h"; empty: no rule.
template <typename T, typename Text>
std::string range_text(const Range<T>& range, Text text) {
    return range.least && range.most ? text(*range.least) + " to " + text(*range.most)
           : range.least             ? "at least " + text(*range.least)
           : range.most              ? "at most " + text(*range.most)
                                     : "";
}

template <typename T>
bool is_in(const Range<T>& range, const T& value) {
    return (!range.least || value >= *range.least) && (!range.most || value <= *range.most);
}

std::string counted(std::int64_t number, const std::string& one) {
    return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

/// "2 to 16 cores", "at most 1 core".
std::string count_text(const Range<std::int64_t>& range, const std::string& one) {
    const std::string text = range_text(range, [](std::int64_t number) { return std::to_string(number); });
    return text.empty() ? "" : text + " " + one + (range.most.value_or(range.least.value_or(0)) == 1 ? "" : "s");
}

std::string names_text(const std::string& what, const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? what + " " : " or ") + name;
    }
    return text;
}

/// "property gpu or fat", "property gpu and not fat", "not property fat".
std::string properties_text(const std::vector<std::string>& properties) {
    std::vector<std::string> wanted;
    std::string unwanted;
    for (const std::string& property : properties) {
        if (property[0] == '^') {
            unwanted += (unwanted.empty() ? "" : " and not ") + property.substr(1);
        } else {
            wanted.push_back(property);
        }
    }
    const std::string first = names_text("property", wanted);
    return unwanted.empty() ? first : first + (first.empty() ? "not property " : " and not ") + unwanted;
}

/// Of paths: itself or below it, at any depth. "bio" is above "science/bio" and "science/bio/lab".
bool is_account_of(std::string_view account, std::string_view rule) {
    const std::string whole = "/" + std::string(account) + "/";
    return !account.empty() && whole.find("/" + std::string(rule) + "/") != std::string::npos;
}

bool meets_properties(const std::vector<std::string>& rule, const std::vector<std::string>& required) {
    const auto is_required = [&required](std::string_view name) {
        return std::find(required.begin(), required.end(), name) != required.end();
    };
    bool is_met = true, has_wanted = false, has_one = false;
    for (const std::string& name : rule) {
        if (name[0] == '^') {
            is_met = is_met && !is_required(std::string_view(name).substr(1));
        } else {
            has_wanted = true;
            has_one = has_one || is_required(name);
        }
    }
    return is_met && (!has_wanted || has_one);
}

std::string required_text(const std::vector<std::string>& properties) {
    std::string text;
    for (const std::string& property : properties) {
        text += (text.empty() ? "it requires " : " and ") + property;
    }
    return text.empty() ? "it requires no property" : text;
}

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

/// "at most 8GiB of memory", "at most 8GiB of memory on each of 2 nodes"; empty: none.
std::string memory_text(const PartitionMemory& memory) {
    return memory.per_node_mib == 0 ? ""
                                    : "at most " + encode_mib(memory.per_node_mib) + " of memory" +
                                          (memory.nodes == 1 ? "" : " on each of " + counted(memory.nodes, "node"));
}

/// Each slot is on one node.
bool has_memory_for(const PartitionMemory& memory, const JobFacts& job) {
    return job.memory_per_slot_mib == 0 || job.slots <= memory.nodes * (memory.per_node_mib / job.memory_per_slot_mib);
}

/// One kind of rule. Texts are made only for output, since each job is compared with all rules.
struct RuleKind {
    std::string (*text)(const PartitionRules& rules);  ///< empty: no such rule
    bool (*is_met)(const PartitionRules& rules, const JobFacts& job, std::uint32_t userid);
    std::string (*job_text)(const JobFacts& job);
    const char* unsaid = "";  ///< the rule where text() is empty and a job does not meet it
};

constexpr std::array<RuleKind, 8> rule_kinds{{
    {[](const PartitionRules& rules) { return range_text(rules.duration, encode_fsd); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) {
         return job.duration > Duration::zero() ? is_in(rules.duration, job.duration) : !rules.duration.most;
     },
     [](const JobFacts& job) {
         return job.duration > Duration::zero() ? "it asks for " + encode_fsd(job.duration) : "it has no time limit";
     }},
    {[](const PartitionRules& rules) { return count_text(rules.cores, "core"); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) { return is_in(rules.cores, job.cores); },
     [](const JobFacts& job) { return "it asks for " + counted(job.cores, "core"); }},
    {[](const PartitionRules& rules) { return count_text(rules.nodes, "node"); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) { return is_in(rules.nodes, job.nodes); },
     [](const JobFacts& job) { return "it asks for " + counted(job.nodes, "node"); }},
    {[](const PartitionRules& rules) { return names_text("account", rules.accounts); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) {
         return rules.accounts.empty() ||
                std::any_of(rules.accounts.begin(), rules.accounts.end(),
                            [&job](const std::string& rule) { return is_account_of(job.account, rule); });
     },
     [](const JobFacts& job) {
         return job.account.empty() ? std::string("it has no account") : "its account is " + job.account;
     }},
    {[](const PartitionRules& rules) { return names_text("user", rules.users); },
     [](const PartitionRules& rules, const JobFacts&, std::uint32_t userid) {
         return rules.users.empty() || rules.userids.count(userid) > 0;
     },
     [](const JobFacts&) { return std::string("it is another user's"); }},
    {[](const PartitionRules& rules) { return names_text("QoS", rules.qos); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) { return is_one_of(job.qos, rules.qos); },
     [](const JobFacts& job) { return job.qos.empty() ? std::string("it has no QoS") : "its QoS is " + job.qos; }},
    {[](const PartitionRules& rules) { return properties_text(rules.properties); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) {
         return meets_properties(rules.properties, job.properties);
     },
     [](const JobFacts& job) { return required_text(job.properties); }},
    {[](const PartitionRules& rules) { return rules.memory ? memory_text(*rules.memory) : std::string(); },
     [](const PartitionRules& rules, const JobFacts& job, std::uint32_t) {
         return !rules.memory || has_memory_for(*rules.memory, job);
     },
     [](const JobFacts& job) {
         return "it asks for " + encode_mib(job.memory_per_slot_mib) + " for " +
                (job.slots == 1 ? std::string("its slot") : "each of " + std::to_string(job.slots) + " slots");
     },
     "jobs that request no memory, since it has no memory-per-node"},
}};

}  // namespace

std::string rules_text(const PartitionRules& rules) {
    std::string text;
    for (const RuleKind& kind : rule_kinds) {
        const std::string one = kind.text(rules);
        text += (text.empty() || one.empty() ? "" : ", ") + one;
    }
    return text;
}

std::optional<Misfit> misfit_of(const PartitionRules& rules, const JobFacts& job, std::uint32_t userid) {
    for (const RuleKind& kind : rule_kinds) {
        if (!kind.is_met(rules, job, userid)) {
            const std::string rule = kind.text(rules);
            return Misfit{rule.empty() ? kind.unsaid : rule, kind.job_text(job)};
        }
    }
    return std::nullopt;
}

std::optional<std::string> refusal_text(const std::string& queue, const std::vector<PartitionWord>& words) {
    std::string text;
    for (const PartitionWord& word : words) {
        if (!word.misfit) {
            return std::nullopt;
        }
        text += (text.empty() ? "" : "; ") + word.name + " takes " + word.misfit->rule + " (" + word.misfit->job + ")";
    }
    return text.empty() ? std::nullopt
                        : std::optional("no partition of the queue " + queue + " takes this job: " + text);
}

}  // namespace weir::route
