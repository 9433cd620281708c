// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as a configuration in TOML, and their first lines as arguments "key=value": what is accepted can be used,
// what is not is explained.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/config/settings.hpp"
#include "libsched/config/usage_settings.hpp"

namespace {

void use(const weir::Result<weir::config::Settings>& settings) {
    if (!settings) {
        WEIR_CHECK(!settings.error().message.empty());
        return;
    }
    (void)weir::policy_warnings(*settings);
    const weir::PrioritySettings engine = weir::engine_settings(*settings, {128, 4, 1., 1.});
    WEIR_CHECK(weir::validate(engine).has_value());
    for (const double weight : engine.weights) {
        WEIR_CHECK(std::isfinite(weight));
    }
    weir::UsageRules rules = weir::usage_rules(*settings, weir::billing_unit);
    rules.history = settings->lsf.history;  // whatever policy or algorithm
    for (const auto decay : {weir::DecayKind::half_life, weir::DecayKind::window, weir::DecayKind::none}) {
        rules.decay = decay;
        WEIR_CHECK(rules.validate().has_value());
    }
    const std::array<weir::ResourceAmount, 2> amounts{{{"cpu", 64}, {"gres/gpu", 4}}};
    WEIR_CHECK(weir::billed_rate(settings->billing, amounts, "high", "batch") >= 0);
    WEIR_CHECK(settings->half_life > weir::Duration::zero() && settings->update_interval >= weir::Duration::zero());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    use(weir::config::read_settings_toml(text, "weir.toml"));
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < size && arguments.size() < 4;) {
        const std::size_t end = std::min(text.find('\n', at), size);
        arguments.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    use(weir::config::read_settings(nullptr, arguments));
    return 0;
}
