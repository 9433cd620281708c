// SPDX-License-Identifier: LGPL-3.0-only
// Owns: questions about a job to the instance that has it, wherever that is below; the ids of a job in an instance. The
// instance that this process is connected to passes them on: no other socket is opened. Must not print.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"
#include "cmd/common/jobs.hpp"

namespace weir::cmd {

/// A partition on the way from this instance to the one that has the job.
struct Hop {
    std::uint64_t child = 0;                     ///< the partition, as a job of the instance above it
    std::uint64_t id = 0;                        ///< the job in the partition; 0: not known yet
    std::string serves;                          ///< its queues: "batch", "batch, debug"
    std::string partition = {};                  ///< its name; empty: no configured partition
    std::vector<std::string> may_start_in = {};  ///< other partitions beside it in which the job may start
};
/// The partitions besides those that have the job in which it may start as well, of which the scheduler that estimates
/// its start knows nothing: [name], of each instance on the way in the order of its configuration; empty: none.
Json may_start_in(const std::vector<Hop>& hops);

/// The answer of the instance that has the job, or why there is none.
struct Told {
    std::vector<Hop> hops;  ///< none: the job is in this instance
    Json answer;
    std::optional<Error> error;
};
/// `id` as id_here() takes it. `payload` gets the job's id in the instance that answers. Errors: no such job (ENOENT),
/// another user's (EPERM), this instance passes no questions on (ENOSYS).
Result<Told> ask_about(Client& client, std::uint64_t id, const std::string& topic, const Json& payload);

/// The ids of one job.
struct JobIds {
    std::uint64_t id = 0;                      ///< in this instance
    std::uint64_t above = 0;                   ///< at its parent; 0: it was submitted here
    std::uint64_t child = 0;                   ///< the partition that has it; 0: none
    std::uint64_t below = 0;                   ///< in that partition; 0: none, or not known yet
    std::optional<std::uint32_t> userid = {};  ///< of an active copy: whose job it is at the parent
    bool is_unknown = false;  ///< neither this instance nor one below gave the id; told of a single id only
};
/// By the requested ids; empty if no module answers.
std::map<std::uint64_t, JobIds> ids_of(Client& client, const std::vector<std::uint64_t>& ids);
/// As list_jobs(), but a copy of a job of the parent is its user's, though it was submitted as this instance's owner.
/// Of a copy that has ended only the owner is known.
Result<std::vector<Job>> list_users_jobs(Client& client, JobQuery query);
/// The id in this instance of a job that is named by it, or by its id in an instance above or below. For an id of an
/// instance above the parent this opens the parent. An id that nobody knows stays what it is.
std::uint64_t id_here(Client& client, std::uint64_t id);

/// A job that is named by its id at an instance above is canceled and reniced there: a cancel here would return it to
/// the parent. By its id here it is canceled here, also when the parent does not answer.
struct Origin {
    std::optional<Client> instance;  ///< none: this one
    std::uint64_t id = 0;            ///< of the job there
};
/// `id` as id_here() takes it. Errors: of opening the parent, where the job is one of it.
Result<Origin> origin_of(Client& client, std::uint64_t id);
/// The parent, and the id there, of a job that has this id here; nothing for a job that was submitted here, and where
/// the parent cannot be opened.
std::optional<Origin> origin_above(Client& client, std::uint64_t id);

}  // namespace weir::cmd
