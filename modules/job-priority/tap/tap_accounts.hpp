// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which user may submit under which account and project and to which queue, as the module last sent it to the
// plugin. Must not know: the share tree itself, Flux, JSON.
// Source: job.validate in flux-jobtap-plugins(7).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::priority {

/// The projects that jobs of some associations may name. "*" stands for none.
struct TapProjects {
    std::string by_default;
    std::set<std::string> names;
};
/// By account, every spelling: the place in TapAccounts::projects. An account that is not in it takes any project.
using TapProjectIndex = std::map<std::string, std::size_t>;

/// One user of the share tree.
struct TapUser {
    std::string name;                            ///< for messages; empty: no line of the tree names the user
    std::optional<std::string> default_account;  ///< used when the job names none
    std::set<std::string> accounts;              ///< every spelling under which the user may charge
    TapProjectIndex projects{};
};

/// The accounts table. Empty until the module has sent it; until then nothing is rejected.
struct TapAccounts {
    std::unordered_map<std::uint32_t, TapUser> users;
    std::set<std::string> known_accounts;     ///< all of them, for the owner
    std::set<std::string> open_accounts;      ///< accounts with an `@*` line: any user may charge
    std::optional<std::string> open_default;  ///< the account of a user who is not listed and names none
    std::vector<TapProjects> projects;
    TapProjectIndex open_projects;                ///< of a user who is not listed
    std::optional<std::set<std::string>> queues;  ///< empty optional: queues are not checked here
    std::optional<std::set<std::string>> qos;     ///< that jobs may name; empty optional: any
    bool is_enforced = false;
    bool checks_copies = false;  ///< the tree here is none of the parent, which has checked the copies of its jobs
    bool fills_bank = false;     ///< a job that names no account gets its user's default one
};

/// The request of the submitter.
struct TapSubmission {
    std::uint32_t userid = 0;  ///< of a copy: whose job it is at the parent
    std::optional<std::string> account;
    std::optional<std::string> queue;
    bool is_owner = false;  ///< the instance owner needs no association
    std::optional<std::string> project{};
    std::optional<std::string> qos{};
    bool is_from_above = false;  ///< a copy of a parent's job, which the parent has checked
    bool serves_queues = false;  ///< a child instance will run in it
};

/// Checks a submission. \return empty if the job is accepted, else one sentence that says what is wrong and what would
/// be right.
std::optional<std::string> rejection(const TapAccounts& table, const TapSubmission& job);

/// Why a job that runs keeps its bank or project: what names the charge is fixed when it starts.
/// \param key  of the jobspec: "attributes.system.bank" or "attributes.system.project"
std::string rejection_of_running(std::string_view key, const TapSubmission& job);

/// The account to be written into the jobspec of a job that names none, as flux-accounting does. None for a partition,
/// for which nobody pays. None for a copy: the parent has written it there. None where the association is right below
/// the root, which has no name.
std::optional<std::string> bank_to_fill(const TapAccounts& table, const TapSubmission& job);

/// The project to be written into the jobspec of a job that names none. None where its association has no list of
/// projects, or has no_project as its default.
std::optional<std::string> project_to_fill(const TapAccounts& table, const TapSubmission& job);

}  // namespace weir::priority
