// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share tree as a flat value: accounts, users in accounts (associations), their shares, and the lookups.
// Must not know: usage, algorithms, files, text formats. Built by share_tree_builder.hpp.
// Invariant: a parent's id is below its children's, so one pass from the end sums everything upwards.
#pragma once
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/strong_id.hpp"
#include "libfairshare/tree/node_terms.hpp"

namespace weir {

/// Index of a node in its tree. Stays the same in every tree made from it by with_member().
using NodeId = StrongId<struct NodeIdTag, std::uint32_t>;
inline constexpr NodeId root_node{0};
/// The payer of jobs whose owner has no association: a bucket of the ledger outside every tree.
inline constexpr NodeId unassociated{0xffffffffU};

/// The kind of a node. `any_member` is the line `account/@*`: not a user but the rule for users without a line of their
/// own, each of whom gets its shares (LSF: default); `others` the same line with `together`: one leaf for them all
/// (LSF: others). A group, queue or QoS may be a leaf or have nodes below it.
enum class NodeKind : std::uint8_t { account, any_member, user, others, group, queue, qos };
/// "account", "any", "user", "others", "group", "queue", "qos".
std::string_view to_string(NodeKind kind);
/// The kind that the last component of a path means: "@alice" a user, "@*" any member, "group:staff", "queue:debug" and
/// "qos:high" those, all else an account.
NodeKind kind_of_component(std::string_view component);
/// Why no line can be of a user of this name (a space, a quote, a slash, ...); empty if one can.
std::string user_name_error(std::string_view user);

/// A user in an account. Without `leaf` the user may join by the account's `@*` line: see with_member().
struct Association {
    NodeId account;
    std::optional<NodeId> leaf;
};

class ShareTree {
  public:
    /// The children of one account, in the order of the text, members that joined by `@*` after that line.
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
    /// A sum of siblings' shares is below this, so that levels are compared exactly in 256 bits.
    static constexpr std::uint64_t child_shares_max = (std::uint64_t{1} << 48) - 1;
    static constexpr unsigned depth_max = 64;

    /// The root alone.
    ShareTree();

    /// Number of nodes, the root included: ids are 0 to size() - 1.
    std::uint32_t size() const { return static_cast<std::uint32_t>(parent_.size()); }
    /// All parents have ids below this, so an array for parents alone has this many entries. Ids are assigned level by
    /// level, so it is far below size() if most nodes are leaves.
    std::uint32_t parents_end() const { return parents_end_; }
    /// Number of leaves that are charged: see is_association(); the N of Fair Tree.
    std::uint32_t association_count() const { return association_count_; }

    NodeKind kind(NodeId id) const { return static_cast<NodeKind>(flags_[id.value] & kind_mask); }
    bool is_account(NodeId id) const { return kind(id) == NodeKind::account; }
    /// Whether the node is a leaf that is charged and ranked; association_count() counts these: users, `others`, and
    /// groups, queues and QoS without nodes below them.
    bool is_association(NodeId id) const {
        const NodeKind is = kind(id);
        return is >= NodeKind::user && (is <= NodeKind::others || first_child_[id.value] == 0);
    }
    /// Marks the association that is charged for a user's jobs without an account; a user has at most one.
    bool is_default(NodeId id) const { return (flags_[id.value] & default_bit) != 0; }
    /// Shares in one partition, targets, limits: in the order of comes_before(). A member that joined by `@*` has those
    /// of that line.
    std::span<const NodeTerm> terms(NodeId id) const {
        return (flags_[id.value] & has_terms_bit) == 0 ? std::span<const NodeTerm>{} : listed_terms(id);
    }
    std::optional<Limit> limit(NodeId id, LimitKind kind) const;
    /// shares(), or those that the node has in this partition.
    std::uint32_t shares(NodeId id, std::string_view partition) const;
    /// The tree as seen by `partition`: the same ids, with the shares of that partition. O(size), a copy.
    ShareTree in_partition(std::string_view partition) const;
    /// The names of partitions in which some node has shares of its own. O(terms).
    std::vector<std::string> partitions() const;
    /// A user that exists only because of an `@*` line; the text form does not show it.
    bool is_materialised(NodeId id) const { return (flags_[id.value] & materialised_bit) != 0; }
    /// REQUIRES: id is not the root.
    NodeId parent(NodeId id) const { return NodeId{parent_[id.value]}; }
    /// From the node below the root down to `id`; empty for the root. O(depth).
    std::vector<NodeId> lineage(NodeId id) const;
    Children children(NodeId id) const { return {this, first_child_[id.value]}; }
    /// 0 to shares_max. A node with zero shares is entitled to nothing and comes after every sibling with shares, but
    /// it may run. Also 0 where the node shares its parent's.
    std::uint32_t shares(NodeId id) const { return shares_[id.value]; }
    /// Shares are `parent` (Slurm's FairShare=parent): the node has none of its own and adds none to its level; its
    /// children compete with its siblings. Each algorithm defines what this means for the factor.
    bool shares_parent(NodeId id) const { return (flags_[id.value] & shares_parent_bit) != 0; }
    /// The nearest node above with shares of its own, or the root (Slurm's fs-ancestor). `id` competes with all nodes
    /// that have the same level_parent(). REQUIRES: id is not the root. O(1), except in chains of `parent` accounts.
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
    double norm_shares(NodeId id) const {
        while (id != root_node && shares_parent(id)) {
            id = parent(id);
        }
        if (id == root_node) {
            return 1.0;
        }
        const std::uint64_t sum = child_shares(level_parent(id));
        return sum == 0 || kind(id) == NodeKind::any_member ? 0.0 : shares(id) / static_cast<double>(sum);
    }
    /// Part of the machine: the product of norm_shares() along the path, levels that share the parent's skipped. Of a
    /// node that shares its parent's the sum over its children, which have it from the level above; of a leaf that does
    /// so what its parent has, which it draws on together with all others there. O(depth), and O(nodes at its level
    /// below it) for a node that shares its parent's.
    double entitled_share(NodeId id) const;
    /// Steps to the root.
    unsigned depth(NodeId id) const;
    /// Last component as written: "lattice", "@alice", "@alice:debug", "@*"; the root's is empty.
    std::string_view component(NodeId id) const;
    /// Its name: "lattice", "alice", "alice", "*"; for "group:staff" it is "staff".
    std::string_view name(NodeId id) const;
    /// The partition of this line of a user ("@alice:debug"); empty if it is for all partitions.
    std::string_view partition(NodeId id) const;
    /// "physics/lattice", "physics/lattice/@alice", "bio/@*"; the root's is empty. O(depth).
    std::string path(NodeId id) const;

    /// The node of exactly this path. O(log size).
    std::optional<NodeId> find(std::string_view path) const;
    /// An account by its full path, or by its last component if only one account has it.
    /// Errors: ENOENT with the nearest name, EINVAL where several accounts have that name (they are listed).
    Result<NodeId> account(std::string_view reference) const;
    /// The association of `user` in an account of the tree: the line for `partition` before the one for all; none if
    /// neither a line nor `@*` admits the user.
    std::optional<Association> association(NodeId account, std::string_view user,
                                           std::string_view partition = {}) const;
    /// As above by account reference; an empty reference is the user's default account: that of the line marked
    /// default, else the first listed line of the user, else the first listed `@*`. Errors: ENOENT with a sentence that
    /// lists the user's accounts.
    Result<Association> association(std::string_view account_reference, std::string_view user,
                                    std::string_view partition = {}) const;
    /// The users' own lines, those for one partition included: the one marked default, then in listed order.
    std::vector<NodeId> associations_of(std::string_view user) const;
    /// The first of associations_of() of each user: the line of his default account. In order of names. O(users).
    std::vector<NodeId> default_lines() const;
    /// The groups, queues or QoS of that name, in listed order.
    std::vector<NodeId> credentials(NodeKind kind, std::string_view name) const;
    /// The account's `@*` line, of either kind.
    std::optional<NodeId> any_member(NodeId account) const;
    /// Accounts with an `@*` line, in listed order.
    std::vector<NodeId> open_accounts() const;

    /// A tree with one more leaf: `user` in `account`, with the shares of its `@*` line. Ids of this tree stay valid.
    /// Errors: ENOENT without `@*`, EEXIST where the user has a line, EINVAL for a bad name. O(size), a copy.
    Result<std::pair<ShareTree, NodeId>> with_member(NodeId account, std::string_view user) const;
    /// A tree with one more leaf for each (account, user) that its `@*` lines admit; the others are left out. One copy
    /// for all of them: O(size + users x (size of the index of users)), the latter a move of memory.
    ShareTree with_members(std::span<const std::pair<NodeId, std::string>> users) const;
    /// This tree with every member that joined `old` by `@*` and that this tree's `@*` lines still admit.
    ShareTree with_members_of(const ShareTree& old) const;
    /// Whether this tree came from `old` by with_member() alone: same ids, more leaves.
    bool extends(const ShareTree& old) const;
    /// Bytes held, for the budget of 200 per association.
    std::size_t memory_bytes() const;

  private:
    friend class ShareTreeLayout;  // share_tree_layout.cpp: fills the arrays, then hands the value over
    static constexpr std::uint8_t kind_mask = 7;
    static constexpr std::uint8_t materialised_bit = 8;
    static constexpr std::uint8_t shares_parent_bit = 16;
    static constexpr std::uint8_t has_partition_bit = 32;
    static constexpr std::uint8_t default_bit = 64;
    static constexpr std::uint8_t has_terms_bit = 128;

    std::span<const NodeTerm> listed_terms(NodeId id) const;
    bool has_path(NodeId id, std::string_view path) const;
    std::pair<std::size_t, std::size_t> equal_names(const std::vector<std::uint32_t>& index,
                                                    std::string_view name) const;
    /// Why the user cannot become a member of the account by its `@*` line.
    std::optional<Error> member_error(NodeId account, std::string_view user) const;
    NodeId append_member(NodeId account, std::string_view user);
    /// Sum of the shares of the nodes below `id` that stand at its level. REQUIRES: shares_parent(id).
    std::uint64_t shares_at_level_of(NodeId id) const;
    /// The node whose level a child of `account` competes in: `account`, or a node further up if it shares its
    /// parent's.
    NodeId level_of_children(NodeId account) const {
        return account != root_node && shares_parent(account) ? level_parent(account) : account;
    }

    std::vector<std::uint32_t> parent_;        // the root's is itself
    std::vector<std::uint32_t> first_child_;   // 0: none (the root is no node's child)
    std::vector<std::uint32_t> next_sibling_;  // 0: last
    std::vector<std::uint32_t> shares_;
    std::vector<std::uint64_t> child_shares_;
    std::vector<std::uint8_t> flags_;
    std::vector<std::uint32_t> name_end_;  // component i is names_[name_end_[i-1], name_end_[i])
    std::string names_;
    std::vector<std::uint32_t> accounts_by_name_;                       // sorted by name, then listed order
    std::vector<std::uint32_t> users_by_name_;                          // sorted by name, default, then listed order
    std::vector<std::uint32_t> credentials_by_name_;                    // groups, queues, QoS, likewise
    std::vector<std::pair<std::uint32_t, std::uint32_t>> any_members_;  // (account, `@*` node), sorted
    std::vector<std::uint32_t> open_accounts_;                          // listed order
    std::vector<std::uint32_t> term_nodes_;                             // sorted: whose each of terms_ is
    std::vector<NodeTerm> terms_;
    std::uint32_t association_count_ = 0;
    std::uint32_t parents_end_ = 1;
};

}  // namespace weir
