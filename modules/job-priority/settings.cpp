// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see settings.hpp.
#include "modules/job-priority/settings.hpp"

#include "libfairshare/base/fsd.hpp"

namespace weir::priority {
namespace {

constexpr Duration interval_min = std::chrono::milliseconds(10);

}  // namespace

Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments) {
    Result<Settings> settings = config::read_settings(table, arguments);
    if (settings && settings->update_interval < interval_min) {
        return Error{std::errc::invalid_argument, "[weir] update-interval = " + encode_fsd(settings->update_interval) +
                                                      ": must be at least " + encode_fsd(interval_min) +
                                                      "; events are acted on at once anyway"};
    }
    return settings;
}

}  // namespace weir::priority
