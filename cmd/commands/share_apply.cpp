// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share apply`: a file, TOML or JSON, becomes the share tree, all or nothing. A file that cannot be read or
// has no node changes nothing; nodes with usage or jobs are removed only after a confirmation.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/commands/tree_change.hpp"
#include "libfairshare/base/text/text_file.hpp"
#include "libfairshare/json/share_tree_json.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::cmd {
namespace {

/// In the order of its lines: a user's first one is that of the default account.
std::string toml_of(const ShareTree& tree, const std::string& json) {
    std::vector<NodeId> order;
    const auto object = Json::parse(json);
    const char* path = nullptr;
    json_t* value = nullptr;
    json_object_foreach(json_object_get(object->get(), "nodes"), path, value) {
        order.push_back(*tree.find(path));
    }
    return write_share_tree(tree, order);
}

Exit run_share_apply(Context& context) {
    const std::string path = context.args.words[0];
    const std::string shown = path == "-" ? "standard input" : path;
    const auto text = path == "-" ? read_standard_input() : read_text_file(path);
    if (!text) {
        return context.fail(exit_of_unread(text.error()), "cannot read " + shown + ": " + text.error().message + ".");
    }
    const bool is_json =
        text->find_first_not_of(" \t\r\n") != std::string::npos && (*text)[text->find_first_not_of(" \t\r\n")] == '{';
    const auto parsed = is_json ? parse_share_tree_json(*text, path) : parse_share_tree(*text, path);
    if (const auto* mistakes = std::get_if<Diagnostics>(&parsed)) {
        return context.fail(Exit::invalid_tree,
                            "the share tree is invalid:\n" + to_string(*mistakes) + "\nNothing was changed.");
    }
    TreeChangeRequest request;
    request.toml = is_json ? toml_of(std::get<ShareTree>(parsed), *text) : *text;
    request.reason = context.args.text("message");
    request.allows_empty = context.args.has("allow-empty");
    request.asks = true;
    if (std::get<ShareTree>(parsed).size() == 1 && !request.allows_empty) {
        return context.fail(Exit::invalid_tree, "there is no node in " + shown +
                                                    ": all accounts would be removed. Nothing was changed.\nTo do it:  "
                                                    "weir share apply --allow-empty " +
                                                    path);
    }
    return with_instance(context, [&](Client& client) { return put_in_force(context, client, request); });
}

}  // namespace

Command share_apply_command() {
    Command command;
    command.name = "share apply";
    command.summary = "set the share tree from a file";
    command.examples = {"weir share apply --dry-run shares.toml  # check it and show what would change",
                        "weir share apply -m \"grants of 2027\" shares.toml  # apply it, all or nothing",
                        "weir share export | sed '/@eve/d' | weir share apply --yes -  # from standard input"};
    command.words = {"FILE", 1, 1};
    command.options = tree_change_options();
    command.options.push_back(yes_option());
    command.options.push_back({"allow-empty", 0, "", "accept a file without any node", Kind::flag});
    command.run = run_share_apply;
    return command;
}

}  // namespace weir::cmd
