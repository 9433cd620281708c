// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the look-ups. See user_names.hpp.
#include "modules/job-priority/user_names.hpp"

#include <charconv>

namespace weir::priority {

void UserNames::configure(const std::map<std::string, std::uint32_t>& users) {
    configured_ = users;
    names_.clear();
    ids_.clear();
    groups_.clear();
    for (const auto& [name, userid] : users) {
        names_[userid] = name;
    }
}

const std::string& UserNames::name(std::uint32_t userid) {
    const auto known = names_.find(userid);
    if (known != names_.end()) {
        return known->second;
    }
    return names_[userid] = database_.name_of(userid).value_or(std::to_string(userid));
}

const std::vector<std::string>& UserNames::groups(std::uint32_t userid) {
    const auto [entry, is_new] = groups_.try_emplace(userid);
    if (is_new && database_.groups_of) {
        entry->second = database_.groups_of(name(userid));
    }
    return entry->second;
}

std::optional<std::uint32_t> UserNames::id(const std::string& name) {
    if (const auto given = configured_.find(name); given != configured_.end()) {
        return given->second;
    }
    const auto [entry, is_new] = ids_.try_emplace(name);
    if (is_new) {
        entry->second = database_.id_of(name);
        std::uint32_t number = 0;
        const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (!entry->second && failure == std::errc{} && end == name.data() + name.size()) {
            entry->second = number;
        }
    }
    return entry->second;
}

}  // namespace weir::priority
