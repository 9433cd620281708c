// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the projects of each user. See project_view.hpp.
#include "modules/job-priority/sends/project_view.hpp"

#include <optional>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {
namespace {

/// By account: the number of the list, or nothing for any project.
using Settled = std::map<std::string, std::optional<std::size_t>>;

class ProjectLists {
  public:
    explicit ProjectLists(const ShareTree& tree) : tree_(tree) {}

    /// The list for the jobs that the line admits. An earlier line has precedence.
    void add(NodeId line, Settled& into) {
        const auto access = project_access(tree_, line);
        const std::optional<std::size_t> number = access ? std::optional(number_of(*access)) : std::nullopt;
        const NodeId account = account_above(tree_, tree_.parent(line));
        into.emplace(tree_.path(account), number);
        into.emplace(tree_.path(tree_.parent(line)), number);  // a default account, where it is a group's line
        const std::string last(tree_.name(account));
        if (const auto by_name = tree_.account(last); by_name && *by_name == account) {
            into.emplace(last, number);
        }
    }

    std::vector<ProjectAccess> take() { return std::move(lists_); }

  private:
    std::size_t number_of(const ProjectAccess& access) {
        const auto [found, is_new] = numbers_.emplace(access, lists_.size());
        if (is_new) {
            lists_.push_back(access);
        }
        return found->second;
    }

    const ShareTree& tree_;
    std::map<ProjectAccess, std::size_t> numbers_;
    std::vector<ProjectAccess> lists_;
};

ProjectView::Index index_of(const Settled& settled) {
    ProjectView::Index index;
    for (const auto& [account, number] : settled) {
        if (number) {
            index.emplace(account, *number);
        }
    }
    return index;
}

}  // namespace

ProjectView project_view(const ShareTree& tree) {
    ProjectView view;
    if (!has_projects(tree)) {
        return view;
    }
    ProjectLists lists(tree);
    Settled open;
    std::map<std::string, Settled> users;
    for (const bool is_for_all_queues : {true, false}) {
        for (std::uint32_t index = 1; index < tree.size(); ++index) {
            const NodeId line{index};
            const NodeKind kind = tree.kind(line);
            if (tree.partition(line).empty() != is_for_all_queues) {
                continue;
            }
            if (kind == NodeKind::user) {
                lists.add(line, users[std::string(tree.name(line))]);
            } else if (kind == NodeKind::any_member || kind == NodeKind::others) {
                lists.add(line, open);
            }
        }
    }
    for (auto& [name, settled] : users) {
        settled.insert(open.begin(), open.end());
        view.users.emplace(name, index_of(settled));
    }
    view.open = index_of(open);
    view.lists = lists.take();
    return view;
}

}  // namespace weir::priority
