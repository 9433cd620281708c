// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see private_mode.hpp.
#include "cmd/common/private_mode.hpp"

#include <jansson.h>

namespace weir::cmd {

Result<bool> is_private(Client& client) {
    const auto stats = client.call("job-priority.stats-get");
    if (!stats) {
        return stats.error();
    }
    return json_is_true(json_object_get(stats->get(), "private"));
}

}  // namespace weir::cmd
