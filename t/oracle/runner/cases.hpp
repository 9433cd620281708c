// SPDX-License-Identifier: LGPL-3.0-only
// Owns: short ways through files of the form {"cases": [{"id", "inputs", "expected", "tol"}]}. Must not know any
// system.
#pragma once
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "t/oracle/runner/oracle.hpp"

namespace weir::oracle {

struct Case {
    std::string id;
    const Value* inputs = nullptr;
    const Value* expected = nullptr;
    double tol = 0;

    bool has(const char* input) const { return find(inputs, input) != nullptr; }
    /// The input of the first of these names: as it is spelled, else without regard to capitals and to "_", "-" and
    /// blanks, at the top or in one of the objects that group inputs ("factors", "use", "parameters"). nullptr: none.
    const Value* input(std::initializer_list<std::string_view> names) const;
    /// The first of these inputs that is there and a number.
    std::optional<double> number(std::initializer_list<std::string_view> names) const;
    double number_or(std::initializer_list<std::string_view> names, double otherwise) const;
    /// A time in hours: each name with "_s", "_min", "_h" or "_days" behind it, or words for them; without any it is in
    /// hours.
    std::optional<double> hours(std::initializer_list<std::string_view> names) const;
    double hours_or(std::initializer_list<std::string_view> names, double otherwise) const;
    /// true, or "Y", "yes", "true" or "on" in any letters, or a number other than 0.
    bool is_set(std::initializer_list<std::string_view> names) const;
};

/// The first member with one of these names, in that sense.
const Value* find_spelled(const Value* object, std::initializer_list<std::string_view> names);
/// Small letters and digits alone.
std::string plain(std::string_view name);

/// Calls read(case, report) for each, its case opened. A case that cannot be read fails, the others go on; so does one
/// of whose expected figures any was not read.
void for_each_case(const Value* document, Report& report, const std::function<void(const Case&, Report&)>& read);

/// Compares the figure with `expected[key]` where the case asks for it; a tolerance above 0.01 is taken as it is, not
/// relative to the figure.
void expect(const Case& one, Report& report, const char* key, double got);
/// The same for the first of these spellings that the case asks for.
void expect_any(const Case& one, Report& report, std::initializer_list<std::string_view> keys, double got);
inline Duration seconds_of(double seconds) {
    return duration_from_seconds(seconds);
}

}  // namespace weir::oracle
