// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see nearest_path.hpp.
#include "libfairshare/tree/nearest_path.hpp"

#include <vector>

#include "libfairshare/base/nearest_name.hpp"

namespace weir {

std::string did_you_mean_path(const ShareTree& tree, std::string_view reference) {
    std::vector<std::string> paths;
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        paths.push_back(tree.path(NodeId{index}));
    }
    const std::vector<std::string_view> names(paths.begin(), paths.end());
    return did_you_mean(reference, names);
}

}  // namespace weir
