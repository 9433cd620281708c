// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see reader.hpp.
#include "libsched/config/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir::config {
namespace {

std::string shown(const json_t* value) {
    return Json::ref(const_cast<json_t*>(value)).dump();  // dump() does not change it
}

/// As people write it: 100000, not 1e+05.
std::string shown(double value) {
    char text[32];
    const double size = std::abs(value);
    const auto form =
        size == 0 || (size >= 1e-6 && size < 1e15) ? std::chars_format::fixed : std::chars_format::general;
    return std::string(text, std::to_chars(text, text + sizeof text, value, form).ptr);
}

}  // namespace

void Reader::complain(const std::string& key, const json_t* value, const std::string& right) {
    complain((place_ ? place_(key) : "") + "[weir] " + key + " = " + shown(value) + ": " + right);
}

void Reader::complain(const std::string& sentence) {
    complaints_ += (complaints_.empty() ? "" : "\n") + sentence;
}

void Reader::unknown(const std::string& key, const json_t* value, const std::string& known, const std::string& what) {
    std::vector<std::string_view> names;
    for (std::size_t begin = 0; begin < known.size();) {
        const std::size_t end = std::min(known.find(", ", begin), known.size());
        names.push_back(std::string_view(known).substr(begin, end - begin));
        begin = end + 2;
    }
    const std::string_view last = std::string_view(key).substr(key.rfind('.') + 1);
    const std::string near = did_you_mean(last, names);
    complain(key, value, "unknown key; " + (near.empty() ? "" : near + " ") + "the " + what + " are " + known);
}

void Reader::text(const std::string& key, const json_t* value, std::string& into) {
    if (json_is_string(value)) {
        into = json_string_value(value);
    } else {
        complain(key, value, "must be text in quotes");
    }
}

void Reader::flag(const std::string& key, const json_t* value, bool& into) {
    if (json_is_boolean(value)) {
        into = json_is_true(value);
    } else {
        complain(key, value, "must be true or false");
    }
}

void Reader::duration(const std::string& key, const json_t* value, Duration lowest, Duration& into) {
    const std::string text = json_is_string(value)   ? json_string_value(value)
                             : json_is_number(value) ? shown(json_number_value(value))
                                                     : std::string();
    const Result<Duration> read = parse_fsd_with_unit(text);
    if (!read && parse_fsd(text)) {
        complain(key, value, read.error().message);
    } else if (!read) {
        complain(key, value, "must be a duration such as \"30s\", \"1.5h\" or \"7d\"");
    } else if (*read < lowest || *read > duration_max) {
        complain(key, value, "must be from " + encode_fsd(lowest) + " to " + encode_fsd(duration_max));
    } else {
        into = *read;
    }
}

void Reader::number(const std::string& key, const json_t* value, double lowest, double highest, double& into) {
    const double read = json_number_value(value);
    if (json_is_number(value) && std::isfinite(read) && read >= lowest && read <= highest) {
        into = read;
    } else {
        complain(key, value, "must be a number from " + shown(lowest) + " to " + shown(highest));
    }
}

}  // namespace weir::config
