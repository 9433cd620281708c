// SPDX-License-Identifier: LGPL-3.0-only
// Owns: amounts and requests in words, for messages to users. Must not know why a job waits.
#pragma once
#include <string>

#include "libsched/resource/amounts.hpp"

namespace weir {

/// "1 node", "2 nodes"
std::string plural(std::uint64_t n, const char* noun);
/// "2 cores, 1 gpu and 512 MiB"
std::string words_of(const Amounts& amounts);
/// The whole request of a job: "4 cores", "4 cores on 2 nodes", "4 cores and 2 gpus on 2 whole nodes".
std::string words_of(const Request& request);

}  // namespace weir
