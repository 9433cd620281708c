// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the limits of an association that both flux-accounting and a share tree have, and how its tables write them.
#pragma once
#include <array>
#include <cstdint>

#include "libfairshare/tree/node_terms.hpp"

namespace weir::cmd {

inline constexpr std::int64_t unlimited = 2147483647;

struct LimitColumn {
    const char* name;
    LimitKind kind;
    std::int64_t otherwise;  ///< flux-accounting's default
};
inline constexpr std::array<LimitColumn, 4> limit_columns{{{"max_running_jobs", LimitKind::running_jobs, 5},
                                                           {"max_active_jobs", LimitKind::active_jobs, 7},
                                                           {"max_nodes", LimitKind::nodes, unlimited},
                                                           {"max_cores", LimitKind::cores, unlimited}}};

}  // namespace weir::cmd
