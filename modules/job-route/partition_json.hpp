// SPDX-License-Identifier: LGPL-3.0-only
// Owns: [[partition]] tables as JSON: reading and checking them. Must not know files or jobs. Source:
// doc/configuration.md.
#pragma once
#include <jansson.h>

#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-route/partition_spec.hpp"

namespace weir::route {

/// The partitions of an array of tables; null: none. Each error is a line "[partition NAME] key = value: must be ...";
/// all are reported at once. Names and nested partitions are checked as well. `users`: [weir.users], the users that
/// this machine does not know. O(size).
Result<std::vector<PartitionSpec>> decode_partitions(const json_t* array, const json_t* users = nullptr);

/// The queues of all partitions of an array, each once; invalid entries are left out.
std::vector<std::string> partition_queues(const json_t* array);

/// The table of that name in an array; null if there is none.
json_t* partition_table_of(const json_t* array, const std::string& name);

}  // namespace weir::route
