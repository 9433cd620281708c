// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir export flux-accounting` and `weir import flux-accounting`: conversion of the share tree to the tables of
// flux-accounting and back.
#include "cmd/accounting/flux_accounting.hpp"

#include <filesystem>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/commands/conversion.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/output_file.hpp"
#include "cmd/common/reader.hpp"
#include "libfairshare/base/text/text_file.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::cmd {
namespace {

constexpr const char* banks_file = "bank_table.csv";
constexpr const char* associations_file = "association_table.csv";

/// As the instance has them; of a user who is in the tree by his id, that.
std::optional<std::uint32_t> userid_of(const Users& users, const std::string& name) {
    const auto known = users.id(name);
    return known ? std::optional(*known) : std::nullopt;
}

/// The tree of the text in force, with the members that joined by `@*`.
Result<ShareTree> tree_of(const json_t* answer) {
    auto parsed = parse_share_tree(text_at(answer, "toml"));
    if (const auto* mistakes = std::get_if<Diagnostics>(&parsed)) {
        return Error{std::errc::invalid_argument, "the instance's share tree is invalid:\n" + to_string(*mistakes)};
    }
    const ShareTree& tree = std::get<ShareTree>(parsed);
    std::vector<std::pair<NodeId, std::string>> members;
    for (const json_t* node : items_at(answer, "nodes")) {
        const std::string path = text_at(node, "path");
        const std::size_t at = path.rfind("/@");
        if (const auto account = at != std::string::npos ? tree.find(path.substr(0, at)) : std::nullopt) {
            members.emplace_back(*account, path.substr(at + 2));
        }
    }
    return tree.with_members(members);
}

/// Both or none: one table of an older tree beside one of a newer would be no tree.
Status write_tables(const std::filesystem::path& folder, const FluxAccountingTables& tables) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return Error{std::errc::io_error, "cannot make the folder " + folder.string() + ": " + failed.message()};
    }
    auto banks = OutputFile::create((folder / banks_file).string());
    if (!banks) {
        return banks.error();
    }
    auto associations = OutputFile::create((folder / associations_file).string());
    if (!associations) {
        return associations.error();
    }
    for (const auto& [file, text] : {std::pair{&*banks, &tables.banks}, {&*associations, &tables.associations}}) {
        if (const Status written = file->write(*text); !written) {
            return written;
        }
    }
    return OutputFile::commit_together({&*banks, &*associations});
}

Exit run_export_flux_accounting(Context& context) {
    const std::filesystem::path folder = context.args.words.empty() ? "." : context.args.words.front();
    return with_instance(context, [&](Client& client) {
        const auto answer = client.call("job-priority.tree-get", Json::object());
        if (!answer) {
            return context.fail(answer.error());
        }
        const auto tree = tree_of(answer->get());
        const Users users = Users::of(client);
        const auto tables =
            tree ? flux_accounting_tables(*tree, [&users](const std::string& name) { return userid_of(users, name); })
                 : Result<FluxAccountingTables>(tree.error());
        if (!tables) {
            return context.fail(Exit::failed, tables.error().message);
        }
        if (const Status written = write_tables(folder, *tables); !written) {
            return context.fail(Exit::failed, written.error().message + ".");
        }
        note_left_out(context, tables->left_out, "flux-accounting cannot hold this:");
        context.print((folder / banks_file).string() + "\n" + (folder / associations_file).string() + "\n");
        return Exit::ok;
    });
}

Exit run_import_flux_accounting(Context& context) {
    const std::filesystem::path folder = context.args.words.empty() ? "." : context.args.words.front();
    const auto banks = read_text_file((folder / banks_file).string());
    const auto associations = read_text_file((folder / associations_file).string());
    if (!banks || !associations) {
        const Error& error = banks ? associations.error() : banks.error();
        return context.fail(exit_of_unread(error),
                            "cannot read " + (folder / (banks ? associations_file : banks_file)).string() + ": " +
                                error.message + ". Write the tables with: flux account export-db");
    }
    return print_imported(context, read_flux_accounting(*banks, *associations));
}

}  // namespace

Command export_flux_accounting_command() {
    Command command;
    command.name = "export flux-accounting";
    command.summary = "write the share tree as tables for flux account pop-db";
    command.examples = {"weir export flux-accounting tables  # tables/bank_table.csv and tables/association_table.csv",
                        "flux account pop-db -c tables/bank_table.csv  # the banks first, into a new database",
                        "weir import flux-accounting tables  # the same tree again"};
    command.words = {"[FOLDER]", 0, 1};
    command.has_json = false;
    command.run = run_export_flux_accounting;
    return command;
}

Command import_flux_accounting_command() {
    Command command;
    command.name = "import flux-accounting";
    command.summary = "print the share tree that is in tables of flux account export-db";
    command.examples = {"flux account export-db  # writes its tables into this folder",
                        "weir import flux-accounting . > shares.toml  # banks and users as a share tree",
                        "weir import flux-accounting . | weir share apply --dry-run -  # what would change"};
    command.words = {"[FOLDER]", 0, 1};
    command.has_json = false;
    command.run = run_import_flux_accounting;
    return command;
}

}  // namespace weir::cmd
