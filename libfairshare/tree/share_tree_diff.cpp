// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_diff.hpp.
#include "libfairshare/tree/share_tree_diff.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "libfairshare/tree/node_fields.hpp"

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
        for (const NodeKind kind :
             {NodeKind::account, NodeKind::group, NodeKind::queue, NodeKind::qos, NodeKind::user}) {
            match_moved(kind);
        }
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
                if (match_[child.value] != unassociated) {
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
                descend(id);
            }
        }
    }

    const ShareTree& from_;
    const ShareTree& to_;
    std::vector<NodeId> match_;
    std::vector<std::uint8_t> is_taken_;
};

}  // namespace

namespace {

/// "at.debug": "20", "target": "16.5+", "cores_max": "64, 128", …
void flatten(const std::string& key, const FieldValue& value, std::map<std::string, std::string>& into) {
    if (const auto* table = std::get_if<FieldTable>(&value.value)) {
        for (const auto& [below, one] : *table) {
            flatten(key + "." + below, one, into);
        }
        return;
    }
    std::string text = value.written;
    if (const auto* list = std::get_if<FieldList>(&value.value)) {
        for (const FieldValue& one : *list) {
            text += (text.empty() ? "" : ", ") + one.written;
        }
    }
    into[key] = text;
}

std::map<std::string, std::string> flat_fields(const ShareTree& tree, NodeId id) {
    std::map<std::string, std::string> flat;
    for (const auto& [key, value] : fields_of(tree, id)) {
        if (key != "shares" || tree.shares_parent(id)) {
            flatten(key, value, flat);
        }
    }
    return flat;
}

bool is_plain(const ShareTree& tree, NodeId id) {
    return tree.terms(id).empty() && !tree.shares_parent(id) && !tree.is_default(id) &&
           tree.kind(id) != NodeKind::others;
}

const std::string first_line = "first line";

/// A tree, and by id whether the node is the listed line of a user's default account, or the `@*` line of that of all
/// others.
struct Side {
    explicit Side(const ShareTree& of) : tree(of), is_default_line(of.size(), 0) {
        for (const NodeId id : of.default_lines()) {
            is_default_line[id.value] = of.is_materialised(id) ? 0 : 1;
        }
        if (const std::vector<NodeId> open = of.open_accounts(); !open.empty()) {
            is_default_line[of.any_member(open.front())->value] = 1;
        }
    }
    std::map<std::string, std::string> fields(NodeId id, bool with_default) const {
        std::map<std::string, std::string> flat = flat_fields(tree, id);
        if (with_default && is_default_line[id.value] != 0) {
            flat.try_emplace("default", first_line);
        }
        return flat;
    }
    const ShareTree& tree;
    std::vector<std::uint8_t> is_default_line;
};

std::vector<FieldChange> changed_fields(const Side& from, NodeId old_id, const Side& to, NodeId new_id) {
    const bool is_other = from.is_default_line[old_id.value] != to.is_default_line[new_id.value];
    if (!is_other && is_plain(from.tree, old_id) && is_plain(to.tree, new_id)) {
        return {};  // nearly all of a large tree
    }
    std::vector<FieldChange> changes;
    auto before = from.fields(old_id, is_other);
    for (auto& [key, value] : to.fields(new_id, is_other)) {
        const std::string old_value = before.contains(key) ? before[key] : std::string{};
        if (old_value != value) {
            changes.push_back({key, old_value, value});
        }
        before.erase(key);
    }
    for (auto& [key, value] : before) {
        changes.push_back({key, value, {}});
    }
    return changes;
}

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
        case ChangeKind::changed:
            return "change";
    }
    return {};
}

bool is_of_order(const TreeChange& change) {
    return change.kind == ChangeKind::changed && change.fields.size() == 1 && change.fields[0].field == "default" &&
           (change.fields[0].from == first_line || change.fields[0].to == first_line);
}

std::vector<TreeChange> diff_trees(const ShareTree& from, const ShareTree& to) {
    const std::vector<NodeId> match = match_nodes(from, to);
    const Side before(from);
    const Side after(to);
    std::vector<TreeChange> changes;
    std::vector<NodeId> origin(to.size(), unassociated);
    for (std::uint32_t i = 0; i < from.size(); ++i) {
        const NodeId id{i};
        if (match[i] != unassociated) {
            origin[match[i].value] = id;
        } else {
            changes.push_back(
                {ChangeKind::removed, from.path(id), {}, from.shares(id), 0, from.entitled_share(id), 0, {}});
        }
    }
    for (std::uint32_t i = 1; i < to.size(); ++i) {
        const NodeId id{i};
        const NodeId old_id = origin[i];
        if (old_id == unassociated) {
            changes.push_back({ChangeKind::added, to.path(id), {}, 0, to.shares(id), 0, to.entitled_share(id), {}});
            continue;
        }
        const bool has_moved = match[from.parent(old_id).value] != to.parent(id);
        const bool has_new_shares =
            from.shares(old_id) != to.shares(id) || from.shares_parent(old_id) != to.shares_parent(id);
        std::vector<FieldChange> fields = changed_fields(before, old_id, after, id);
        if (has_moved || has_new_shares || !fields.empty()) {
            changes.push_back({has_moved        ? ChangeKind::moved
                               : has_new_shares ? ChangeKind::reshared
                                                : ChangeKind::changed,
                               to.path(id), has_moved ? from.path(old_id) : std::string{}, from.shares(old_id),
                               to.shares(id), from.entitled_share(old_id), to.entitled_share(id), std::move(fields)});
        }
    }
    return changes;
}

}  // namespace weir
