// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of modules that are compiled into the broker. They are ordinary modules, written against
// <flux/core.h> alone and loaded by name. Must not know what they do.
#pragma once
#include <flux/core.h>

#include <span>
#include <string_view>

namespace weir::broker {

struct Builtin {
    const char* name;
    int (*mod_main)(flux_t*, int, char**);
};

std::span<const Builtin> builtins();
/// nullptr if no builtin has that name.
const Builtin* find_builtin(std::string_view name);

}  // namespace weir::broker
