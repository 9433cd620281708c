// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the numbers of a log stand for: names of users, accounts and queues, as a configuration may have them.
// Must not know where the names come from, nor who asks.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libsched/sim/sim_job.hpp"

namespace weir {

struct QueueNames {
    std::map<std::uint16_t, std::string> named;
    std::string otherwise;  ///< of all others; empty: their numbers

    std::string of(const SimJob& job) const {
        const auto found = named.find(job.queue);
        return found != named.end() ? found->second : otherwise.empty() ? std::to_string(job.queue) : otherwise;
    }
};

struct LogNames {
    std::map<std::uint32_t, std::string> users;
    std::vector<std::string> accounts;  ///< of the log's groups, number 1 first
    QueueNames queues;

    /// A name in `users`, "7" and "u7".
    std::vector<std::string> of_user(const SimJob& job) const {
        const std::string digits = std::to_string(job.user);
        std::vector<std::string> names{digits, "u" + digits};
        if (const auto name = users.find(job.user); name != users.end()) {
            names.insert(names.begin(), name->second);
        }
        return names;
    }
    /// A name in `accounts`, and its last part behind a slash; of other groups "3" and "g3".
    std::vector<std::string> of_account(const SimJob& job) const {
        if (job.group > 0 && job.group <= accounts.size()) {
            const std::string& name = accounts[job.group - 1];
            return {name, name.substr(name.rfind('/') + 1)};
        }
        return {std::to_string(job.group), "g" + std::to_string(job.group)};
    }
};

}  // namespace weir
