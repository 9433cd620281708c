// SPDX-License-Identifier: LGPL-3.0-only
// Owns: short ways through files of the form {"cases": [{"id", "inputs", "expected", "tol"}]}. Must not know any
// system.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "t/oracle/runner/oracle.hpp"

namespace weir::oracle {

struct Case {
    std::string id;
    const json_t* inputs = nullptr;
    const json_t* expected = nullptr;
    double tol = 0;

    bool has(const char* input) const { return json_object_get(inputs, input) != nullptr; }
    /// The first of these inputs that is there and a number.
    std::optional<double> number(std::initializer_list<const char*> keys) const;
    double number_or(std::initializer_list<const char*> keys, double otherwise) const;
};

/// Calls read(case, report) for each, its case opened.
void for_each_case(const json_t* document, Report& report, void (*read)(const Case&, Report&));

std::vector<double> numbers_of(const json_t* array);
std::vector<std::string> texts_of(const json_t* array);
/// Compares the figure with `expected[key]` where the case asks for it; a tolerance above 0.01 is taken as it is, not
/// relative to the figure.
void expect(const Case& one, Report& report, const char* key, double got);
inline Duration seconds_of(double seconds) {
    return duration_from_seconds(seconds);
}

}  // namespace weir::oracle
