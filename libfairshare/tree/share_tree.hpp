// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share tree as a flat value: accounts, users in accounts (associations), their shares, and the lookups.
// Must not know: usage, algorithms, files, text formats. Built by share_tree_builder.hpp.
// Invariant: a parent's id is below its children's, so one pass from the end sums everything upwards.
#pragma once
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/strong_id.hpp"

namespace weir {

/// Index of a node in its tree. Stays the same in every tree made from it by with_member().
using NodeId = StrongId<struct NodeIdTag, std::uint32_t>;
inline constexpr NodeId root_node{0};
/// Who pays where the owner of a job has no association: a bucket of the ledger, outside every tree.
inline constexpr NodeId unassociated{0xffffffffU};

/// `any_member` is the line `account/@*`: not a user but the rule for users who have no line of their own (LSF:
/// default).
enum class NodeKind : std::uint8_t { account, user, any_member };
/// What the last component of a path says: "@alice" a user, "@*" any member, all else an account.
NodeKind kind_of_component(std::string_view component);

/// A user in an account. Without `leaf` the user may enter by the account's `@*` line: see with_member().
struct Association {
    NodeId account;
    std::optional<NodeId> leaf;
};

class ShareTree {
  public:
    /// The children of one account, in the order of the text, members let in by `@*` behind that line.
    class Children {
      public:
        class Iterator {
          public:
            using value_type = NodeId;
            using difference_type = std::ptrdiff_t;
            using iterator_category = std::forward_iterator_tag;
            using pointer = const NodeId*;
            using reference = NodeId;
            Iterator() = default;
            Iterator(const ShareTree* tree, std::uint32_t at) : tree_(tree), at_(at) {}
            NodeId operator*() const { return NodeId{at_}; }
            Iterator& operator++() {
                at_ = tree_->next_sibling_[at_];
                return *this;
            }
            Iterator operator++(int) {
                auto old = *this;
                ++*this;
                return old;
            }
            friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

          private:
            const ShareTree* tree_ = nullptr;
            std::uint32_t at_ = 0;
        };
        Children(const ShareTree* tree, std::uint32_t first) : tree_(tree), first_(first) {}
        Iterator begin() const { return {tree_, first_}; }
        Iterator end() const { return {tree_, 0}; }
        bool empty() const { return first_ == 0; }

      private:
        const ShareTree* tree_;
        std::uint32_t first_;
    };

    static constexpr std::uint32_t shares_max = 0xffffffffU;
    /// A sum of siblings' shares stays below this, so that ratios are compared exactly in 256 bits. Source: ADR 0011.
    static constexpr std::uint64_t child_shares_max = (std::uint64_t{1} << 48) - 1;
    static constexpr unsigned depth_max = 64;

    /// The root alone.
    ShareTree();

    /// Number of nodes, the root included: ids are 0 to size() - 1.
    std::uint32_t size() const { return static_cast<std::uint32_t>(parent_.size()); }
    /// Number of users in accounts, `@*` lines not counted: the N of Fair Tree.
    std::uint32_t association_count() const { return association_count_; }

    NodeKind kind(NodeId id) const { return static_cast<NodeKind>(flags_[id.value] & kind_mask); }
    bool is_account(NodeId id) const { return kind(id) == NodeKind::account; }
    /// Whether the node is a leaf that pays and is ranked; association_count() counts these.
    bool is_association(NodeId id) const { return kind(id) == NodeKind::user; }
    /// A user that exists only because of an `@*` line; the text form does not show it.
    bool is_materialised(NodeId id) const { return (flags_[id.value] & materialised_bit) != 0; }
    /// REQUIRES: id is not the root.
    NodeId parent(NodeId id) const { return NodeId{parent_[id.value]}; }
    Children children(NodeId id) const { return {this, first_child_[id.value]}; }
    /// 0 to shares_max. Zero shares: entitled to nothing, served after every sibling that has shares (ADR 0013). 0
    /// where the node shares its parent's.
    std::uint32_t shares(NodeId id) const { return shares_[id.value]; }
    /// Shares are `parent` (Slurm's FairShare=parent): the node has none of its own and adds none to its level; its
    /// children stand among its parent's. What that means for a factor each algorithm says (ADR 0085).
    bool shares_parent(NodeId id) const { return (flags_[id.value] & shares_parent_bit) != 0; }
    /// The nearest node above that has shares of its own, or the root: `id` competes with all whose level_parent() that
    /// is (Slurm's fs-ancestor). REQUIRES: id is not the root. O(1) but for chains of `parent` accounts.
    NodeId level_parent(NodeId id) const {
        NodeId above = parent(id);
        while (above != root_node && shares_parent(above)) {
            above = parent(above);
        }
        return above;
    }
    /// Sum of the shares of the nodes whose level_parent() this is, `@*` lines not counted; 0 for a node with `parent`.
    std::uint64_t child_shares(NodeId id) const { return child_shares_[id.value]; }
    /// shares / child_shares(level_parent()); 0 where that sum is 0; the root 1; an `@*` line 0; a node that shares its
    /// parent's the same as its level_parent().
    double norm_shares(NodeId id) const;
    /// Part of the machine: the product of norm_shares() along the path, levels that share the parent's skipped.
    /// O(depth).
    double entitled_share(NodeId id) const;
    /// Steps to the root.
    unsigned depth(NodeId id) const;
    /// Last component as written: "lattice", "@alice", "@alice:debug", "@*"; the root's is empty.
    std::string_view component(NodeId id) const;
    /// Who or what that is: "lattice", "alice", "alice", "*".
    std::string_view name(NodeId id) const;
    /// The partition that this line of a user is for ("@alice:debug"); empty where it is for all.
    std::string_view partition(NodeId id) const;
    /// "physics/lattice", "physics/lattice/@alice", "bio/@*"; the root's is empty. O(depth).
    std::string path(NodeId id) const;

    /// The node of exactly this path. O(log size).
    std::optional<NodeId> find(std::string_view path) const;
    /// An account by full path, or by its last component where only one account has it.
    /// Errors: ENOENT with the nearest name, EINVAL where several accounts have that name (they are listed).
    Result<NodeId> account(std::string_view reference) const;
    /// The association of `user` in an account of the tree: the line for `partition` before the one for all; none where
    /// neither a line nor `@*` lets the user in.
    std::optional<Association> association(NodeId account, std::string_view user,
                                           std::string_view partition = {}) const;
    /// As above by account reference; an empty reference is the user's default account: that of the first listed line
    /// of the user, else the first listed `@*`. Errors: ENOENT with a sentence that lists the user's accounts.
    Result<Association> association(std::string_view account_reference, std::string_view user,
                                    std::string_view partition = {}) const;
    /// The users' own lines in listed order (the first is the default), those for one partition included.
    std::vector<NodeId> associations_of(std::string_view user) const;
    /// Accounts with an `@*` line, in listed order.
    std::vector<NodeId> open_accounts() const;

    /// A tree with one more leaf: `user` in `account`, with the shares of its `@*` line. Ids of this tree stay valid.
    /// Errors: ENOENT without `@*`, EEXIST where the user has a line, EINVAL for a bad name. O(size), a copy.
    Result<std::pair<ShareTree, NodeId>> with_member(NodeId account, std::string_view user) const;
    /// This tree with every member that `old` took in by `@*` and that this tree's `@*` lines still let in.
    ShareTree with_members_of(const ShareTree& old) const;
    /// Whether this tree came from `old` by with_member() alone: same ids, more leaves.
    bool extends(const ShareTree& old) const;
    /// Bytes held, for the budget of 200 per association.
    std::size_t memory_bytes() const;

  private:
    friend class ShareTreeAssembler;  // share_tree_builder.cpp: fills the arrays, then hands the value over
    static constexpr std::uint8_t kind_mask = 3;
    static constexpr std::uint8_t materialised_bit = 4;
    static constexpr std::uint8_t shares_parent_bit = 8;
    static constexpr std::uint8_t has_partition_bit = 16;

    bool has_path(NodeId id, std::string_view path) const;
    std::pair<std::size_t, std::size_t> equal_names(const std::vector<std::uint32_t>& index,
                                                    std::string_view name) const;
    std::optional<NodeId> any_member(NodeId account) const;
    NodeId append_member(NodeId account, std::string_view user);
    /// Shares that a node below `account` counts in: its own or, where that shares its parent's, further up.
    NodeId level_of_children(NodeId account) const {
        return account != root_node && shares_parent(account) ? level_parent(account) : account;
    }

    std::vector<std::uint32_t> parent_;        // the root's is itself
    std::vector<std::uint32_t> first_child_;   // 0: none (the root is nobody's child)
    std::vector<std::uint32_t> next_sibling_;  // 0: last
    std::vector<std::uint32_t> shares_;
    std::vector<std::uint64_t> child_shares_;
    std::vector<std::uint8_t> flags_;
    std::vector<std::uint32_t> name_end_;  // component i is names_[name_end_[i-1], name_end_[i])
    std::string names_;
    std::vector<std::uint32_t> accounts_by_name_;                       // sorted by name, then listed order
    std::vector<std::uint32_t> users_by_name_;                          // sorted by name, then listed order
    std::vector<std::pair<std::uint32_t, std::uint32_t>> any_members_;  // (account, `@*` node), sorted
    std::vector<std::uint32_t> open_accounts_;                          // listed order
    std::uint32_t association_count_ = 0;
};

}  // namespace weir
