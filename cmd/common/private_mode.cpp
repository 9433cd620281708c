// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see private_mode.hpp.
#include "cmd/common/private_mode.hpp"

#include <jansson.h>

namespace weir::cmd {

Result<bool> is_private(Client& client) {
    const auto config = client.call("config.get");
    if (!config) {
        return config.error();
    }
    return json_is_true(json_object_get(json_object_get(config->get(), "access"), "private-mode"));
}

}  // namespace weir::cmd
