// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the form of an event on the wire. Must not know what events there are.
#pragma once
#include <string>
#include <string_view>

namespace weir::cmd {

/// "event: NAME\ndata: JSON\n\n". `json` has no line break.
inline std::string event_text(std::string_view name, std::string_view json) {
    std::string text;
    text.reserve(name.size() + json.size() + 16);
    return text.append("event: ").append(name).append("\ndata: ").append(json).append("\n\n");
}

}  // namespace weir::cmd
