// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the parts of the module's requests that are lists. Must not know: Flux, what becomes of them.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "modules/job-priority/tap/tap_accounts.hpp"

namespace weir::priority {

/// The lists of an `accounts` request; null where one is not given.
struct AccountLists {
    json_t* users;   ///< [[userid, default account or null, [account, ...], name?], ...]
    json_t* open;    ///< [account, ...]
    json_t* known;   ///< [account, ...]
    json_t* queues;  ///< [queue, ...] or null
};
/// False when one of them is not so.
bool read_accounts(const AccountLists& lists, TapAccounts& accounts);

/// False when the list is not [[kind, value], ...] or nothing.
bool read_first_values(json_t* list, std::vector<std::pair<std::string, std::uint32_t>>& rows);

/// A duration of the configuration, with its unit.
Result<Duration> duration_of(const json_t* value);

}  // namespace weir::priority
