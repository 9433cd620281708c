// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see nearest_name.hpp.
#include "libfairshare/base/nearest_name.hpp"

#include <algorithm>
#include <array>

namespace weir {
namespace {

template <typename Names>
std::string nearest_of(std::string_view word, const Names& names) {
    std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
    std::string_view nearest;
    for (const std::string_view name : names) {
        const bool begins = word.size() >= 2 && name.size() > word.size() && name.substr(0, word.size()) == word;
        const std::size_t distance = begins ? 1 : edit_distance(word, name, limit);
        if (distance == 0) {
            return std::string(name);
        }
        if (distance <= limit) {
            nearest = name;
            limit = distance - 1;
        }
    }
    return std::string(nearest);
}

}  // namespace

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

std::string nearest_name(std::string_view word, std::span<const std::string_view> names) {
    return nearest_of(word, names);
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
    return nearest_of(word, names);
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
    const std::string name = nearest_name(word, names);
    return name.empty() ? std::string() : "did you mean \"" + name + "\"?";
}

}  // namespace weir
