// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 5: instances inside instances, as nested boxes as wide as their cores. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::cmd {

struct InstanceBox {
    std::string name;
    std::int64_t cores = 0;
    std::optional<std::int64_t> cores_busy = 0;  ///< absent: not known
    std::int64_t waiting = 0, running = 0;
    std::string problem;  ///< why it does not serve; empty: it does
    std::vector<InstanceBox> children;
    bool has_queues = false;  ///< the name is that of queues or of a partition, and not a job's id
    std::string way = {};     ///< jobs from the top's on, which are instances: "12/345"; empty: there is no way into it
};

/// Three levels; deeper instances, and boxes that do not fit, are counted. `link`: the text before a box's way in the
/// address of its link, such as "?in="; empty: the picture has no links.
std::string instances_picture(const InstanceBox& top, const std::string& link = "");

}  // namespace weir::cmd
