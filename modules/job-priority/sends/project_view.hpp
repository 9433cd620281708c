// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the projects of each user in each account, as they are sent to the plugin. Must not know: the plugin's
// protocol.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/tree/projects.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::priority {

struct ProjectView {
    /// By account, every spelling: which of `lists` holds there. An account that is not in it takes any project.
    using Index = std::map<std::string, std::size_t>;

    std::vector<ProjectAccess> lists;  ///< no two equal
    std::map<std::string, Index>
        users;   ///< by name, of users with a line, those accounts included that `@*` opens to them
    Index open;  ///< of a user without a line
};

/// In one account a user's line for all queues counts before those for one, then the first. Empty where no line has a
/// list. O(nodes x depth).
ProjectView project_view(const ShareTree& tree);

}  // namespace weir::priority
