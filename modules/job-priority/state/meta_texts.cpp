// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see meta_texts.hpp.
#include "modules/job-priority/state/meta_texts.hpp"

#include <charconv>
#include <vector>

namespace weir::priority {
namespace {

std::int64_t number_or_zero(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// "number number ...".
std::string text_of_numbers(const std::vector<std::uint64_t>& numbers) {
    std::string text;
    for (const std::uint64_t number : numbers) {
        text += (text.empty() ? "" : " ") + std::to_string(number);
    }
    return text;
}

/// Those before the first that is no number.
std::vector<std::uint64_t> numbers_in(const std::string& text) {
    std::vector<std::uint64_t> numbers;
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end; ++at) {  // over the space
        const auto read = std::from_chars(at, end, number);
        if (read.ec != std::errc{}) {
            break;
        }
        numbers.push_back(number);
        at = read.ptr;
    }
    return numbers;
}

}  // namespace

std::map<std::string, std::string> meta_texts(const StateMeta& meta) {
    return {{"position_us", std::to_string(meta.position.time_since_epoch().count())},
            {"charged_floor_us", std::to_string(meta.charged_floor.time_since_epoch().count())},
            {"uplink_seq", std::to_string(meta.uplink_seq)},
            {"usage_since_us", std::to_string(meta.usage_since.time_since_epoch().count())},
            {"instance", meta.instance},
            {"hosts", text_of_numbers(meta.hosts)},
            {"names_key", text_of_numbers({meta.names_key.first, meta.names_key.second})},
            {"file_revision", std::to_string(meta.file_revision)}};
}

void set_meta(SavedState& saved, const std::string& key, const std::string& value) {
    StateMeta& meta = saved.meta;
    if (key == "position_us") {
        meta.position = Instant{Duration{number_or_zero(value)}};
    } else if (key == "charged_floor_us") {
        meta.charged_floor = Instant{Duration{number_or_zero(value)}};
    } else if (key == "uplink_seq") {
        meta.uplink_seq = static_cast<std::uint64_t>(number_or_zero(value));
    } else if (key == "usage_since_us") {
        meta.usage_since = Instant{Duration{number_or_zero(value)}};
    } else if (key == "instance") {
        meta.instance = value;
    } else if (key == "hosts") {
        meta.hosts = numbers_in(value);
    } else if (key == "names_key") {
        std::vector<std::uint64_t> parts = numbers_in(value);
        parts.resize(2);
        meta.names_key = {parts[0], parts[1]};
    } else if (key == "file_revision") {
        meta.file_revision = number_or_zero(value);
    } else if (key == "half_life_us") {
        saved.ledger.half_life = Duration{number_or_zero(value)};
    } else if (key == "frame") {
        saved.ledger.frame = number_or_zero(value);
    } else if (key == "since_us") {
        saved.ledger.since = Instant{Duration{number_or_zero(value)}};
    }
}

}  // namespace weir::priority
