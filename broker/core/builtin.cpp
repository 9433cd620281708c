// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the list of builtin modules. Must not know what they do.
#include "broker/core/builtin.hpp"

#include <array>

#include "broker/services/services.hpp"

namespace weir::broker {

std::span<const Builtin> builtins() {
    static constexpr std::array<Builtin, 4> builtins_known{{
        {"kvs", kvs_mod_main},
        {"resource", resource_mod_main},
        {"job-manager", job_manager_mod_main},
        {"job-exec", job_exec_mod_main},
    }};
    return builtins_known;
}

const Builtin* find_builtin(std::string_view name) {
    for (const Builtin& builtin : builtins()) {
        if (name == builtin.name) {
            return &builtin;
        }
    }
    return nullptr;
}

}  // namespace weir::broker
