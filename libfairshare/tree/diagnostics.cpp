// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see diagnostics.hpp.
#include "libfairshare/tree/diagnostics.hpp"

#include <algorithm>
#include <array>
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

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t longer = std::max(a.size(), b.size());
    if (longer - std::min(a.size(), b.size()) > limit || longer > 1024) {
        return limit + 1;
    }
    std::array<std::vector<std::size_t>, 3> rows;  // the current row, the one before, the one before that
    for (auto& row : rows) {
        row.resize(b.size() + 1);
    }
    for (std::size_t j = 0; j <= b.size(); ++j) {
        rows[0][j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::rotate(rows.begin(), rows.begin() + 2, rows.end());
        rows[0][0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = rows[1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            rows[0][j] = std::min({rows[1][j] + 1, rows[0][j - 1] + 1, substituted});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                rows[0][j] = std::min(rows[0][j], rows[2][j - 2] + 1);
            }
        }
    }
    return std::min(rows[0][b.size()], limit + 1);
}

std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
    std::optional<std::string_view> nearest;
    for (std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate, limit);
        if (distance == 0) {
            return candidate;
        }
        if (distance <= limit) {
            nearest = candidate;
            limit = distance - 1;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
    const auto nearest = nearest_name(name, candidates);
    return nearest ? "did you mean \"" + std::string{*nearest} + "\"?" : std::string{};
}

}  // namespace weir
