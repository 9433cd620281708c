// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see oracle.hpp.
#include "t/oracle/runner/oracle.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace weir::oracle {

namespace {

/// The shortest digits that read back as the same double.
std::string digits(double value) {
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
    return {std::begin(text), end};
}

}  // namespace

void Report::begin(std::string name) {
    cases_.push_back({std::move(name), {}, 0, {}});
}

void Report::attempt(std::string name, const std::function<void()>& read) {
    begin(std::move(name));
    try {
        read();
    } catch (const std::exception& error) {
        fail("the case", "one that can be read", error.what());
    }
}

Report::Case& Report::open_case() {
    if (cases_.empty()) {
        throw std::logic_error{"the reader compared before it began a case"};
    }
    return cases_.back();
}

void Report::compare(bool holds, std::string_view what, std::string_view expected, std::string_view got) {
    Case& open = open_case();
    ++open.compared;
    if (!holds) {
        open.failures.push_back({open.name, std::string{what}, std::string{expected}, std::string{got}, {}});
    }
}

void Report::number(std::string_view what, double expected, double got, double tol) {
    const bool is_near = std::isfinite(expected) && std::abs(expected - got) <= tol * std::max(1.0, std::abs(expected));
    compare(expected == got || is_near, what, digits(expected), digits(got));
}

void Report::within(std::string_view what, double expected, double got, double distance) {
    compare(expected == got || std::abs(expected - got) <= distance, what, digits(expected), digits(got));
}

void Report::printed(std::string_view what, double expected, double got, int decimals) {
    constexpr double half = 0.5000001;               // of the last digit
    constexpr double double_rounding = 4 * 0x1p-52;  // of a number so large that its last digits are not exact
    within(what, expected, got, half * std::pow(10.0, -decimals) + double_rounding * std::abs(expected));
}

void Report::integer(std::string_view what, std::int64_t expected, std::int64_t got) {
    compare(expected == got, what, std::to_string(expected), std::to_string(got));
}

void Report::text(std::string_view what, std::string_view expected, std::string_view got) {
    compare(expected == got, what, expected, got);
}

void Report::fail(std::string_view what, std::string_view expected, std::string_view got) {
    compare(false, what, expected, got);
}

void Report::excuse(std::string_view record) {
    open_case().record = record;
}

void Report::leave(const Value* value, std::string_view why) {
    const int values = value == nullptr ? 0 : value->leave();
    if (values == 0) {
        return;
    }
    const auto known = std::find_if(left_.begin(), left_.end(), [&](const Left& each) { return each.why == why; });
    if (known != left_.end()) {
        known->values += values;
    } else {
        left_.push_back({std::string{why}, values});
    }
}

int Report::figures() const {
    return std::accumulate(cases_.begin(), cases_.end(), 0,
                           [](int sum, const Case& each) { return sum + each.compared; });
}

int Report::passed() const {
    return static_cast<int>(std::count_if(cases_.begin(), cases_.end(), [](const Case& each) {
        return each.holds() || (each.compared > 0 && !each.record.empty());
    }));
}

int Report::excused() const {
    return static_cast<int>(std::count_if(
        cases_.begin(), cases_.end(), [](const Case& each) { return !each.failures.empty() && !each.record.empty(); }));
}

std::vector<Report::Failure> Report::failures() const {
    std::vector<Failure> all;
    for (const Case& each : cases_) {
        if (each.compared == 0) {
            all.push_back({each.name, "the case", "something to compare", "nothing", {}});
        }
        for (Failure failure : each.failures) {
            failure.record = each.record;
            all.push_back(std::move(failure));
        }
    }
    return all;
}

}  // namespace weir::oracle
