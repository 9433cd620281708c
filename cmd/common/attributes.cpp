// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see attributes.hpp.
#include "cmd/common/attributes.hpp"

#include <vector>

#include "cmd/common/text.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

Error refused(const std::string& word, const std::string& why) {
    return {std::errc::invalid_argument,
            "--setattr=" + printable(word) + ": " + why + ". Write KEY=VALUE, such as weir.memory_per_slot=4GiB."};
}

std::vector<std::string> levels_of(std::string key) {
    if (key.starts_with('.')) {
        key.erase(0, 1);
    } else if (!key.starts_with("system.") && !key.starts_with("user.")) {
        key.insert(0, "system.");
    }
    std::vector<std::string> levels{"attributes"};
    for (std::size_t begin = 0; begin <= key.size();) {
        const std::size_t end = std::min(key.find('.', begin), key.size());
        levels.push_back(key.substr(begin, end - begin));
        begin = end + 1;
    }
    return levels;
}

Json attribute_value(const std::string& text) {
    auto json = Json::parse(text);
    return json ? std::move(*json) : Json::string(text);
}

}  // namespace

Status set_attribute(json_t* jobspec, const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::vector<std::string> levels = levels_of(word.substr(0, equals));
    Json value = equals == std::string::npos ? Json::own(json_integer(1)) : attribute_value(word.substr(equals + 1));
    if (equals == 0) {
        return refused(word, "there is no key");
    }
    json_t* table = jobspec;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        json_t* below = json_object_get(table, levels[i].c_str());
        if (levels[i].empty() || (below != nullptr && !json_is_object(below))) {
            return refused(word, levels[i].empty() ? "a level of the key is empty" : levels[i] + " is no table");
        }
        if (below == nullptr) {
            below = json_object();
            json_object_set_new(table, levels[i].c_str(), below);
        }
        table = below;
    }
    if (levels.back().empty() || json_object_set_new(table, levels.back().c_str(), value.release()) < 0) {
        return refused(word, "a level of the key is empty or no UTF-8");
    }
    return Done{};
}

}  // namespace weir::cmd
