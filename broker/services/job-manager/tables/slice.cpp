// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a slice. Must not know what the list has.
#include "broker/services/job-manager/tables/slice.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace weir::broker::jobs {
namespace {

/// Up to the next colon, which is taken, too. Nothing in `number`: the part is empty. False: it is no number.
bool take_part(std::string_view& text, std::optional<std::int64_t>& number) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, colon);
    text.remove_prefix(std::min(colon + 1, text.size()));
    if (part.empty()) {
        return true;
    }
    std::int32_t value = 0;
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), value);
    number = value;
    return failed == std::errc() && end == part.data() + part.size();
}

}  // namespace

std::optional<std::vector<std::size_t>> slice_positions(std::string_view slice, std::size_t length) {
    if (slice.size() < 3 || slice.front() != '[' || slice.back() != ']' || slice.find(':') == std::string_view::npos ||
        std::count(slice.begin(), slice.end(), ':') > 2) {
        return std::nullopt;
    }
    std::string_view text = slice.substr(1, slice.size() - 2);
    std::optional<std::int64_t> start, stop, step;
    if (!take_part(text, start) || !take_part(text, stop) || !take_part(text, step) || step == 0) {
        return std::nullopt;
    }
    const auto count = static_cast<std::int64_t>(length);
    const std::int64_t by = step.value_or(1);
    const auto bound = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
        const std::int64_t at = given ? *given + (*given < 0 ? count : 0) : otherwise;
        return by > 0 ? std::clamp<std::int64_t>(at, 0, count) : std::clamp<std::int64_t>(at, -1, count - 1);
    };
    std::vector<std::size_t> positions;
    const std::int64_t end = bound(stop, by > 0 ? count : -1);
    for (std::int64_t at = bound(start, by > 0 ? 0 : count - 1); by > 0 ? at < end : at > end; at += by) {
        positions.push_back(static_cast<std::size_t>(at));
    }
    return positions;
}

}  // namespace weir::broker::jobs
