// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sentences. See tap_accounts.hpp.
#include "modules/job-priority/tap/tap_accounts.hpp"

#include <algorithm>
#include <cstddef>

#include "libfairshare/tree/node_terms.hpp"

namespace weir::priority {
namespace {

constexpr std::size_t names_shown_max = 8;

std::string listed(const std::set<std::string>& names) {
    std::string text;
    std::size_t shown = 0;
    for (const std::string& name : names) {
        if (shown == names_shown_max) {
            return text + " and " + std::to_string(names.size() - shown) + " more";
        }
        text += (shown == 0 ? "" : ", ") + name;
        shown += 1;
    }
    return text.empty() ? "none" : text;
}

std::string user_text(const TapUser* user, std::uint32_t userid) {
    if (user != nullptr && !user->name.empty()) {
        return "user " + user->name;
    }
    return "user id " + std::to_string(userid);
}

/// The job's account; empty: it names none and there is no default.
std::string account_charged(const TapAccounts& table, const TapUser* user, const TapSubmission& job) {
    return job.account ? *job.account : (user != nullptr ? user->default_account : table.open_default).value_or("");
}

/// Nobody's account pays for it.
bool is_partition(const TapSubmission& job) {
    return job.is_owner && job.serves_queues && !job.account;
}

/// Null: any project.
const TapProjects* projects_for(const TapAccounts& table, const TapSubmission& job) {
    if (table.projects.empty() || job.is_from_above || is_partition(job)) {
        return nullptr;
    }
    const auto found = table.users.find(job.userid);
    const TapUser* user = found == table.users.end() ? nullptr : &found->second;
    const TapProjectIndex& index = user != nullptr ? user->projects : table.open_projects;
    const auto number = index.find(account_charged(table, user, job));
    return number != index.end() && number->second < table.projects.size() ? &table.projects[number->second] : nullptr;
}

std::optional<std::string> project_rejection(const TapAccounts& table, const TapSubmission& job) {
    const TapProjects* projects = job.project ? projects_for(table, job) : nullptr;
    if (projects == nullptr || projects->names.count(*job.project) != 0) {
        return std::nullopt;
    }
    const auto found = table.users.find(job.userid);
    const TapUser* user = found == table.users.end() ? nullptr : &found->second;
    const std::string account = account_charged(table, user, job);
    return user_text(user, job.userid) + " has no project '" + *job.project + "'" +
           (account.empty() ? "" : " in account '" + account + "'") + "; may use: " + listed(projects->names);
}

std::optional<std::string> qos_rejection(const TapAccounts& table, const TapSubmission& job) {
    if (!table.qos || !job.qos || job.is_from_above || table.qos->count(*job.qos) != 0) {
        return std::nullopt;
    }
    return "there is no QoS '" + *job.qos + "' here; may use: " + listed(*table.qos);
}

/// Of an account that is known by its path alone, since others have the same last name.
bool is_last_name(const std::set<std::string>& accounts, const std::string& name) {
    const std::string end = "/" + name;
    return std::any_of(accounts.begin(), accounts.end(),
                       [&end](const std::string& path) { return path.ends_with(end); });
}

/// Whether the account is another's or is not there is one sentence: which accounts there are is not for every guest
/// to know.
std::string no_such_account(const TapUser* user, const std::set<std::string>& may_use, const TapSubmission& job) {
    return (is_last_name(may_use, *job.account)
                ? "more than one account is called '" + *job.account + "': write the path; "
                : "there is no account '" + *job.account + "' in the share tree for " + user_text(user, job.userid) +
                      "; ") +
           "may use: " + listed(may_use);
}

std::optional<std::string> account_rejection(const TapAccounts& table, const TapSubmission& job) {
    if (job.queue && table.queues && table.queues->count(*job.queue) == 0) {
        return "there is no queue '" + *job.queue + "' here; the queues are: " + listed(*table.queues);
    }
    const auto found = table.users.find(job.userid);
    const TapUser* user = found == table.users.end() ? nullptr : &found->second;
    if (job.is_owner && !job.account) {
        return std::nullopt;
    }
    if (job.account) {
        const std::set<std::string>& may_use = user != nullptr ? user->accounts : table.open_accounts;
        if (may_use.count(*job.account) != 0 || table.open_accounts.count(*job.account) != 0 ||
            (job.is_owner && table.known_accounts.count(*job.account) != 0)) {
            return std::nullopt;
        }
        return no_such_account(user, job.is_owner ? table.known_accounts : may_use, job);
    }
    if (user != nullptr ? user->default_account.has_value() : table.open_default.has_value()) {
        return std::nullopt;
    }
    if (user == nullptr) {
        return user_text(user, job.userid) + " is not in the share tree; ask the owner of this instance to add it";
    }
    return user_text(user, job.userid) +
           " has no default account: name one with weir submit --account or flux submit --bank; may use: " +
           listed(user->accounts);
}

}  // namespace

std::optional<std::string> rejection(const TapAccounts& table, const TapSubmission& job) {
    if (!table.is_enforced) {
        return qos_rejection(table, job);
    }
    const bool is_checked = job.is_from_above && !table.checks_copies;  // an account here may only be on its way
    auto sentence = is_checked ? std::nullopt : account_rejection(table, job);
    sentence = sentence ? sentence : project_rejection(table, job);
    return sentence ? sentence : qos_rejection(table, job);
}

std::string rejection_of_running(std::string_view key, const TapSubmission& job) {
    if (key.ends_with(".project")) {
        return "the job runs: its usage is reported under " +
               (job.project ? "project '" + *job.project + "'" : "no project") +
               "; only a pending job changes its project";
    }
    return "the job runs: its usage is charged to " +
           (job.account ? "account '" + *job.account + "'" : "its user's default account") +
           "; only a pending job changes its bank";
}

std::optional<std::string> bank_to_fill(const TapAccounts& table, const TapSubmission& job) {
    if (!table.fills_bank || job.account || job.is_from_above || is_partition(job)) {
        return std::nullopt;
    }
    const auto user = table.users.find(job.userid);
    const std::optional<std::string>& account =
        user == table.users.end() ? table.open_default : user->second.default_account;
    return account == "" ? std::nullopt : account;
}

std::optional<std::string> project_to_fill(const TapAccounts& table, const TapSubmission& job) {
    const TapProjects* projects = job.project ? nullptr : projects_for(table, job);
    return projects == nullptr || projects->by_default == no_project ? std::nullopt
                                                                     : std::optional(projects->by_default);
}

}  // namespace weir::priority
