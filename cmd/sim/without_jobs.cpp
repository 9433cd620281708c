// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see without_jobs.hpp.
#include "cmd/sim/without_jobs.hpp"

#include "cmd/common/text.hpp"
#include "libsched/config/policy_keys.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t account_kind = 2, class_kind = 4;  // of moab_credential_names
constexpr std::size_t names_shown = 5;

/// The first ones, and how many more.
std::string shown(std::vector<std::string> names) {
    if (names.size() > names_shown) {
        const std::size_t more = names.size() - names_shown;
        names.resize(names_shown);
        names.push_back(std::to_string(more) + " more");
    }
    return listed(names);
}

template <typename Table>
void add_names(const Table& table, std::set<std::string>& names) {
    for (const auto& [name, ignored] : table) {
        names.insert(name);
    }
}

std::set<std::string> queues_named(const PolicySettings& settings) {
    std::set<std::string> names;
    if (config::heeds(settings.policy, "queues")) {
        add_names(settings.queues, names);
        add_names(settings.billing.factors.queue, names);
        add_names(settings.billing.queue_weights, names);
    }
    return names;
}

std::set<std::string> lsf_queues_named(const PolicySettings& settings) {
    std::set<std::string> names;
    if (settings.policy == PolicyKind::lsf) {
        add_names(settings.lsf.queue_factors, names);
    }
    return names;
}

std::set<std::string> credentials_named(const PolicySettings& settings, std::size_t kind) {
    std::set<std::string> names;
    if (settings.policy == PolicyKind::moab) {
        add_names(settings.moab.credentials[kind], names);
        names.erase("*");  // all others
    }
    return names;
}

}  // namespace

void WithoutJobsCheck::add(const SimJob& job) {
    if (queues_.numbers.insert(job.queue).second) {
        const std::string name = names_.queues.of(job);
        const bool is_number = name == std::to_string(job.queue);
        if (queues_.names.insert(name).second && !(is_number && job.queue == 0)) {
            queues_.listed.push_back(name);
        }
        has_unnamed_queues_ = has_unnamed_queues_ || (is_number && job.queue != 0);
    }
    if (accounts_.numbers.insert(job.group).second) {
        const std::vector<std::string> names = names_.of_account(job);
        accounts_.names.insert(names.begin(), names.end());
        if (job.group != 0) {
            accounts_.listed.push_back(names.front());
        }
    }
}

std::vector<std::string> WithoutJobsCheck::warnings(const PolicySettings& settings) const {
    std::vector<std::string> sentences;
    const auto check = [&](const std::string& table, const std::set<std::string>& named, const Seen& seen,
                           const std::string& noun) {
        std::vector<std::string> keys;
        for (const std::string& name : named) {
            if (!seen.names.contains(name)) {
                keys.push_back("[weir." + table + "." + name + "]");
            }
        }
        if (keys.empty()) {
            return;
        }
        const bool is_one = keys.size() == 1;
        sentences.push_back(shown(keys) + (is_one ? " has" : " have") + " no effect: no job of the log is of " +
                            (is_one ? "this " + noun : "these " + noun + "s") + "; " +
                            (seen.listed.empty()
                                 ? "its jobs name none"
                                 : "its " + noun + (seen.listed.size() == 1 ? " is " : "s are ") + shown(seen.listed)) +
                            (&seen == &queues_ && has_unnamed_queues_ ? "; [sim.queues] gives them names" : ""));
    };
    check("queues", queues_named(settings), queues_, "queue");
    check("lsf.queues", lsf_queues_named(settings), queues_, "queue");
    check("moab.classes", credentials_named(settings, class_kind), queues_, "queue");
    check("moab.accounts", credentials_named(settings, account_kind), accounts_, "account");
    return sentences;
}

}  // namespace weir::cmd
