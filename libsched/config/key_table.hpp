// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a table of fixed keys, each a number, a flag or of its own kind. Must not know which keys there are.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "libsched/config/reader.hpp"

namespace weir::config {

using Value = const json_t*;

/// Visits a table's keys: `visit(path, name, value)` returns whether it knows the name; `known` lists all names for
/// messages.
template <typename Visit>
void fixed_table(Reader& reader, const std::string& name, Value value, const std::string& known, Visit visit) {
    reader.table(name, value, "must be a table: [weir." + name + "]", [&](const std::string& key, Value inner) {
        if (!visit(name + "." + key, key, inner)) {
            reader.unknown(name + "." + key, inner, known);
        }
    });
}

struct NumberKey {
    std::string_view name;
    double* into;
    double lowest = 0;
    double highest = weight_max;
};
inline bool read_number(Reader& reader, std::span<const NumberKey> keys, const std::string& path, std::string_view name,
                        Value value) {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const NumberKey& key) { return key.name == name; });
    if (found != keys.end()) {
        reader.number(path, value, found->lowest, found->highest, *found->into);
    }
    return found != keys.end();
}
struct FlagKey {
    std::string_view name;
    bool* into;
};
inline bool read_flag(Reader& reader, std::span<const FlagKey> keys, const std::string& path, std::string_view name,
                      Value value) {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const FlagKey& key) { return key.name == name; });
    if (found != keys.end()) {
        reader.flag(path, value, *found->into);
    }
    return found != keys.end();
}

/// "a, b, c", without the empty names.
inline std::string listed(std::span<const std::string_view> names) {
    std::string list;
    for (const std::string_view name : names) {
        if (!name.empty()) {
            list += (list.empty() ? "" : ", ") + std::string(name);
        }
    }
    return list;
}

}  // namespace weir::config
