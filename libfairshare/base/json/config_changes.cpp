// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see config_changes.hpp.
#include "libfairshare/base/json/config_changes.hpp"

#include <algorithm>

namespace weir {
namespace {

/// A table that is not there has the keys of an empty one, unless it is new or gone and has none to tell.
bool are_told_by_key(const json_t* before, const json_t* after) {
    const auto is_table = [](const json_t* value) { return value == nullptr || json_is_object(value); };
    const auto is_empty = [](const json_t* value) { return value == nullptr || json_object_size(value) == 0; };
    return is_table(before) && is_table(after) && !(is_empty(before) && is_empty(after));
}

void add_changes(const std::string& path, const json_t* before, const json_t* after, std::vector<std::string>& out) {
    if (before == after || json_equal(const_cast<json_t*>(before), const_cast<json_t*>(after))) {
        return;
    }
    if (!are_told_by_key(before, after)) {
        const auto shown = [](const json_t* value) {
            return value == nullptr ? std::string("(default)") : Json::ref(value).dump();
        };
        out.push_back(key_text(path) + ": " + shown(before) + " -> " + shown(after));
        return;
    }
    const Json keys = Json::object();
    json_object_update(keys.get(), const_cast<json_t*>(before));
    json_object_update(keys.get(), const_cast<json_t*>(after));
    const char* key = nullptr;
    json_t* ignored = nullptr;
    json_object_foreach(keys.get(), key, ignored) {
        add_changes(path.empty() ? key : path + "." + key, json_object_get(before, key), json_object_get(after, key),
                    out);
    }
}

}  // namespace

std::string key_text(const std::string& path) {
    const std::size_t dot = path.find('.');
    return "[" + path.substr(0, dot) + "]" + (dot == std::string::npos ? "" : " " + path.substr(dot + 1));
}

std::vector<std::string> config_changes(const Json& before, const Json& after) {
    std::vector<std::string> changes;
    add_changes("", before.get(), after.get(), changes);
    std::sort(changes.begin(), changes.end());
    return changes;
}

}  // namespace weir
