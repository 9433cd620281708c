// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the threshold of suggest.hpp; the distance is libfairshare's.
#include "cmd/cli/suggest.hpp"

#include <algorithm>

#include "libfairshare/tree/diagnostics.hpp"

namespace weir::cmd {

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
    for (const std::string& candidate : candidates) {
        const bool begins = word.size() >= 2 && candidate.compare(0, word.size(), word) == 0;
        const std::size_t distance = begins ? 1 : edit_distance(word, candidate, best_distance);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace weir::cmd
