// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the revisions' rules. See tree_store.hpp.
#include "modules/job-priority/tree/tree_store.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "libfairshare/base/check.hpp"
#include "libfairshare/toml/share_tree_revision.hpp"
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

TreeStore::TreeStore(StateLog& log) : log_(log), tree_(std::make_shared<const ShareTree>()) {}

std::vector<std::string> TreeStore::restore(const SavedState& saved) {
    std::vector<std::string> warnings;
    history_ = saved.revisions;
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

Result<TreeProposal> TreeStore::propose(const TreeMembers& members, const TreeEdit& edit, const std::string& file,
                                        Instant now) const {
    if (edit.reason.size() > reason_bytes_max) {
        return Error{std::errc::message_size, "the reason has " + std::to_string(edit.reason.size()) +
                                                  " bytes, and at most " + std::to_string(reason_bytes_max) +
                                                  " are kept: shorten it"};
    }
    Result<ShareTree> parsed = parse(edit.toml, file);  // parsed whole, so that the line of a mistake is the file's
    if (!parsed) {
        return parsed.error();
    }
    RevisedText given = split_revision(edit.toml);
    const std::optional<std::int64_t> base = edit.base_revision ? edit.base_revision : given.revision;
    if (base && *base != in_force_.revision && in_force_.revision != 0) {
        return stale(*base);
    }
    if (parsed->size() == 1 && tree_->size() > 1 && !edit.allows_empty) {
        return Error{std::errc::invalid_argument, file + ": there is no node in it, and the tree in force has " +
                                                      std::to_string(tree_->size() - 1) +
                                                      "; ask for an empty tree explicitly"};
    }
    TreeProposal proposal;
    proposal.is_new = in_force_.revision == 0 || given.text != in_force_.toml;
    if (!proposal.is_new) {
        proposal.revision = in_force_;
        return proposal;
    }
    proposal.lines = std::make_shared<const ShareTree>(std::move(*parsed));
    proposal.tree = std::make_shared<const ShareTree>(members.added_to(*proposal.lines));
    proposal.changes = diff_trees(members.in_force, *proposal.tree);
    const std::int64_t newest = history_.empty() ? 0 : history_.back().revision;
    proposal.revision = {newest + 1, now, edit.author, edit.reason, std::move(given.text)};
    return proposal;
}

Error TreeStore::stale(std::int64_t base) const {
    const bool is_known = std::any_of(history_.begin(), history_.end(),
                                      [&](const TreeRevision& revision) { return revision.revision == base; });
    return {stale_revision,
            "the share tree is at revision " + std::to_string(in_force_.revision) + ", not " + std::to_string(base) +
                (is_known ? ": " + in_force_.author + " changed it in the meantime" : ", which never existed here")};
}

Result<std::optional<TreeProposal>> TreeStore::propose_file(const TreeMembers& members, const std::string& text,
                                                            const std::string& file, Instant now) {
    const std::string bare = split_revision(text).text;
    if (bare == in_force_.toml) {
        log_.set_file_revision(in_force_.revision);
        return std::optional<TreeProposal>();
    }
    const auto last_read = std::find_if(history_.rbegin(), history_.rend(), [&](const TreeRevision& revision) {
        return revision.author == file_author || revision.revision == log_.meta().file_revision;
    });
    if (last_read != history_.rend() && last_read->toml == bare) {
        return std::optional<TreeProposal>();
    }
    Result<TreeProposal> proposal =
        propose(members, {text, file_author, "read from " + file, std::nullopt, false}, file, now);
    if (!proposal) {
        return proposal.error().code == stale_revision ? Error{stale_revision, file + ": " + proposal.error().message +
                                                                                   "; remove its first line to "
                                                                                   "put it in force nevertheless"}
                                                       : proposal.error();
    }
    return std::optional<TreeProposal>(std::move(*proposal));
}

Result<std::string> TreeStore::text_of(std::int64_t revision) const {
    const auto found = std::find_if(history_.begin(), history_.end(),
                                    [&](const TreeRevision& one) { return one.revision == revision; });
    if (found == history_.end()) {
        return Error{std::errc::no_such_file_or_directory,
                     "there is no revision " + std::to_string(revision) + " of the share tree; the newest is " +
                         std::to_string(history_.empty() ? 0 : history_.back().revision)};
    }
    return found->toml;
}

Result<std::vector<TreeChange>> TreeStore::changes_between(const TreeMembers& members, std::int64_t a,
                                                           std::optional<std::int64_t> b) const {
    const auto tree_at = [&](std::int64_t revision) -> Result<ShareTree> {
        const Result<std::string> text = revision == 0 ? Result<std::string>(std::string()) : text_of(revision);
        const Result<ShareTree> lines =
            text ? parse(*text, "revision " + std::to_string(revision)) : Result<ShareTree>(text.error());
        return lines ? members.added_to(*lines) : lines;
    };
    const Result<ShareTree> from = tree_at(a);
    const Result<ShareTree> to = tree_at(b.value_or(in_force_.revision));
    return !from || !to ? Result<std::vector<TreeChange>>((from ? to : from).error()) : diff_trees(*from, *to);
}

std::vector<std::pair<ShareTree, Instant>> TreeStore::before(const TreeMembers& members, std::int64_t revision,
                                                             std::size_t most) const {
    std::vector<std::pair<ShareTree, Instant>> trees;
    auto later = std::find_if(history_.rbegin(), history_.rend(),
                              [&](const TreeRevision& one) { return one.revision == revision; });
    for (; later != history_.rend() && std::next(later) != history_.rend() && trees.size() < most; ++later) {
        const Result<ShareTree> lines = parse(std::next(later)->toml, "an earlier revision");
        if (!lines) {
            break;
        }
        trees.emplace_back(members.added_to(*lines), later->time);
    }
    std::reverse(trees.begin(), trees.end());
    return trees;
}

void TreeStore::accept(const TreeProposal& proposal) {
    WEIR_CHECK(proposal.is_new);
    tree_ = proposal.lines;
    in_force_ = proposal.revision;
    history_.push_back(proposal.revision);
}

}  // namespace weir::priority
