// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_edit.hpp.
#include "cmd/serve/share_edit.hpp"

#include "cmd/common/reader.hpp"
#include "cmd/common/share_view.hpp"
#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::cmd {
namespace {

Error wrong(const std::string& sentence) {
    return Error{std::errc::invalid_argument, sentence};
}

/// The revision before the one in force; 0: there is none.
Result<std::int64_t> revision_before(Client& client, std::int64_t in_force) {
    const auto history = client.call("job-priority.history", Json::object());
    if (!history) {
        return history.error();
    }
    std::int64_t before = 0;
    for (const json_t* revision : items_at(history->get(), "revisions")) {
        const std::int64_t number = integer_at(revision, "revision");
        before = number < in_force ? number : before;
    }
    return before;
}

}  // namespace

Result<ShareEdit> share_edit_from(const std::string& json) {
    const auto read = Json::parse(json);
    const auto base = read ? read->integer_at("base") : std::nullopt;
    if (!base) {
        return wrong("a change is a JSON object with the member base: the revision that it changes");
    }
    for (const char* flag : {"undo", "plan"}) {
        if (read->at(flag) && !read->boolean_at(flag)) {
            return wrong(std::string(flag) + " is true or false: a plan of another type would be a change");
        }
    }
    ShareEdit edit;
    edit.base = *base;
    edit.is_undo = read->boolean_at("undo").value_or(false);
    edit.is_plan = read->boolean_at("plan").value_or(false);
    edit.path = read->string_at("path").value_or("");
    edit.reason = read->string_at("reason").value_or("");
    const auto shares = read->integer_at("shares");
    if (!edit.is_undo && (edit.path.empty() || !shares || *shares < 0 || *shares > ShareTree::shares_max)) {
        return wrong("a change has a path, and shares from 0 to " + std::to_string(ShareTree::shares_max));
    }
    edit.shares = shares.value_or(0);
    return edit;
}

Result<Json> put_share_edit(Client& client, const ShareEdit& edit) {
    const auto view = share_view(client);
    if (!view) {
        return view.error();
    }
    Json payload = Json::object();
    payload.set("author", edit.author).set("dry_run", edit.is_plan).set("base_revision", edit.base);
    payload.set("reason", edit.reason);
    if (edit.is_undo) {
        const auto before = revision_before(client, view->revision);
        if (!before || *before == 0) {
            return before ? wrong("there is no revision before this one") : before.error();
        }
        payload.set("to_revision", *before);
        if (edit.reason.empty()) {
            payload.set("reason", "back to revision " + std::to_string(*before));
        }
        return client.call("job-priority.tree-set", payload);
    }
    const EditedText edited = set_field_line(view->toml, edit.path, "shares", std::to_string(edit.shares));
    if (const auto* mistakes = std::get_if<Diagnostics>(&edited)) {
        return wrong(to_string(*mistakes));
    }
    payload.set("toml", std::get<std::string>(edited));
    return client.call("job-priority.tree-set", payload);
}

}  // namespace weir::cmd
