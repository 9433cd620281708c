// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what t/bench/build_cost.py compiles to learn how fast this machine compiles. No part of the build; it must stay
// as it is, since the record in baseline.json is in units of it.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

using Value = std::variant<std::monostate, bool, double, std::string, std::vector<std::string>>;

std::map<std::string, Value> sorted_values(const std::unordered_map<std::string, std::vector<std::string>>& lists) {
    std::map<std::string, Value> out;
    for (const auto& [name, list] : lists) {
        std::vector<std::string> copy = list;
        std::sort(copy.begin(), copy.end(), std::greater<>());
        copy.erase(std::unique(copy.begin(), copy.end()), copy.end());
        out[name] = copy.empty() ? Value{} : Value{std::move(copy)};
    }
    return out;
}

std::optional<std::string> first_text(const std::map<std::string, Value>& values) {
    for (const auto& [name, value] : values) {
        const auto text = std::visit(
            [](const auto& of) -> std::optional<std::string> {
                using Of = std::decay_t<decltype(of)>;
                if constexpr (std::is_same_v<Of, std::string>) {
                    return of;
                } else if constexpr (std::is_same_v<Of, std::vector<std::string>>) {
                    return of.empty() ? std::nullopt : std::optional(of.front());
                } else {
                    return std::nullopt;
                }
            },
            value);
        if (text) {
            return name + "=" + *text;
        }
    }
    return std::nullopt;
}
