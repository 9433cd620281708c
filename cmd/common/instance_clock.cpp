// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the clocks that the command reads.
#include "cmd/common/instance_clock.hpp"

#include <chrono>

#include "cmd/common/text.hpp"

namespace weir::cmd {

double real_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

double instance_now(Client& client) {
    const auto scale = client.attribute("clock.scale");
    const auto zero = client.attribute("clock.zero");
    if (!scale || !zero || !parse_number(*scale) || !parse_number(*zero)) {
        return real_now();
    }
    const auto monotonic = std::chrono::steady_clock::now().time_since_epoch();
    return *parse_number(*zero) + *parse_number(*scale) * std::chrono::duration<double>(monotonic).count();
}

}  // namespace weir::cmd
