// SPDX-License-Identifier: LGPL-3.0-only
// Owns: numbers and names as people read them: percentages with one decimal, ratios, durations, widths in columns.
// Must not know what the numbers mean, nor where they are printed. Anchors: RFC 23 (durations as input).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// How text may look where it goes.
struct Glyphs {
    bool unicode = true;  ///< bars, `×` and `…`; otherwise ASCII stands in for them
};

/// A fraction of one as "41.2 %". Halves round away from zero; a value that is no number gives "-".
std::string percent(double fraction);
/// "1.67×" (or "1.67x"); `∞` ("inf") above 999.
std::string ratio(double value, Glyphs glyphs = {});
/// Of the share: infinite where something was used and nothing is entitled.
double times_entitled(double used, double entitled);
using weir::duration_text;  ///< "3d 4h"
/// "12 345": groups of three, apart by a space, from five digits on; `1234` stays.
std::string grouped(std::int64_t value);
/// Fixed decimals: fixed(2.345, 1) = "2.3".
std::string fixed(double value, int decimals);
/// Core-seconds as core-hours: whole ones from a thousand on, else with two decimals; below one with four, so that a
/// core-second is seen, and "<0.0001" for what is even less.
std::string core_hours(double core_s);

/// RFC 23 duration with its unit: "30s", "1.5h", "7d", "10m", "250ms"; "infinity"/"inf" is not accepted.
/// Returns nullopt when it is none, is negative or above 100 years.
std::optional<Duration> parse_duration(std::string_view text);
/// A whole number in [low, high]; nullopt otherwise (no sign but '-', no blanks).
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);
/// Decimal number without exponent traps: "2", "0.5"; nullopt otherwise.
std::optional<double> parse_number(std::string_view text);

/// Columns that UTF-8 text takes on a terminal: one a code point, none for combining marks, two for East Asian wide
/// ones.
std::size_t columns(std::string_view utf8);
/// At most `width` columns; what is cut is marked with `…` (or `.`). Never splits a code point.
std::string clipped(std::string_view utf8, std::size_t width, Glyphs glyphs = {});
std::string padded_left(std::string_view text, std::size_t width);
std::string padded_right(std::string_view text, std::size_t width);
/// Of a path, what stands behind its last '/'.
std::string file_name(const std::string& path);
/// "a, b and c".
std::string listed(const std::vector<std::string>& words);
/// Control characters (a job name may hold an escape sequence) replaced, so that no job can write to a terminal; also
/// those that turn the direction of text, by which a name could rearrange the words beside it (Unicode UAX 9).
std::string printable(std::string_view utf8);
/// The same of each line: line ends and tabs stay.
std::string printable_lines(std::string_view utf8);

}  // namespace weir::cmd
