// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of services. Must not know messages or sockets.
#include "broker/core/service_table.hpp"

namespace weir::broker {

std::string_view service_of(std::string_view topic) {
    return topic.substr(0, topic.find('.'));
}

Status ServiceTable::add(std::string_view name, std::string_view owner) {
    if (name.empty() || name.find('.') != std::string_view::npos) {
        return Error{std::errc::invalid_argument,
                     "'" + std::string(name) + "' is no service name: it must not be empty or contain a dot"};
    }
    if (!owners_.emplace(name, owner).second) {
        return Error{std::errc::file_exists, "service " + std::string(name) + " is registered already"};
    }
    return Done{};
}

Status ServiceTable::remove(std::string_view name, std::string_view owner) {
    const auto it = owners_.find(name);
    if (it == owners_.end()) {
        return Error{std::errc::no_such_file_or_directory, "service " + std::string(name) + " is not registered"};
    }
    if (it->second != owner) {
        return Error{std::errc::invalid_argument, "service " + std::string(name) + " belongs to another user"};
    }
    owners_.erase(it);
    return Done{};
}

void ServiceTable::remove_all(std::string_view owner) {
    std::erase_if(owners_, [owner](const auto& entry) { return entry.second == owner; });
}

std::string_view ServiceTable::find(std::string_view name) const {
    const auto it = owners_.find(name);
    return it == owners_.end() ? std::string_view() : std::string_view(it->second);
}

std::vector<std::string> ServiceTable::names(std::string_view owner) const {
    std::vector<std::string> names;
    for (const auto& [name, who] : owners_) {
        if (who == owner) {
            names.push_back(name);
        }
    }
    return names;
}

}  // namespace weir::broker
