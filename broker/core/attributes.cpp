// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of attributes. Must not know messages.
#include "broker/core/attributes.hpp"

#include <utility>

namespace weir::broker {

void Attributes::set(std::string name, std::string value, Kind kind) {
    values_[std::move(name)] = Value{std::move(value), kind};
}

Status Attributes::change(std::string_view name, std::string_view value) {
    const auto it = values_.find(name);
    if (it == values_.end()) {
        values_.emplace(name, Value{std::string(value), Kind::RUNTIME});
        return Done{};
    }
    if (it->second.kind == Kind::FIXED) {
        return Error{std::errc::operation_not_permitted,
                     "attribute " + std::string(name) + " cannot be changed while the broker runs"};
    }
    it->second.text = value;
    return Done{};
}

Status Attributes::remove(std::string_view name) {
    const auto it = values_.find(name);
    if (it == values_.end()) {
        return Error{std::errc::no_such_file_or_directory, "there is no attribute " + std::string(name)};
    }
    if (it->second.kind == Kind::FIXED) {
        return Error{std::errc::operation_not_permitted,
                     "attribute " + std::string(name) + " cannot be removed while the broker runs"};
    }
    values_.erase(it);
    return Done{};
}

const Attributes::Value* Attributes::find(std::string_view name) const {
    const auto it = values_.find(name);
    return it == values_.end() ? nullptr : &it->second;
}

std::optional<std::string> Attributes::get(std::string_view name) const {
    const Value* value = find(name);
    return value ? std::optional(value->text) : std::nullopt;
}

}  // namespace weir::broker
