// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_diff.hpp.
#include "libfairshare/tree/share_tree_diff.hpp"

#include <unordered_map>

namespace weir {

namespace {

constexpr std::uint32_t gone = unassociated.value;

class Matcher {
  public:
    Matcher(const ShareTree& from, const ShareTree& to)
        : from_(from), to_(to), match_(from.size(), unassociated), is_taken_(to.size(), 0) {}

    std::vector<NodeId> run() {
        take(root_node, root_node);
        descend(root_node);
        match_moved(NodeKind::account);
        match_moved(NodeKind::user);
        return std::move(match_);
    }

  private:
    void take(NodeId old_id, NodeId new_id) {
        match_[old_id.value] = new_id;
        is_taken_[new_id.value] = 1;
    }
    bool is_same(NodeId old_id, NodeId new_id) const { return from_.component(old_id) == to_.component(new_id); }

    /// Everything below a matched account, by name.
    void descend(NodeId top) {
        std::vector<NodeId> work{top};
        while (!work.empty()) {
            const NodeId old_parent = work.back();
            work.pop_back();
            match_children(old_parent, match_[old_parent.value]);
            for (NodeId child : from_.children(old_parent)) {
                if (from_.is_account(child) && match_[child.value] != unassociated) {
                    work.push_back(child);
                }
            }
        }
    }

    void match_children(NodeId old_parent, NodeId new_parent) {
        const auto old_children = from_.children(old_parent);
        const auto new_children = to_.children(new_parent);
        auto old_at = old_children.begin();
        auto new_at = new_children.begin();
        while (old_at != old_children.end() && new_at != new_children.end() && is_same(*old_at, *new_at)) {
            take(*old_at++, *new_at++);  // the usual case: nothing changed here
        }
        std::unordered_map<std::string_view, NodeId> by_name;
        for (; new_at != new_children.end(); ++new_at) {
            by_name.emplace(to_.component(*new_at), *new_at);
        }
        for (; old_at != old_children.end(); ++old_at) {
            const auto found = by_name.find(from_.component(*old_at));
            if (found != by_name.end()) {
                take(*old_at, found->second);
            }
        }
    }

    /// Names that vanished in exactly one place and appeared in exactly one.
    void match_moved(NodeKind kind) {
        struct Places {
            std::uint32_t vanished = 0;
            std::uint32_t appeared = 0;
            NodeId old_id{gone};
            NodeId new_id{gone};
        };
        std::unordered_map<std::string_view, Places> names;
        std::vector<NodeId> vanished;
        for (std::uint32_t i = 1; i < from_.size(); ++i) {
            if (match_[i] == unassociated && from_.kind(NodeId{i}) == kind) {
                Places& places = names[from_.component(NodeId{i})];
                ++places.vanished;
                places.old_id = NodeId{i};
                vanished.push_back(NodeId{i});
            }
        }
        if (names.empty()) {
            return;
        }
        for (std::uint32_t i = 1; i < to_.size(); ++i) {
            if (is_taken_[i] == 0 && to_.kind(NodeId{i}) == kind) {
                if (const auto found = names.find(to_.component(NodeId{i})); found != names.end()) {
                    ++found->second.appeared;
                    found->second.new_id = NodeId{i};
                }
            }
        }
        for (NodeId id : vanished) {
            const Places& places = names.at(from_.component(id));
            if (places.vanished == 1 && places.appeared == 1 && match_[id.value] == unassociated &&
                is_taken_[places.new_id.value] == 0) {
                take(id, places.new_id);
                if (kind == NodeKind::account) {
                    descend(id);
                }
            }
        }
    }

    const ShareTree& from_;
    const ShareTree& to_;
    std::vector<NodeId> match_;
    std::vector<std::uint8_t> is_taken_;
};

}  // namespace

std::vector<NodeId> match_nodes(const ShareTree& from, const ShareTree& to) {
    return Matcher{from, to}.run();
}

std::string_view to_string(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::added:
            return "add";
        case ChangeKind::removed:
            return "remove";
        case ChangeKind::moved:
            return "move";
        case ChangeKind::reshared:
            return "share";
    }
    return {};
}

std::vector<TreeChange> diff_trees(const ShareTree& from, const ShareTree& to) {
    const std::vector<NodeId> match = match_nodes(from, to);
    std::vector<TreeChange> changes;
    std::vector<NodeId> origin(to.size(), unassociated);
    for (std::uint32_t i = 0; i < from.size(); ++i) {
        const NodeId id{i};
        if (match[i] != unassociated) {
            origin[match[i].value] = id;
        } else {
            changes.push_back({ChangeKind::removed, from.path(id), {}, from.shares(id), 0, from.entitled_share(id), 0});
        }
    }
    for (std::uint32_t i = 1; i < to.size(); ++i) {
        const NodeId id{i};
        const NodeId old_id = origin[i];
        if (old_id == unassociated) {
            changes.push_back({ChangeKind::added, to.path(id), {}, 0, to.shares(id), 0, to.entitled_share(id)});
            continue;
        }
        const bool has_moved = match[from.parent(old_id).value] != to.parent(id);
        if (has_moved || from.shares(old_id) != to.shares(id) || from.shares_parent(old_id) != to.shares_parent(id)) {
            changes.push_back({has_moved ? ChangeKind::moved : ChangeKind::reshared, to.path(id),
                               has_moved ? from.path(old_id) : std::string{}, from.shares(old_id), to.shares(id),
                               from.entitled_share(old_id), to.entitled_share(id)});
        }
    }
    return changes;
}

}  // namespace weir
