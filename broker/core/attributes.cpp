// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of attributes. Must not know messages.
#include "broker/core/attributes.hpp"

#include <utility>

namespace weir::broker {
namespace {

std::optional<int> severity_of(std::string_view text) {
    if (text == "-1") {
        return -1;
    }
    return text.size() == 1 && text[0] >= '0' && text[0] <= '7' ? std::optional(text[0] - '0') : std::nullopt;
}

}  // namespace

Status Attributes::check(std::string_view name, std::string_view value, Kind kind) {
    if (kind == Kind::severity && !severity_of(value)) {
        return Error{std::errc::invalid_argument,
                     "attribute " + std::string(name) + "=" + std::string(value) +
                         " must be a severity: -1 (nothing), 0 (emergency) ... 3 (errors), 4 (warnings) ... 7 (debug)"};
    }
    return Done{};
}

int Attributes::severity(std::string_view name) const {
    const Value* value = find(name);
    return value == nullptr ? -1 : severity_of(value->text).value_or(-1);
}

void Attributes::set(std::string name, std::string value, Kind kind) {
    values_[std::move(name)] = Value{std::move(value), kind};
}

Status Attributes::change(std::string_view name, std::string_view value) {
    const auto it = values_.find(name);
    if (it == values_.end()) {
        values_.emplace(name, Value{std::string(value), Kind::runtime});
        return Done{};
    }
    if (it->second.kind == Kind::fixed) {
        return Error{std::errc::operation_not_permitted,
                     "attribute " + std::string(name) + " cannot be changed while the broker runs"};
    }
    if (auto fits = check(name, value, it->second.kind); !fits) {
        return fits;
    }
    it->second.text = value;
    return Done{};
}

Status Attributes::remove(std::string_view name) {
    const auto it = values_.find(name);
    if (it == values_.end()) {
        return Error{std::errc::no_such_file_or_directory, "there is no attribute " + std::string(name)};
    }
    if (it->second.kind != Kind::runtime) {
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
