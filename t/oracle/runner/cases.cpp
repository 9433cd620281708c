// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see cases.hpp.
#include "t/oracle/runner/cases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

constexpr double tol_default = 1e-9;

}  // namespace

std::string plain(std::string_view name) {
    std::string made;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return made;
}

const Value* find_spelled(const Value* object, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        if (const Value* value = find(object, name)) {
            return value;
        }
    }
    for (const std::string_view name : names) {
        for (const auto& [key, value] : entries(object)) {
            if (plain(key) == plain(name)) {
                return value;
            }
        }
    }
    return nullptr;
}

const Value* Case::input(std::initializer_list<std::string_view> names) const {
    if (const Value* value = find_spelled(inputs, names)) {
        return value;
    }
    for (const char* group : {"factors", "use", "usage", "terms", "parameters", "params", "config", "settings"}) {
        const Value* object = find(inputs, group);
        if (const Value* value = is_object(object) ? find_spelled(object, names) : nullptr) {
            return value;
        }
    }
    return nullptr;
}

std::optional<double> Case::number(std::initializer_list<std::string_view> names) const {
    const Value* value = input(names);
    return is_number(value) ? std::optional{value->number()} : std::nullopt;
}

double Case::number_or(std::initializer_list<std::string_view> names, double otherwise) const {
    return number(names).value_or(otherwise);
}

std::optional<double> Case::hours(std::initializer_list<std::string_view> names) const {
    constexpr auto units = std::to_array<std::pair<std::string_view, double>>({
        {"_h", 1},
        {"_hours", 1},
        {"_hrs", 1},
        {"", 1},
        {"_s", 3600},
        {"_sec", 3600},
        {"_secs", 3600},
        {"_seconds", 3600},
        {"_min", 60},
        {"_mins", 60},
        {"_m", 60},
        {"_minutes", 60},
        {"_d", 1. / 24},
        {"_days", 1. / 24},
    });
    for (const std::string_view name : names) {
        for (const auto& [suffix, per_hour] : units) {
            if (const auto value = number({std::string{name} + std::string{suffix}})) {
                return *value / per_hour;
            }
        }
    }
    return std::nullopt;
}

double Case::hours_or(std::initializer_list<std::string_view> names, double otherwise) const {
    return hours(names).value_or(otherwise);
}

bool Case::is_set(std::initializer_list<std::string_view> names) const {
    const Value* value = input(names);
    const std::string word = plain(text_of(value));
    return is_true(value) || number_of(value) != 0 || word == "y" || word == "yes" || word == "true" || word == "on";
}

void for_each_case(const Value* document, Report& report, const std::function<void(const Case&, Report&)>& read) {
    for (const Value* entry : each(member(document, "cases"))) {
        const Case one{text_at(entry, "id"), member(entry, "inputs"), member(entry, "expected"),
                       find(entry, "tol") == nullptr ? tol_default : number_at(entry, "tol")};
        report.attempt(one.id, [&] { read(one, report); });
        for (const UnreadValue& figure : unread_values(*one.expected, "expected")) {
            report.fail(figure.path, figure.shown, "no check that reads it");
        }
    }
}

void expect(const Case& one, Report& report, const char* key, double got) {
    expect_any(one, report, {key}, got);
}

void expect_any(const Case& one, Report& report, std::initializer_list<std::string_view> keys, double got) {
    const Value* value = find_spelled(one.expected, keys);
    if (value == nullptr) {
        return;
    }
    const std::string_view key = *keys.begin();
    if (!is_number(value)) {
        report.fail(key, "a number", value->shown());
        return;
    }
    const double expected = number_of(value);
    if (one.tol > 0.01) {
        report.within(key, expected, got, one.tol);
    } else {
        report.number(key, expected, got, one.tol);
    }
}

}  // namespace weir::oracle
