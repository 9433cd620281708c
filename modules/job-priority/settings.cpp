// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see settings.hpp.
#include "modules/job-priority/settings.hpp"

#include "libsched/fsd.hpp"

namespace weir::priority {
namespace {

constexpr Duration interval_min = std::chrono::milliseconds(10);

/// One sentence a setting that only the simulator follows.
std::string unsupported(const Settings& s) {
    std::string out;
    const auto refuse = [&](const std::string& what) { out += (out.empty() ? "" : "\n") + ("[weir] " + what); };
    if (s.policy != PolicyKind::multifactor) {
        refuse("policy = \"" + std::string(name_of(s.policy)) +
               "\": job-priority follows \"multifactor\" alone so far; the others can be tried in `weir sim`");
    }
    if (s.update_interval < interval_min) {
        refuse("update-interval = " + encode_fsd(s.update_interval) + ": must be at least " + encode_fsd(interval_min) +
               "; events are acted on at once anyway");
    }
    return out;
}

}  // namespace

Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments) {
    Result<Settings> settings = config::read_settings(table, arguments);
    if (settings) {
        if (const std::string refused = unsupported(*settings); !refused.empty()) {
            return Error{std::errc::invalid_argument, refused};
        }
    }
    return settings;
}

}  // namespace weir::priority
