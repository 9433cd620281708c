// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see cases.hpp.
#include "t/oracle/runner/cases.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

std::optional<double> Case::number(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
        const json_t* value = json_object_get(inputs, key);
        if (json_is_number(value)) {
            return json_number_value(value);
        }
    }
    return std::nullopt;
}

double Case::number_or(std::initializer_list<const char*> keys, double otherwise) const {
    return number(keys).value_or(otherwise);
}

void for_each_case(const json_t* document, Report& report, void (*read)(const Case&, Report&)) {
    const json_t* entry = nullptr;
    std::size_t i = 0;
    json_array_foreach(member(document, "cases"), i, entry) {
        const Case one{text_at(entry, "id"), member(entry, "inputs"), member(entry, "expected"),
                       number_at(entry, "tol")};
        report.begin(one.id);
        try {
            read(one, report);
        } catch (const std::exception& error) {
            throw std::runtime_error{one.id + ": " + error.what()};
        }
    }
}

std::vector<double> numbers_of(const json_t* array) {
    std::vector<double> made;
    const json_t* value = nullptr;
    std::size_t i = 0;
    json_array_foreach(array, i, value) {
        if (!json_is_number(value)) {
            throw std::runtime_error{"a list of numbers holds something else"};
        }
        made.push_back(json_number_value(value));
    }
    return made;
}

std::vector<std::string> texts_of(const json_t* array) {
    std::vector<std::string> made;
    const json_t* value = nullptr;
    std::size_t i = 0;
    json_array_foreach(array, i, value) {
        made.emplace_back(json_string_value(value) == nullptr ? "" : json_string_value(value));
    }
    return made;
}

void expect(const Case& one, Report& report, const char* key, double got) {
    const json_t* value = json_object_get(one.expected, key);
    if (value == nullptr) {
        return;
    }
    const double expected = json_number_value(value);
    report.number(key, expected, got, one.tol > 0.01 ? one.tol / std::max(1.0, std::abs(expected)) : one.tol);
}

}  // namespace weir::oracle
