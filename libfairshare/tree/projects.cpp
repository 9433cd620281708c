// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see projects.hpp.
#include "libfairshare/tree/projects.hpp"

namespace weir {
std::optional<ProjectAccess> project_access(const ShareTree& tree, NodeId node) {
    std::string by_default;
    for (; node != root_node; node = tree.parent(node)) {
        const auto* chosen = term_of<DefaultProject>(tree.terms(node));
        if (chosen != nullptr && by_default.empty()) {
            by_default = chosen->name;
        }
        if (const auto* projects = term_of<Projects>(tree.terms(node))) {
            return ProjectAccess{projects->names, by_default.empty() ? projects->names.front() : by_default};
        }
    }
    return std::nullopt;
}

bool has_projects(const ShareTree& tree) {
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        if (term_of<Projects>(tree.terms(NodeId{index})) != nullptr) {
            return true;
        }
    }
    return false;
}

}  // namespace weir
