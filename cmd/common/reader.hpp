// SPDX-License-Identifier: LGPL-3.0-only
// Owns: forgiving reads of answers: a member that is missing or of another kind is the default. For display alone;
// what decides is checked where it decides. All pointers are borrowed.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weir::cmd {

inline std::string text_at(const json_t* object, const char* key, const std::string& otherwise = {}) {
    const json_t* value = json_object_get(object, key);
    return json_is_string(value) ? std::string(json_string_value(value), json_string_length(value)) : otherwise;
}
inline std::int64_t integer_at(const json_t* object, const char* key, std::int64_t otherwise = 0) {
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? static_cast<std::int64_t>(json_integer_value(value)) : otherwise;
}
/// Integers and reals; null and anything else give the default.
inline double number_at(const json_t* object, const char* key, double otherwise = 0) {
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}
inline bool has_number(const json_t* object, const char* key) {
    return json_is_number(json_object_get(object, key));
}
/// Elements of the array `key`; empty when it is none.
inline std::vector<json_t*> items_at(const json_t* object, const char* key) {
    std::vector<json_t*> items;
    const json_t* array = json_object_get(object, key);
    for (std::size_t i = 0; i < json_array_size(array); ++i) {
        items.push_back(json_array_get(array, i));
    }
    return items;
}

}  // namespace weir::cmd
