// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see nearest.hpp.
#include "broker/services/nearest.hpp"

#include <algorithm>
#include <utility>

namespace weir::broker {
namespace {

/// Levenshtein distance in bytes.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t fewest = name.size() / 2 + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t edits = edits_between(name, candidate);
        if (edits < fewest) {
            fewest = edits;
            best = candidate;
        }
    }
    return best;
}

}  // namespace weir::broker
