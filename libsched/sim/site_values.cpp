// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see site_values.hpp.
#include "libsched/sim/site_values.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "libfairshare/base/escaped_text.hpp"

namespace weir {
namespace {

constexpr std::string_view between = ", \t\r";

/// The next word of `line`, taken off it; empty at its end.
std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(between), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(between));
    line.remove_prefix(word.size());
    return word;
}

template <typename Number>
std::optional<Number> number_of(std::string_view word) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<SiteValues> SiteValues::read(std::string_view text, const std::string& name) {
    SiteValues out;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(whole.size() + 1, text.size()));
        std::string_view line = whole.substr(0, whole.find('#'));
        const std::string_view job = next_word(line);
        const std::string_view value = next_word(line);
        if (job.empty()) {
            continue;
        }
        const auto bad = [&](const std::string& what) {
            return Error{std::errc::invalid_argument,
                         name + ":" + std::to_string(number) + ": " + what + ": \"" + escaped(whole, 60) + "\""};
        };
        const auto id = number_of<std::int64_t>(job);
        const auto given = number_of<double>(value);
        if (!id || !given || !std::isfinite(*given) || !next_word(line).empty()) {
            return bad("a line must be a job's number and its value, such as \"17,0.5\"");
        }
        if (!out.values_.emplace(*id, *given).second) {
            return bad("job " + std::to_string(*id) + " has a value already");
        }
    }
    return out;
}

}  // namespace weir
