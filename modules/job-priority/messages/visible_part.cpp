// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which nodes are a user's own, and which are the others beside them.
#include "modules/job-priority/messages/visible_part.hpp"

#include <algorithm>
#include <utility>

namespace weir::priority {

VisiblePart::VisiblePart(const PriorityService& service, std::uint32_t userid)
    : service_(&service), userid_(userid), user_(service.users().name(userid)), own_{root_node} {
    const ShareTree& tree = service.accounting().tree();
    for (const NodeId leaf : tree.associations_of(user_)) {
        const std::vector<NodeId> path = tree.lineage(leaf);
        own_.insert(own_.end(), path.begin(), path.end());
    }
    std::sort(own_.begin(), own_.end());
    own_.erase(std::unique(own_.begin(), own_.end()), own_.end());
    for (const NodeId above : own_) {
        const std::string path = tree.path(above);
        Others sum{above, (path.empty() ? "" : path + "/") + std::string(others_name), {}};
        for (const NodeId node : tree.children(above)) {
            if (!has(node) && tree.kind(node) != NodeKind::any_member) {
                sum.nodes.push_back(node);
            }
        }
        if (!sum.nodes.empty()) {
            others_.push_back(std::move(sum));
        }
    }
}

bool VisiblePart::has(NodeId node) const {
    return is_all() || std::binary_search(own_.begin(), own_.end(), node);
}

bool VisiblePart::has_path(const std::string& path) const {
    const auto node = is_all() ? std::nullopt : service_->accounting().tree().find(path);
    return is_all() || (node && *node != root_node && has(*node));
}

std::vector<NodeId> VisiblePart::nodes() const {
    if (!is_all()) {
        return {own_.begin() + 1, own_.end()};
    }
    const ShareTree& tree = service_->accounting().tree();
    std::vector<NodeId> all;
    all.reserve(tree.size());
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        if (tree.kind(NodeId{index}) != NodeKind::any_member) {
            all.push_back(NodeId{index});
        }
    }
    return all;
}

}  // namespace weir::priority
