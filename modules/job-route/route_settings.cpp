// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see route_settings.hpp.
#include "modules/job-route/route_settings.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::route {
namespace {

constexpr json_int_t hand_down_max = 100000;

Error bad_value(const std::string& key, const json_t* value, const std::string& right) {
    return Error{std::errc::invalid_argument, "[weir.route] " + key + " = " + Json::ref(value).dump() + ": " + right};
}

}  // namespace

Result<RouteSettings> decode_route_settings(const json_t* route) {
    RouteSettings settings;
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(route), name, value) {
        const std::string_view key = name;
        if (key == "lost-after") {
            const char* text = json_string_value(value);
            const auto parsed = parse_fsd_with_unit(text != nullptr ? text : "");
            if (!parsed) {
                return bad_value(name, value, "must be a duration with a unit, as \"30s\" or \"5m\"");
            }
            const auto whole = std::chrono::duration_cast<std::chrono::seconds>(*parsed);
            settings.patience_s = std::max<std::int64_t>(1, whole.count() + (whole < *parsed ? 1 : 0));
        } else if (key == "hand-down") {
            if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > hand_down_max) {
                return bad_value(name, value,
                                 "must be a whole number from 1 to " + std::to_string(hand_down_max) +
                                     ", the jobs that wait in a child at most");
            }
            settings.depth = json_integer_value(value);
        } else if (key != "queues" && key != "serves") {
            return bad_value(name, value,
                             "there is no such key; the keys are queues, serves, lost-after and hand-down");
        }
    }
    return settings;
}

}  // namespace weir::route
