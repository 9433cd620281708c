// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see payer.hpp.
#include "libfairshare/tree/payer.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

namespace weir {
namespace {

bool is_credential(NodeKind kind) {
    return kind == NodeKind::group || kind == NodeKind::queue || kind == NodeKind::qos;
}

/// One search: the tree, the job, and the nodes of the job's own groups, queue and QoS.
class Search {
  public:
    Search(const ShareTree& tree, const Credentials& job) : tree_(tree), job_(job) {
        add(NodeKind::queue, job.queue);
        add(NodeKind::qos, job.qos);
        for (const std::string& group : job.groups) {
            add(NodeKind::group, group);
        }
        std::sort(own_.begin(), own_.end());
        const std::vector<NodeId> all = own_;
        own_.clear();
        std::copy_if(all.begin(), all.end(), std::back_inserter(own_), [&](NodeId node) {
            const NodeId above = credential_above(node);  // parents first: it is decided already
            return above == root_node || is_own(above);
        });
    }

    Result<Association> in_account() const {
        for (auto node = own_.rbegin(); node != own_.rend(); ++node) {  // parents first: the deepest come last
            const auto below = tree_.find(tree_.path(*node) + "/" + std::string{job_.account});
            if (const auto found = below && tree_.is_account(*below) ? down(*below) : std::nullopt) {
                return *found;
            }
        }
        const Result<NodeId> account = tree_.account(job_.account);
        if (!account) {
            return account.error();
        }
        if (!is_open(*account)) {
            return Error{std::errc::no_such_file_or_directory,
                         "account \"" + tree_.path(*account) + "\" is not for the job's group, queue and QoS"};
        }
        if (const auto found = down(*account)) {
            return *found;
        }
        return tree_.association(job_.account, job_.user, job_.queue);  // its error: who may what
    }

    Result<Association> by_default() const {
        if (const auto found = below(root_node)) {
            return *found;
        }
        for (const NodeId line : tree_.associations_of(job_.user)) {
            if (const auto found = from_account_of(line)) {
                return *found;
            }
        }
        for (const NodeId node : own_) {
            if (tree_.kind(node) == NodeKind::group) {
                if (const auto found = from_account_of(node)) {
                    return *found;
                }
            }
        }
        for (const NodeId open : tree_.open_accounts()) {
            if (const auto found = from_account_of(open)) {
                return *found;
            }
        }
        const bool has_line = !tree_.associations_of(job_.user).empty();
        if (!has_line && tree_.open_accounts().empty()) {
            return tree_.association("", job_.user, job_.queue);  // its error: the nearest name
        }
        return Error{std::errc::no_such_file_or_directory,
                     (has_line ? "no line of user \"" + std::string{job_.user} + "\""
                               : "user \"" + std::string{job_.user} + "\" has no line, and no @* line") +
                         " is for the job's group, queue and QoS"};
    }

  private:
    void add(NodeKind kind, std::string_view name) {
        if (!name.empty()) {
            const std::vector<NodeId> nodes = tree_.credentials(kind, name);
            own_.insert(own_.end(), nodes.begin(), nodes.end());
        }
    }

    /// The nearest group, queue or QoS above `node`, or the root.
    NodeId credential_above(NodeId node) const {
        do {
            node = tree_.parent(node);
        } while (node != root_node && !is_credential(tree_.kind(node)));
        return node;
    }

    bool is_own(NodeId node) const { return std::binary_search(own_.begin(), own_.end(), node); }

    /// Whether the job belongs to every group, queue and QoS on the way to `node`.
    bool is_open(NodeId node) const {
        const NodeId nearest = node == root_node || is_credential(tree_.kind(node)) ? node : credential_above(node);
        return nearest == root_node || is_own(nearest);  // own_ holds none below a closed one
    }

    /// By the groups, queues and QoS right below `node`.
    std::optional<Association> below(NodeId node) const {
        for (const NodeId child : own_) {
            if (tree_.parent(child) != node) {
                continue;
            }
            if (tree_.is_association(child)) {
                return Association{node, child};
            }
            if (const auto found = down(child)) {
                return found;
            }
        }
        return std::nullopt;
    }

    std::optional<Association> down(NodeId node) const {
        const auto found = below(node);
        return found ? found : tree_.association(node, job_.user, job_.queue);
    }

    std::optional<Association> from_account_of(NodeId node) const {
        return is_open(node) ? down(account_above(tree_, node)) : std::nullopt;
    }

    const ShareTree& tree_;
    const Credentials& job_;
    std::vector<NodeId> own_;  // in order of id: as listed, parents first
};

}  // namespace

bool is_by_job(const ShareTree& tree, NodeId node) {
    return is_credential(tree.kind(node)) || tree.name(node).find(':') != std::string_view::npos;
}

NodeId account_above(const ShareTree& tree, NodeId node) {
    while (node != root_node && !tree.is_account(node)) {
        node = tree.parent(node);
    }
    return node;
}

Result<Association> payer_of(const ShareTree& tree, const Credentials& job) {
    const Search search(tree, job);
    return job.account.empty() ? search.by_default() : search.in_account();
}

}  // namespace weir
