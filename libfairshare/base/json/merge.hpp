// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the merging of configuration: tables key by key.
#pragma once
#include <jansson.h>

namespace weir {

/// Merges `from` into `into`: objects under the same key are merged, any other value replaces the old one. Values are
/// shared. REQUIRES: both are objects.
void merge_tables(json_t* into, json_t* from);

}  // namespace weir
