// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see node_path.hpp.
#include "cmd/common/node_path.hpp"

#include "cmd/common/text.hpp"
#include "libfairshare/tree/diagnostics.hpp"
#include "libfairshare/tree/nearest_path.hpp"

namespace weir::cmd {
namespace {

Error unknown(const ShareTree& tree, const std::string& reference) {
    const std::string hint = did_you_mean_path(tree, reference);
    return {std::errc::no_such_file_or_directory, "there is no line of " + weir::quoted(reference) +
                                                      " in the share tree" + (hint.empty() ? "." : "; " + hint) +
                                                      "\nSee: weir share show"};
}

}  // namespace

Result<std::string> node_path(const ShareTree& tree, const std::string& reference) {
    if (const auto node = tree.find(reference); node && *node != root_node) {
        return tree.path(*node);
    }
    if (const std::size_t at = reference.rfind("/@"); at != std::string::npos) {
        const Result<NodeId> account = tree.account(reference.substr(0, at));
        const auto node = account ? tree.find(tree.path(*account) + reference.substr(at)) : std::nullopt;
        return node ? Result<std::string>(tree.path(*node)) : unknown(tree, reference);
    }
    const std::string name = reference.substr(!reference.empty() && reference.front() == '@' ? 1 : 0);
    std::vector<std::string> lines;
    for (const NodeId node : tree.associations_of(name)) {
        lines.push_back(tree.path(node));
    }
    if (lines.size() > 1) {
        return Error{std::errc::invalid_argument, name + " has " + std::to_string(lines.size()) +
                                                      " lines: " + listed(lines) + ". Name the one that is meant."};
    }
    if (lines.size() == 1) {
        return lines.front();
    }
    const Result<NodeId> account = tree.account(reference);
    if (account && *account != root_node) {
        return tree.path(*account);
    }
    return !account && account.error().code == std::errc::invalid_argument ? account.error() : unknown(tree, reference);
}

}  // namespace weir::cmd
