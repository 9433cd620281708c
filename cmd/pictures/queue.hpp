// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 4: the first pending jobs in their order, with place, priority and estimated start. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::cmd {

struct PendingRow {
    std::int64_t place = 0;  ///< in its own queue, from 1
    std::string job, user, account, queue;
    std::int64_t cores = 0;
    double limit_s = 0;  ///< 0: not known
    std::int64_t priority = 0;
    bool is_own = false;            ///< the viewer's job
    std::optional<double> start_s;  ///< estimated, from now
    std::string note;               ///< why there is no estimate
    bool may_move = false;          ///< that is in the partition that has it; another may start it earlier
};

/// `all`: pending jobs in all, of which `rows` are the first.
std::string queue_picture(const std::vector<PendingRow>& rows, std::int64_t all);

}  // namespace weir::cmd
