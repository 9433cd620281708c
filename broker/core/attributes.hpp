// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the broker's attributes: names and string values that modules and clients read. Must not know messages.
// Source: flux-broker-attributes(7).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

class Attributes {
  public:
    /// `fixed` values never change while the broker runs, so that clients may cache them (flag 1 of attr.get's
    /// response). `severity`: a `runtime` one of the broker whose value is -1 (nothing) to 7 (debug).
    enum class Kind { fixed, runtime, severity };
    struct Value {
        std::string text;
        Kind kind = Kind::fixed;
    };

    /// Whether a value is valid. \return EINVAL with what would be right.
    static Status check(std::string_view name, std::string_view value, Kind kind);
    /// Sets a value by the broker itself; replaces an earlier value.
    void set(std::string name, std::string value, Kind kind = Kind::fixed);
    /// Sets a value for a client. \return EPERM for a fixed one, EINVAL for an invalid value.
    Status change(std::string_view name, std::string_view value);
    /// \return ENOENT, or EPERM for a fixed or severity one.
    Status remove(std::string_view name);
    const Value* find(std::string_view name) const;
    std::optional<std::string> get(std::string_view name) const;
    /// The value of a severity attribute.
    int severity(std::string_view name) const;
    /// Name order.
    const std::map<std::string, Value, std::less<>>& all() const { return values_; }

  private:
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace weir::broker
