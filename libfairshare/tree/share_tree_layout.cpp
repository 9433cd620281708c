// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_layout.hpp.
#include "libfairshare/tree/share_tree_layout.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace weir {

class ShareTreeLayout {
  public:
    ShareTreeLayout(const std::vector<NodeSpec>& specs, const std::vector<std::uint32_t>& parents)
        : specs_(specs), parents_(parents) {}

    ShareTree run() {
        const std::vector<std::uint32_t> order = breadth_first();
        const auto count = static_cast<std::uint32_t>(order.size());
        reserve(count + 1);
        std::vector<std::uint32_t> id_of(specs_.size());
        std::vector<std::uint32_t> last_child(count + 1, 0);
        for (std::uint32_t k = 0; k < count; ++k) {
            id_of[order[k]] = k + 1;
        }
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t parent = parents_[order[k]] == below_root ? 0 : id_of[parents_[order[k]]];
            add_node(order[k], parent, last_child);
        }
        build_indices(id_of);
        return std::move(tree_);
    }

  private:
    std::vector<std::uint32_t> breadth_first() const {
        const auto count = static_cast<std::uint32_t>(specs_.size());
        std::vector<std::uint32_t> begin(specs_.size() + 2, 0);  // children of spec i: [begin[i + 1], begin[i + 2])
        const auto slot = [](std::uint32_t parent) { return parent == below_root ? 0 : parent + 1; };
        for (std::uint32_t parent : parents_) {
            ++begin[slot(parent) + 1];
        }
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<std::uint32_t> children(specs_.size());
        std::vector<std::uint32_t> next = begin;
        for (std::uint32_t i = 0; i < count; ++i) {
            children[next[slot(parents_[i])]++] = i;
        }
        std::vector<std::uint32_t> order(children.begin() + begin[0], children.begin() + begin[1]);
        order.reserve(specs_.size());
        for (std::size_t k = 0; k < order.size(); ++k) {
            const std::uint32_t at = order[k] + 1;
            order.insert(order.end(), children.begin() + begin[at], children.begin() + begin[at + 1]);
        }
        return order;
    }

    void reserve(std::size_t count) {
        tree_.parent_.reserve(count);
        tree_.first_child_.reserve(count);
        tree_.next_sibling_.reserve(count);
        tree_.shares_.reserve(count);
        tree_.child_shares_.reserve(count);
        tree_.flags_.reserve(count);
        tree_.name_end_.reserve(count);
    }

    void add_node(std::uint32_t i, std::uint32_t parent, std::vector<std::uint32_t>& last_child) {
        const std::uint32_t id = tree_.size();
        const std::string_view component = std::string_view{specs_[i].name}.substr(specs_[i].name.rfind('/') + 1);
        const auto shares = specs_[i].shares_parent ? 0 : static_cast<std::uint32_t>(specs_[i].shares);
        const NodeKind named = kind_of_component(component);
        const NodeKind kind = specs_[i].is_together ? NodeKind::others : named;
        unsigned flags = static_cast<unsigned>(kind);
        flags |= specs_[i].shares_parent ? ShareTree::shares_parent_bit : 0U;
        flags |= kind == NodeKind::user && component.find(':') != component.npos ? ShareTree::has_partition_bit : 0U;
        flags |= specs_[i].is_default ? ShareTree::default_bit : 0U;
        flags |= specs_[i].terms.empty() ? 0U : ShareTree::has_terms_bit;
        add_terms(id, specs_[i].terms);
        tree_.parent_.push_back(parent);
        tree_.parents_end_ = std::max(tree_.parents_end_, parent + 1);
        tree_.first_child_.push_back(0);
        tree_.next_sibling_.push_back(0);
        tree_.shares_.push_back(shares);
        tree_.child_shares_.push_back(0);
        tree_.flags_.push_back(static_cast<std::uint8_t>(flags));
        tree_.names_ += component;
        tree_.name_end_.push_back(static_cast<std::uint32_t>(tree_.names_.size()));
        if (named == NodeKind::any_member) {
            tree_.any_members_.emplace_back(parent, id);
        }
        if (kind != NodeKind::any_member) {
            tree_.child_shares_[tree_.level_of_children(NodeId{parent}).value] += shares;
        }
        if (last_child[parent] == 0) {
            tree_.first_child_[parent] = id;
        } else {
            tree_.next_sibling_[last_child[parent]] = id;
        }
        last_child[parent] = id;
    }

    void add_terms(std::uint32_t id, std::vector<NodeTerm> terms) {
        std::sort(terms.begin(), terms.end(), comes_before);
        tree_.term_nodes_.insert(tree_.term_nodes_.end(), terms.size(), id);
        std::move(terms.begin(), terms.end(), std::back_inserter(tree_.terms_));
    }

    /// Listed order is the order of the specs, not of the ids.
    void build_indices(const std::vector<std::uint32_t>& id_of) {
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            const NodeId id{id_of[i]};
            switch (tree_.kind(id)) {
                case NodeKind::account:
                    tree_.accounts_by_name_.push_back(id.value);
                    break;
                case NodeKind::user:
                    tree_.users_by_name_.push_back(id.value);
                    break;
                case NodeKind::any_member:
                case NodeKind::others:
                    tree_.open_accounts_.push_back(tree_.parent_[id.value]);
                    break;
                case NodeKind::group:
                case NodeKind::queue:
                case NodeKind::qos:
                    tree_.credentials_by_name_.push_back(id.value);
                    break;
            }
            tree_.association_count_ += tree_.is_association(id) ? 1 : 0;
        }
        for (auto* index : {&tree_.accounts_by_name_, &tree_.users_by_name_, &tree_.credentials_by_name_}) {
            sort_by_name(*index);
            index->shrink_to_fit();
        }
        std::sort(tree_.any_members_.begin(), tree_.any_members_.end());
        tree_.names_.shrink_to_fit();
        tree_.terms_.shrink_to_fit();
        tree_.term_nodes_.shrink_to_fit();
    }

    /// Stable, a default first. The first eight bytes decide most comparisons without a look at the names.
    void sort_by_name(std::vector<std::uint32_t>& ids) const {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
        keys.reserve(ids.size());
        for (std::uint32_t id : ids) {
            const std::string_view name = tree_.name(NodeId{id});
            std::uint64_t first_bytes = 0;
            for (std::size_t i = 0; i < 8; ++i) {
                first_bytes = first_bytes << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0U);
            }
            keys.emplace_back(first_bytes, id);
        }
        std::stable_sort(keys.begin(), keys.end(), [this](const auto& a, const auto& b) {
            if (a.first != b.first) {
                return a.first < b.first;
            }
            const int order = tree_.name(NodeId{a.second}).compare(tree_.name(NodeId{b.second}));
            return order != 0 ? order < 0 : tree_.is_default(NodeId{a.second}) && !tree_.is_default(NodeId{b.second});
        });
        std::transform(keys.begin(), keys.end(), ids.begin(), [](const auto& key) { return key.second; });
    }

    const std::vector<NodeSpec>& specs_;
    const std::vector<std::uint32_t>& parents_;
    ShareTree tree_;
};

ShareTree lay_out_tree(const std::vector<NodeSpec>& specs, const std::vector<std::uint32_t>& parents) {
    return ShareTreeLayout{specs, parents}.run();
}

}  // namespace weir
