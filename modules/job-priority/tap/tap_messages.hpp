// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the parts of the module's requests that are lists. Must not know: Flux, how the lists are used.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "modules/job-priority/tap/tap_accounts.hpp"

namespace weir::priority {

/// An `accounts` request. False when it is not {enforce: b, fill_bank?: b, any_default?: account,
///   users: [[userid, default account or null, [account, ...], name?, {account: number}?], ...],
///   known?: [account, ...], any?: [account, ...], queues?: [queue, ...] or null,
///   projects?: [{default: project, names: [project, ...]}, ...], any_projects?: {account: number}},
///   where the numbers count in `projects`.
bool read_accounts(json_t* request, TapAccounts& accounts);

/// An `update` request: values of jobs, and first values of kinds.
struct TapUpdate {
    enum class Mode { job, fill, all };

    struct Entry {
        std::uint64_t id = 0;
        std::int64_t priority = 0;  ///< or overridden_on_wire
    };
    std::vector<Entry> jobs;
    Mode mode = Mode::job;
    std::optional<bool> is_synced;  ///< unset: unchanged
    bool is_limited = false;        ///< of a module that unloads: limits hold jobs back
    std::vector<std::pair<std::string, std::uint32_t>> first_values;
    bool is_all_first_values = false;  ///< first_values replaces all earlier ones
};
/// \return nothing when the request is not {jobs:[[id,priority],...], mode?:"job"|"fill"|"all", synced?:b, limited?:b,
///   first_values?:[[kind,value],...], all_first_values?:b}
std::optional<TapUpdate> read_update(FlatValue request);

/// A duration of the configuration, with its unit.
Result<Duration> duration_of(const json_t* value);

}  // namespace weir::priority
