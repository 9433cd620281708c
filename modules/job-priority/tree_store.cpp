// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the revisions' rules. See tree_store.hpp.
#include "modules/job-priority/tree_store.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::priority {
namespace {

Result<ShareTree> parse(const std::string& text, const std::string& file) {
    ShareTreeOrDiagnostics parsed = parse_share_tree(text, file);
    if (auto* tree = std::get_if<ShareTree>(&parsed)) {
        return std::move(*tree);
    }
    return Error{std::errc::invalid_argument, to_string(std::get<Diagnostics>(parsed))};
}

}  // namespace

TreeStore::TreeStore() : tree_(std::make_shared<const ShareTree>()) {}

std::vector<std::string> TreeStore::restore(std::vector<TreeRevision> revisions) {
    std::vector<std::string> warnings;
    history_ = std::move(revisions);
    for (auto revision = history_.rbegin(); revision != history_.rend(); ++revision) {
        Result<ShareTree> tree = parse(revision->toml, "revision " + std::to_string(revision->revision));
        if (tree) {
            tree_ = std::make_shared<const ShareTree>(std::move(*tree));
            in_force_ = *revision;
            break;
        }
        warnings.push_back("share tree " + tree.error().message + "; trying the revision before it");
    }
    return warnings;
}

Result<TreeProposal> TreeStore::propose(const ShareTree& current, const TreeEdit& edit, const std::string& file,
                                        Instant now) const {
    if (edit.base_revision && *edit.base_revision != in_force_.revision) {
        return Error{std::errc::resource_unavailable_try_again,
                     "the share tree is at revision " + std::to_string(in_force_.revision) + ", not " +
                         std::to_string(*edit.base_revision) + ": " + in_force_.author +
                         " changed it meanwhile; look at it again and repeat the change"};
    }
    Result<ShareTree> parsed = parse(edit.toml, file);
    if (!parsed) {
        return parsed.error();
    }
    TreeProposal proposal;
    proposal.tree = std::make_shared<const ShareTree>(parsed->with_members_of(current));
    proposal.changes = diff_trees(current, *proposal.tree);
    const std::int64_t newest = history_.empty() ? 0 : history_.back().revision;
    proposal.revision = {newest + 1, now, edit.author, edit.reason, edit.toml};
    return proposal;
}

Result<std::optional<TreeProposal>> TreeStore::propose_file(const ShareTree& current, const std::string& text,
                                                            const std::string& file, Instant now) const {
    const auto last_read = std::find_if(history_.rbegin(), history_.rend(),
                                        [](const TreeRevision& revision) { return revision.author == file_author; });
    if (text == in_force_.toml || (last_read != history_.rend() && last_read->toml == text)) {
        return std::optional<TreeProposal>();
    }
    Result<TreeProposal> proposal = propose(current, {text, file_author, "read from " + file, std::nullopt}, file, now);
    if (!proposal) {
        return proposal.error();
    }
    return std::optional<TreeProposal>(std::move(*proposal));
}

void TreeStore::accept(const TreeProposal& proposal) {
    tree_ = proposal.tree;
    in_force_ = proposal.revision;
    history_.push_back(proposal.revision);
}

}  // namespace weir::priority
