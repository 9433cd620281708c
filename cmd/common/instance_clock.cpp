// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one clock that the command reads.
#include "cmd/common/instance_clock.hpp"

#include <chrono>

#include "cmd/common/text.hpp"

namespace weir::cmd {

double real_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

InstanceClock instance_clock(Client& client) {
    InstanceClock clock;
    const auto scale = client.attribute("clock.scale");
    const auto origin = client.attribute("clock.origin");
    if (scale && origin && parse_number(*scale) && parse_number(*origin)) {
        clock.scale = *parse_number(*scale);
        clock.origin = *parse_number(*origin);
    }
    return clock;
}

double instance_now(Client& client) {
    return instance_clock(client).scaled(real_now());
}

}  // namespace weir::cmd
