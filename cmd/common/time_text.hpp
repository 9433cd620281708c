// SPDX-License-Identifier: LGPL-3.0-only
// Owns: instants as text for people, in this machine's time zone.
#pragma once
#include <ctime>
#include <string>

namespace weir::cmd {

/// "2026-11-21 09:31:05".
inline std::string local_time(double unix_seconds) {
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    std::tm parts{};
    char text[32] = "";
    if (localtime_r(&seconds, &parts) != nullptr) {
        std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
    }
    return text;
}

}  // namespace weir::cmd
