// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_accounts.hpp.
#include "cmd/accounting/slurm_accounts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cmd/accounting/accounting_row.hpp"
#include "cmd/accounting/left_out.hpp"
#include "cmd/accounting/names.hpp"
#include "cmd/accounting/sacctmgr_dump.hpp"
#include "cmd/accounting/slurm_keys.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir::cmd {
namespace {

/// A limit of each association below an account, or of the cluster.
struct Inherited {
    std::optional<std::uint64_t> value;
    std::size_t source = 0;  ///< its place among the reader's sources_
};

struct SlurmAccount {
    std::string path;
    std::size_t above = 0;
    std::size_t line = 0;
    unsigned depth = 0;
    std::array<Inherited, limit_kinds> inherited = {};
};

/// Where a limit that users inherit is written.
struct LimitSource {
    std::size_t line = 0;
    std::string what;
    bool is_inherited = false;
};

struct SlurmUser {
    std::string default_account;
    std::size_t default_line = 0;
    std::vector<std::pair<std::size_t, std::size_t>> lines;  ///< account, and place in specs_
};

class SlurmReader {
  public:
    explicit SlurmReader(const std::string& file) : file_(file), left_out_(file) {}

    Status read_line(const DumpLine& line) {
        switch (line.title) {
            case DumpTitle::qos:
                left_out_.add(line.number, "the QOS " + std::string(line.name));
                return Done{};
            case DumpTitle::cluster:
                return read_cluster(line);
            default:
                break;
        }
        if (accounts_.empty()) {
            return mistake(line.number, "there is no Cluster line above " + in_quotes(std::string(line.name)) +
                                            "; begin with: Cluster - 'name'");
        }
        return line.title == DumpTitle::parent    ? read_parent(line)
               : line.title == DumpTitle::account ? read_account(line)
                                                  : read_user(line);
    }

    Result<ImportedTree> finish() {
        if (accounts_.empty()) {
            return table_error(file_ +
                               ": there is no Cluster line; write the file with: sacctmgr dump CLUSTER file=FILE");
        }
        mark_defaults();
        for (const LimitSource& source : sources_) {
            if (!source.is_inherited) {
                left_out_.add(source.line, source.what, "no user there inherits it");
            }
        }
        auto built = build_share_tree(specs_, file_);
        if (const auto* mistakes = std::get_if<Diagnostics>(&built)) {
            return table_error(to_string(*mistakes));
        }
        return ImportedTree{std::get<ShareTree>(std::move(built)), left_out_.lines()};
    }

  private:
    Error mistake(std::size_t line, const std::string& what) const {
        return table_error(dump_place(file_, line) + ": " + what);
    }

    /// What all lines have; keys without a place in the tree are named.
    Result<SlurmSettings> settings(const DumpLine& line, const std::string& owner) {
        const bool is_group_of_all = line.title == DumpTitle::cluster;
        auto read = slurm_settings(line, file_);
        if (!read) {
            return read.error();
        }
        for (const SlurmRemark& remark : read->remarks) {
            left_out_.add(line.number, remark.text, remark.why, owner);
        }
        for (const auto& [kind, text] : read->group.texts) {
            if (is_group_of_all) {
                left_out_.add(line.number, text, "the root of a share tree has no limits", owner);
            }
        }
        return read;
    }

    Status read_cluster(const DumpLine& line) {
        if (!accounts_.empty()) {
            return mistake(line.number, "a second Cluster line, after line " + std::to_string(accounts_[0].line) +
                                            "; a dump is of one cluster: import each alone");
        }
        const std::string owner = "of cluster " + std::string(line.name);
        const auto read = settings(line, owner);
        if (!read) {
            return read.error();
        }
        accounts_.push_back({});
        accounts_[0].line = line.number;
        by_name_.emplace("root", 0);
        inherit(*read, line.number, owner, accounts_[0]);
        return Done{};
    }

    Status read_parent(const DumpLine& line) {
        const std::string name = in_small_letters(line.name);
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) {
            return mistake(line.number, "there is no account " + in_quotes(name) +
                                            " above this line; an Account line comes before its Parent line");
        }
        parent_ = found->second;
        for (const DumpField& field : line.fields) {
            left_out_.add(line.number, std::string(field.text), "a Parent line has no settings", "of parent " + name);
        }
        return Done{};
    }

    Status read_account(const DumpLine& line) {
        const std::string name = in_small_letters(line.name);
        if (const std::string why = account_name_error(name); !why.empty()) {
            return mistake(line.number, in_quotes(name) + " is no name of an account here: " + why);
        }
        const auto [found, is_new] = by_name_.try_emplace(name, accounts_.size());
        if (!is_new) {
            return mistake(line.number, is_above(found->second)
                                            ? "the account " + in_quotes(name) +
                                                  " would be below itself; correct the " + "Parent line above"
                                            : "the account " + in_quotes(name) + " is on line " +
                                                  std::to_string(accounts_[found->second].line) +
                                                  ", too; a cluster has a name once: rename or remove one of the two");
        }
        if (accounts_[parent_].depth >= ShareTree::depth_max) {
            return mistake(line.number, "more than " + std::to_string(ShareTree::depth_max - 1) +
                                            " accounts stand above " + in_quotes(name) + "; flatten the tree");
        }
        const std::string owner = "of account " + name;
        const auto read = settings(line, owner);
        if (!read) {
            return read.error();
        }
        SlurmAccount account = accounts_[parent_];
        account.path += (account.path.empty() ? "" : "/") + name;
        account.above = parent_;
        account.line = line.number;
        ++account.depth;
        inherit(*read, line.number, owner, account);
        add_spec(line.number, account.path, *read, read->group.values);
        accounts_.push_back(std::move(account));
        return Done{};
    }

    Status read_user(const DumpLine& line) {
        const std::string name(line.name);
        if (const std::string why = user_line_error(name, ""); !why.empty()) {
            return mistake(line.number, in_quotes(name) + " is no name of a user here: " + why);
        }
        const SlurmAccount& account = accounts_[parent_];
        const auto read = settings(line, "of user " + name + " in " + (parent_ == 0 ? "root" : account.path));
        if (!read) {
            return read.error();
        }
        const std::string component = "@" + name + (read->partition.empty() ? "" : ":" + read->partition);
        if (const std::string why = user_line_error(name, read->partition); !why.empty()) {
            return mistake(line.number, in_quotes(read->partition) + " is no name of a partition here: " + why);
        }
        SlurmUser& user = users_[name];
        user.lines.emplace_back(parent_, specs_.size());
        note_default(line.number, name, *read, user);
        LimitsByKind limits = read->group.values;
        for (std::size_t kind = 0; kind < limit_kinds; ++kind) {
            const auto own = read->own.values[kind] ? read->own.values[kind] : from_above(account.inherited[kind]);
            if (own) {
                limits[kind] = std::min(*own, limits[kind].value_or(*own));
            }
        }
        add_spec(line.number, (account.path.empty() ? "" : account.path + "/") + component, *read, limits);
        return Done{};
    }

    bool is_above(std::size_t account) const {
        std::size_t at = parent_;
        while (at != account && at != 0) {
            at = accounts_[at].above;
        }
        return at == account && account != 0;
    }

    /// What the node passes on: its own limit, else what it has from above.
    void inherit(const SlurmSettings& read, std::size_t line, const std::string& owner, SlurmAccount& account) {
        for (const auto& [kind, text] : read.own.texts) {
            account.inherited[kind] = {read.own.values[kind], sources_.size()};
            sources_.push_back({line, text + " " + owner});
        }
    }

    std::optional<std::uint64_t> from_above(const Inherited& inherited) {
        if (inherited.value) {
            sources_[inherited.source].is_inherited = true;
        }
        return inherited.value;
    }

    void add_spec(std::size_t line, std::string path, const SlurmSettings& read, const LimitsByKind& limits) {
        NodeSpec spec;
        spec.name = std::move(path);
        spec.shares = read.shares;
        spec.shares_parent = read.shares_parent;
        spec.position = {static_cast<std::uint32_t>(line), 1};
        for (std::size_t kind = 0; kind < limit_kinds; ++kind) {
            if (limits[kind]) {
                spec.terms.emplace_back(Limit{static_cast<LimitKind>(kind), *limits[kind], std::nullopt});
            }
        }
        specs_.push_back(std::move(spec));
    }

    void note_default(std::size_t line, const std::string& name, const SlurmSettings& read, SlurmUser& user) {
        if (read.default_account.empty()) {
            return;
        }
        if (!user.default_account.empty() && user.default_account != read.default_account) {
            left_out_.add(user.default_line, "DefaultAccount='" + user.default_account + "' of user " + name,
                          "line " + std::to_string(line) + " has another one, which holds");
        }
        user.default_account = read.default_account;
        user.default_line = line;
    }

    /// A user in one account needs no mark.
    void mark_defaults() {
        for (auto& [name, user] : users_) {
            const auto in_account = [](std::size_t account) {
                return [account](const auto& line) { return line.first == account; };
            };
            const auto wanted = by_name_.find(user.default_account);
            const std::size_t account = wanted == by_name_.end() ? user.lines.front().first : wanted->second;
            const auto found = std::find_if(user.lines.begin(), user.lines.end(), in_account(account));
            if (!user.default_account.empty() && (wanted == by_name_.end() || found == user.lines.end())) {
                left_out_.add(user.default_line, "DefaultAccount='" + user.default_account + "' of user " + name,
                              "he has no line in that account");
            } else if (!std::all_of(user.lines.begin(), user.lines.end(), in_account(account))) {
                specs_[found->second].is_default = true;
            }
        }
    }

    std::string file_;
    LeftOut left_out_;
    std::vector<SlurmAccount> accounts_;  // the first is root
    std::unordered_map<std::string, std::size_t> by_name_;
    std::size_t parent_ = 0;
    std::map<std::string, SlurmUser> users_;
    std::vector<LimitSource> sources_;
    std::vector<NodeSpec> specs_;
};

}  // namespace

Result<ImportedTree> read_slurm_accounts(std::string_view text, const std::string& file) {
    const auto lines = read_dump(text, file);
    if (!lines) {
        return lines.error();
    }
    SlurmReader reader(file);
    for (const DumpLine& line : *lines) {
        if (const Status read = reader.read_line(line); !read) {
            return read.error();
        }
    }
    return reader.finish();
}

}  // namespace weir::cmd
