// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree.hpp.
#include "libfairshare/tree/share_tree.hpp"

#include <algorithm>
#include <array>

#include "libfairshare/base/nearest_name.hpp"
#include "libfairshare/tree/diagnostics.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

namespace {

constexpr std::uint32_t none = 0;  // the root is no node's child or sibling

template <typename T>
std::size_t bytes_of(const std::vector<T>& values) {
    return values.capacity() * sizeof(T);
}

}  // namespace

std::string_view to_string(NodeKind kind) {
    static constexpr std::array<std::string_view, 7> names{"account", "any", "user", "others", "group", "queue", "qos"};
    return names.at(static_cast<std::size_t>(kind));
}

NodeKind kind_of_component(std::string_view component) {
    if (component.starts_with('@')) {
        return component == "@*" ? NodeKind::any_member : NodeKind::user;
    }
    for (const NodeKind kind : {NodeKind::group, NodeKind::queue, NodeKind::qos}) {
        const std::string_view prefix = to_string(kind);
        if (component.starts_with(prefix) && component.substr(prefix.size()).starts_with(':')) {
            return kind;
        }
    }
    return NodeKind::account;
}

ShareTree::ShareTree()
    : parent_{0}, first_child_{none}, next_sibling_{none}, shares_{1}, child_shares_{0}, flags_{0}, name_end_{0} {}

double ShareTree::entitled_share(NodeId id) const {
    while (shares_parent(id) && (is_association(id) || kind(id) == NodeKind::any_member)) {
        id = parent(id);
    }
    double share = 1.0;
    if (shares_parent(id)) {
        const NodeId level = level_parent(id);
        const std::uint64_t sum = child_shares(level);
        share = sum == 0 ? 0.0 : static_cast<double>(shares_at_level_of(id)) / static_cast<double>(sum);
        id = level;
    }
    while (id != root_node && share > 0) {
        share *= shares_parent(id) ? 1.0 : norm_shares(id);
        id = parent(id);
    }
    return share;
}

std::uint64_t ShareTree::shares_at_level_of(NodeId id) const {
    std::uint64_t sum = 0;
    std::vector<NodeId> passed{id};
    while (!passed.empty()) {
        const NodeId above = passed.back();
        passed.pop_back();
        for (const NodeId child : children(above)) {
            if (shares_parent(child)) {
                passed.push_back(child);
            } else if (kind(child) != NodeKind::any_member) {
                sum += shares(child);
            }
        }
    }
    return sum;
}

unsigned ShareTree::depth(NodeId id) const {
    unsigned steps = 0;
    for (; id != root_node; id = parent(id)) {
        ++steps;
    }
    return steps;
}

std::string_view ShareTree::component(NodeId id) const {
    const std::uint32_t begin = id == root_node ? 0 : name_end_[id.value - 1];
    return std::string_view{names_}.substr(begin, name_end_[id.value] - begin);
}

std::string_view ShareTree::name(NodeId id) const {
    const std::string_view text = component(id);
    const NodeKind is = kind(id);
    const std::size_t begin = is == NodeKind::account ? 0 : is <= NodeKind::others ? 1 : to_string(is).size() + 1;
    return text.substr(begin, (flags_[id.value] & has_partition_bit) != 0 ? text.find(':') - begin : text.npos);
}

std::string_view ShareTree::partition(NodeId id) const {
    const std::string_view text = component(id);
    return (flags_[id.value] & has_partition_bit) != 0 ? text.substr(text.find(':') + 1) : std::string_view{};
}

std::vector<NodeId> ShareTree::lineage(NodeId id) const {
    std::vector<NodeId> line;
    for (NodeId at = id; at != root_node; at = parent(at)) {
        line.push_back(at);
    }
    std::reverse(line.begin(), line.end());
    return line;
}

std::string ShareTree::path(NodeId id) const {
    std::size_t size = 0;
    for (NodeId at = id; at != root_node; at = parent(at)) {
        size += component(at).size() + 1;
    }
    if (size == 0) {
        return {};
    }
    std::string text(size - 1, '/');
    std::size_t end = text.size();
    for (NodeId at = id; at != root_node; at = parent(at)) {
        const std::string_view part = component(at);
        end -= part.size();
        part.copy(text.data() + end, part.size());
        end -= end == 0 ? 0 : 1;  // over the slash
    }
    return text;
}

bool ShareTree::has_path(NodeId id, std::string_view path) const {
    for (; id != root_node; id = parent(id)) {
        const std::string_view part = component(id);
        if (!path.ends_with(part)) {
            return false;
        }
        path.remove_suffix(part.size());
        if (parent(id) == root_node) {
            return path.empty();
        }
        if (!path.ends_with('/')) {
            return false;
        }
        path.remove_suffix(1);
    }
    return path.empty();
}

std::pair<std::size_t, std::size_t> ShareTree::equal_names(const std::vector<std::uint32_t>& index,
                                                           std::string_view wanted) const {
    const auto below = [&](std::uint32_t id, std::string_view text) { return name(NodeId{id}) < text; };
    const auto first = std::lower_bound(index.begin(), index.end(), wanted, below);
    const auto last = std::find_if(first, index.end(), [&](std::uint32_t id) { return name(NodeId{id}) != wanted; });
    return {static_cast<std::size_t>(first - index.begin()), static_cast<std::size_t>(last - index.begin())};
}

std::optional<NodeId> ShareTree::find(std::string_view path) const {
    if (path.empty()) {
        return root_node;
    }
    std::string_view last = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    if (last == "@*") {
        const auto owner = find(path.substr(0, path.size() - std::min(path.size(), last.size() + 1)));
        return owner && (path.size() == 2 || *owner != root_node) ? any_member(*owner) : std::nullopt;
    }
    const NodeKind is = kind_of_component(last);
    const auto& index = is == NodeKind::user      ? users_by_name_
                        : is == NodeKind::account ? accounts_by_name_
                                                  : credentials_by_name_;
    const std::string_view wanted = is == NodeKind::user ? last.substr(1, last.find(':') - 1)  // before a partition
                                    : is == NodeKind::account ? last
                                                              : last.substr(to_string(is).size() + 1);
    const auto [begin, end] = equal_names(index, wanted);
    for (std::size_t i = begin; i < end; ++i) {
        if (has_path(NodeId{index[i]}, path)) {
            return NodeId{index[i]};
        }
    }
    return std::nullopt;
}

Result<NodeId> ShareTree::account(std::string_view reference) const {
    if (reference.find('/') != std::string_view::npos || reference.empty()) {
        const auto found = find(reference);
        if (found && is_account(*found)) {
            return *found;
        }
    } else if (!reference.starts_with('@')) {
        const auto [begin, end] = equal_names(accounts_by_name_, reference);
        std::string candidates;
        for (std::size_t i = begin; i < end; ++i) {
            const NodeId id{accounts_by_name_[i]};
            if (end - begin == 1 || parent(id) == root_node) {
                return id;
            }
            candidates += (candidates.empty() ? "" : ", ") + path(id);
        }
        if (end != begin) {
            return Error{std::errc::invalid_argument, "account " + quoted(reference) + " is ambiguous: it is one of " +
                                                          candidates + "; give the full path"};
        }
    }
    std::vector<std::string> paths;
    std::vector<std::string_view> names;
    for (std::uint32_t id : accounts_by_name_) {
        paths.push_back(path(NodeId{id}));
        names.push_back(name(NodeId{id}));
    }
    names.insert(names.end(), paths.begin(), paths.end());
    const std::string hint = did_you_mean(reference, names);
    return Error{std::errc::no_such_file_or_directory,
                 "no account " + quoted(reference) + " in the share tree" + (hint.empty() ? "" : "; " + hint)};
}

std::optional<NodeId> ShareTree::any_member(NodeId account) const {
    const auto found = std::lower_bound(any_members_.begin(), any_members_.end(), std::pair{account.value, 0U});
    if (found == any_members_.end() || found->first != account.value) {
        return std::nullopt;
    }
    return NodeId{found->second};
}

std::optional<Association> ShareTree::association(NodeId account, std::string_view user,
                                                  std::string_view wanted) const {
    const auto [begin, end] = equal_names(users_by_name_, user);
    std::optional<NodeId> for_all;
    const auto rule = any_member(account);
    for (std::size_t i = begin; i < end; ++i) {
        const NodeId id{users_by_name_[i]};
        if (parent(id) != account) {
            continue;
        }
        const std::string_view of = partition(id);
        if (of.empty()) {
            for_all = id;
        } else if (of == wanted) {
            return Association{account, id};
        }
    }
    if (!for_all && rule && kind(*rule) == NodeKind::others) {
        for_all = rule;
    }
    return for_all || rule ? std::optional{Association{account, for_all}} : std::nullopt;
}

Result<Association> ShareTree::association(std::string_view account_reference, std::string_view user,
                                           std::string_view wanted) const {
    const std::vector<NodeId> own = associations_of(user);
    if (account_reference.empty()) {
        for (NodeId id : own) {
            if (const auto found = association(parent(id), user, wanted)) {
                return *found;
            }
        }
        if (!open_accounts_.empty()) {
            return *association(NodeId{open_accounts_.front()}, user, wanted);
        }
        std::vector<std::string_view> users;
        for (std::uint32_t id : users_by_name_) {
            users.push_back(name(NodeId{id}));
        }
        const std::string hint = did_you_mean(user, users);
        return Error{
            std::errc::no_such_file_or_directory,
            "user " + quoted(user) + " is in no account of the share tree" + (hint.empty() ? "" : "; " + hint)};
    }
    const auto owner = account(account_reference);
    if (!owner) {
        return owner.error();
    }
    if (const auto found = association(*owner, user, wanted)) {
        return *found;
    }
    std::string accounts;
    for (NodeId id : own) {
        accounts += (accounts.empty() ? "" : ", ") + path(parent(id));
    }
    return Error{std::errc::no_such_file_or_directory,
                 "user " + quoted(user) + " is not in account " + quoted(path(*owner)) +
                     (accounts.empty() ? " nor in any other" : "; the user's accounts are " + accounts)};
}

std::vector<NodeId> ShareTree::associations_of(std::string_view user) const {
    const auto [begin, end] = equal_names(users_by_name_, user);
    std::vector<NodeId> found;
    for (std::size_t i = begin; i < end; ++i) {
        found.push_back(NodeId{users_by_name_[i]});
    }
    return found;
}

std::vector<NodeId> ShareTree::default_lines() const {
    std::vector<NodeId> lines;
    for (const std::uint32_t index : users_by_name_) {
        const NodeId id{index};
        if (lines.empty() || component(lines.back()) != component(id)) {
            lines.push_back(id);
        }
    }
    return lines;
}

std::vector<NodeId> ShareTree::credentials(NodeKind wanted, std::string_view of) const {
    const auto [begin, end] = equal_names(credentials_by_name_, of);
    std::vector<NodeId> found;
    for (std::size_t i = begin; i < end; ++i) {
        if (kind(NodeId{credentials_by_name_[i]}) == wanted) {
            found.push_back(NodeId{credentials_by_name_[i]});
        }
    }
    return found;
}

std::span<const NodeTerm> ShareTree::listed_terms(NodeId id) const {
    const std::uint32_t owner = is_materialised(id) ? any_member(parent(id))->value : id.value;
    const auto [first, last] = std::equal_range(term_nodes_.begin(), term_nodes_.end(), owner);
    return std::span{terms_}.subspan(static_cast<std::size_t>(first - term_nodes_.begin()),
                                     static_cast<std::size_t>(last - first));
}

std::optional<Limit> ShareTree::limit(NodeId id, LimitKind wanted) const {
    for (const NodeTerm& term : terms(id)) {
        if (const auto* limit = std::get_if<Limit>(&term); limit != nullptr && limit->kind == wanted) {
            return *limit;
        }
    }
    return std::nullopt;
}

std::uint32_t ShareTree::shares(NodeId id, std::string_view partition) const {
    for (const NodeTerm& term : terms(id)) {
        if (const auto* shares = std::get_if<PartitionShares>(&term);
            shares != nullptr && shares->partition == partition) {
            return shares->shares;
        }
    }
    return shares(id);
}

ShareTree ShareTree::in_partition(std::string_view partition) const {
    ShareTree seen = *this;
    std::fill(seen.child_shares_.begin(), seen.child_shares_.end(), 0);
    for (std::uint32_t i = 1; i < size(); ++i) {
        const NodeId id{i};
        const std::uint32_t shares = this->shares(id, partition);
        seen.shares_[i] = shares;
        // Shares in a partition are the node's own there, also where it has its parent's elsewhere.
        const bool has_own = std::any_of(terms(id).begin(), terms(id).end(), [&](const NodeTerm& term) {
            const auto* of = std::get_if<PartitionShares>(&term);
            return of != nullptr && of->partition == partition;
        });
        seen.flags_[i] = static_cast<std::uint8_t>(flags_[i] & ~(has_own ? shares_parent_bit : 0U));
        if (kind(id) != NodeKind::any_member) {
            seen.child_shares_[seen.level_parent(id).value] += shares;
        }
    }
    return seen;
}

std::vector<std::string> ShareTree::partitions() const {
    std::vector<std::string> names;
    for (const NodeTerm& term : terms_) {
        if (const auto* shares = std::get_if<PartitionShares>(&term)) {
            names.push_back(shares->partition);
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<NodeId> ShareTree::open_accounts() const {
    std::vector<NodeId> found;
    for (std::uint32_t id : open_accounts_) {
        found.push_back(NodeId{id});
    }
    return found;
}

NodeId ShareTree::append_member(NodeId account, std::string_view user) {
    const std::uint32_t id = size();
    const std::size_t place = equal_names(users_by_name_, user).second;
    // Right behind `@*`: the end of a long list would cost a walk for every member.
    const std::uint32_t before = any_member(account)->value;
    const unsigned inherited = flags_[before] & (shares_parent_bit | has_terms_bit);
    parent_.push_back(account.value);
    first_child_.push_back(none);
    shares_.push_back(shares_[before]);
    child_shares_.push_back(0);
    flags_.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(NodeKind::user) | materialised_bit | inherited));
    names_ += '@';
    names_ += user;
    name_end_.push_back(static_cast<std::uint32_t>(names_.size()));
    const std::uint32_t after = next_sibling_[before];
    next_sibling_[before] = id;
    next_sibling_.push_back(after);
    child_shares_[level_of_children(account).value] += shares_[before];
    users_by_name_.insert(users_by_name_.begin() + static_cast<std::ptrdiff_t>(place), id);
    ++association_count_;
    return NodeId{id};
}

std::string user_name_error(std::string_view user) {
    const std::string why = component_error("@" + std::string{user});
    return why.empty() && (user == "*" || user.find(':') != user.npos) ? "that is not a user's name" : why;
}

std::optional<Error> ShareTree::member_error(NodeId account, std::string_view user) const {
    const auto rule = any_member(account);
    if (!rule || kind(*rule) == NodeKind::others) {
        return Error{std::errc::no_such_file_or_directory,
                     "account " + quoted(path(account)) + " takes no members without a line of their own; add " +
                         quoted(path(account) + "/@" + std::string{user}) + " = 1 to the share tree"};
    }
    if (const std::string why = user_name_error(user); !why.empty()) {
        return Error{std::errc::invalid_argument, "user " + quoted(user) + " cannot be a member: " + why};
    }
    if (const auto found = association(account, user); found && found->leaf) {
        return Error{std::errc::file_exists, "user " + quoted(user) + " is already in " + quoted(path(account))};
    }
    if (child_shares(level_of_children(account)) + shares(*rule) > child_shares_max) {
        return Error{std::errc::value_too_large, "account " + quoted(path(account)) + " is full: its members' shares" +
                                                     " would exceed 2^48; lower the shares of its \"@*\" line"};
    }
    return std::nullopt;
}

Result<std::pair<ShareTree, NodeId>> ShareTree::with_member(NodeId account, std::string_view user) const {
    if (auto error = member_error(account, user)) {
        return std::move(*error);
    }
    std::pair<ShareTree, NodeId> made{*this, root_node};
    made.second = made.first.append_member(account, user);
    return made;
}

ShareTree ShareTree::with_members(std::span<const std::pair<NodeId, std::string>> users) const {
    ShareTree tree = *this;
    for (const auto& [account, user] : users) {
        if (!tree.member_error(account, user)) {
            tree.append_member(account, user);
        }
    }
    return tree;
}

ShareTree ShareTree::with_members_of(const ShareTree& old) const {
    std::vector<std::pair<NodeId, std::string>> users;
    for (std::uint32_t i = 1; i < old.size(); ++i) {
        if (!old.is_materialised(NodeId{i})) {
            continue;
        }
        if (const auto account = find(old.path(old.parent(NodeId{i})))) {
            users.emplace_back(*account, old.name(NodeId{i}));
        }
    }
    return with_members(users);
}

bool ShareTree::extends(const ShareTree& old) const {
    return size() >= old.size() && std::equal(old.parent_.begin(), old.parent_.end(), parent_.begin()) &&
           names_.starts_with(old.names_) && std::equal(old.name_end_.begin(), old.name_end_.end(), name_end_.begin());
}

std::size_t ShareTree::memory_bytes() const {
    return sizeof *this + bytes_of(parent_) + bytes_of(first_child_) + bytes_of(next_sibling_) + bytes_of(shares_) +
           bytes_of(child_shares_) + bytes_of(flags_) + bytes_of(name_end_) + names_.capacity() +
           bytes_of(accounts_by_name_) + bytes_of(users_by_name_) + bytes_of(credentials_by_name_) +
           bytes_of(term_nodes_) + bytes_of(terms_) + bytes_of(any_members_) + bytes_of(open_accounts_);
}

}  // namespace weir
