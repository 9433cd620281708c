// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the merging of configuration: tables key by key.
#pragma once
#include <jansson.h>

namespace weir {

/// What `from` has comes into `into`: an object into an object of the same key, anything else in its place. Values are
/// shared. REQUIRES: both are objects.
void merge_tables(json_t* into, json_t* from);

}  // namespace weir
