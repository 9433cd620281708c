// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 5: instances inside instances, as nested boxes as wide as their cores. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace weir::cmd {

struct InstanceBox {
    std::string name;
    std::int64_t cores = 0, cores_busy = 0;
    std::int64_t waiting = 0, running = 0;
    std::string problem;  ///< why it does not serve; empty: it does
    std::vector<InstanceBox> children;
    bool has_queues = false;  ///< the name is that of queues or of a partition, and not a job's id
};

/// Three levels; of what is deeper, and of boxes for which there is no room, the number is told.
std::string instances_picture(const InstanceBox& top);

}  // namespace weir::cmd
