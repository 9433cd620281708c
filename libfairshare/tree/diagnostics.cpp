// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see diagnostics.hpp.
#include "libfairshare/tree/diagnostics.hpp"

#include <algorithm>
#include <tuple>

namespace weir {

std::string to_string(const Diagnostic& diagnostic) {
    std::string text = diagnostic.file;
    if (diagnostic.position.line != 0) {
        text += (text.empty() ? "line " : ":") + std::to_string(diagnostic.position.line);
        text += ":" + std::to_string(diagnostic.position.column);
    }
    if (!text.empty()) {
        text += ": ";
    }
    text += diagnostic.message;
    if (!diagnostic.hint.empty()) {
        text += "; " + diagnostic.hint;
    }
    return text;
}

std::string to_string(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
        text += (text.empty() ? "" : "\n") + to_string(diagnostic);
    }
    return text;
}

void sort_by_position(Diagnostics& diagnostics) {
    std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.position, a.message) < std::tie(b.position, b.message);
    });
}

}  // namespace weir
