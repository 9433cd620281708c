// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see merge.hpp.
#include "libfairshare/base/json/merge.hpp"

namespace weir {

void merge_tables(json_t* into, json_t* from) {
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(from, key, value) {
        json_t* old = json_object_get(into, key);
        if (json_is_object(old) && json_is_object(value)) {
            merge_tables(old, value);
        } else {
            json_object_set(into, key, value);
        }
    }
}

}  // namespace weir
