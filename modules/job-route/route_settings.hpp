// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of [weir.route] that job-route reads itself. Must not know when they are read. Source:
// doc/configuration.md.
#pragma once
#include <jansson.h>

#include <cstdint>

#include "libfairshare/base/result.hpp"
#include "modules/job-route/hand_down.hpp"

namespace weir::route {

struct RouteSettings {
    std::int64_t patience_s = 30;                  ///< lost-after, rounded up, at least 1
    std::int64_t depth = HandDown::depth_default;  ///< hand-down
    friend bool operator==(const RouteSettings&, const RouteSettings&) = default;
};

/// The table [weir.route], or null. Errors: EINVAL for an unknown key or a bad value, with what would be right.
Result<RouteSettings> decode_route_settings(const json_t* route);

}  // namespace weir::route
