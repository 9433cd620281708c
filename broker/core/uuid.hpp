// SPDX-License-Identifier: LGPL-3.0-only
// Owns: unguessable names for endpoints. Must not know endpoints.
#pragma once
#include <string>

namespace weir::broker {

/// A random version-4 UUID (RFC 4122) from the kernel's generator.
std::string new_uuid();

}  // namespace weir::broker
