// SPDX-License-Identifier: LGPL-3.0-only
// Owns: lenient reads of answers: a missing member, or one of another kind, has the default value. For display only;
// decisions check their input. All pointers are borrowed.
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
/// A job's id.
inline std::uint64_t id_at(const json_t* object, const char* key = "id") {
    return static_cast<std::uint64_t>(integer_at(object, key));
}
/// Integers and reals; null and anything else give the default.
inline double number_at(const json_t* object, const char* key, double otherwise = 0) {
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}
inline bool has_number(const json_t* object, const char* key) {
    return json_is_number(json_object_get(object, key));
}
/// Elements of the array `key`; empty if it is no array.
inline std::vector<json_t*> items_at(const json_t* object, const char* key) {
    std::vector<json_t*> items;
    const json_t* array = json_object_get(object, key);
    for (std::size_t i = 0; i < json_array_size(array); ++i) {
        items.push_back(json_array_get(array, i));
    }
    return items;
}

}  // namespace weir::cmd
