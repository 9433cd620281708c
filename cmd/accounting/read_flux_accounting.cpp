// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the tables as a share tree; see flux_accounting.hpp.
#include <algorithm>
#include <map>
#include <set>

#include "cmd/accounting/accounting_row.hpp"
#include "cmd/accounting/bank_tree.hpp"
#include "cmd/accounting/csv.hpp"
#include "cmd/accounting/flux_accounting.hpp"
#include "cmd/accounting/limit_columns.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/tree/projects.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir::cmd {
namespace {

const DroppedColumn user_queues{"queues", {""}, "which queues a user may use"};
const DroppedColumn sched_jobs{"max_sched_jobs", {"", "2147483647"}, "limits of scheduled jobs (max_sched_jobs)"};

/// A user in a bank, from the association's row.
struct Member {
    std::string user;
    std::size_t line = 0;
    NodeSpec spec = {};
    ProjectAccess projects = {};
};

/// Why no line can be of this user; empty if one can.
std::string username_error(const std::string& user) {
    return user == "*" || user.find(':') != std::string::npos ? "that has no \":\", and is not \"*\""
                                                              : component_error("@" + user);
}

class TableReader {
  public:
    Status read_banks(const std::string& text) {
        auto read = read_bank_table(text, left_out_);
        if (!read) {
            return read.error();
        }
        banks_ = std::move(*read);
        members_of_.resize(banks_.banks.size());
        return Done{};
    }

    Status read_associations(const std::string& text) {
        const auto rows = read_csv(text, association_table, {"username", "bank"});
        if (!rows) {
            return rows.error();
        }
        for (const CsvRow& row : *rows) {
            Member member{row.text("username"), row.line()};
            const std::string bank = row.text("bank");
            const std::string what = "@" + member.user + " of bank " + bank;
            if (!is_active(row, what, left_out_)) {
                continue;
            }
            const auto found = banks_.by_name.find(bank);
            if (found == banks_.by_name.end()) {
                return table_error(row.place() + ": there is no bank " + in_quotes(bank) + " in " + bank_table);
            }
            if (!banks_.banks[found->second].is_active) {
                left_out_.push_back(what + ": that bank is left out");
                continue;
            }
            if (const Status read = read_member(row, bank, member); !read) {
                return read.error();
            }
            members_of_[found->second].push_back(members_.size());
            members_.push_back(std::move(member));
        }
        return Done{};
    }

    Result<ImportedTree> tree() {
        for (const auto& [user, bank] : default_bank_) {
            if (lines_of_.at(user).count(bank) == 0) {
                left_out_.push_back("the default bank of @" + user + ": he has no row in " + bank);
            }
        }
        for (std::size_t i = 0; i < banks_.banks.size(); ++i) {
            if (banks_.banks[i].parent.empty()) {
                add_lines(i);
            }
        }
        auto built = build_share_tree(specs_);
        if (const auto* mistakes = std::get_if<Diagnostics>(&built)) {
            std::string text;
            for (const Diagnostic& mistake : *mistakes) {
                text += (text.empty() ? "" : "\n") + places_.at(mistake.position.line - 1) + ": " + mistake.message +
                        "; " + mistake.hint;
            }
            return table_error(text);
        }
        return ImportedTree{std::get<ShareTree>(std::move(built)), left_out_};
    }

  private:
    Status read_member(const CsvRow& row, const std::string& bank, Member& member) {
        if (const std::string why = username_error(member.user); !why.empty()) {
            return table_error(row.place() + ": " + in_quotes(member.user) + " is no user's name: " + why);
        }
        const auto [before, is_new] = lines_of_[member.user].try_emplace(bank, member.line);
        if (!is_new) {
            return table_error(row.place() + ": @" + printable(member.user) + " of bank " + in_quotes(bank) +
                               " is on line " + std::to_string(before->second) + ", too; remove one of the two");
        }
        if (const Status read = read_numbers(row, member.spec); !read) {
            return read.error();
        }
        if (const Status read = read_projects(row, member.projects); !read) {
            return read.error();
        }
        note_dropped(row, user_queues, left_out_);
        note_dropped(row, sched_jobs, left_out_);
        read_default_bank(row.text("default_bank"), member.user);
        return Done{};
    }

    /// The bank, the banks below it, its users, in the order in which the tree's text has them.
    void add_lines(std::size_t place) {
        const Bank& bank = banks_.banks[place];
        if (!bank.is_active) {
            return;
        }
        if (!bank.path.empty()) {
            NodeSpec spec;
            spec.name = bank.path;
            spec.shares = bank.shares;
            add_spec(std::move(spec), CsvRow::place_in(bank_table, bank.line));
        }
        for (const std::size_t i : bank.banks) {
            add_lines(i);
        }
        for (const std::size_t i : members_of_[place]) {
            add_line(members_[i], bank);
        }
    }

    /// A default that is the user's first line needs no mark.
    void add_line(Member& member, const Bank& bank) {
        const bool is_first = placed_.insert(member.user).second;
        const auto by_default = default_bank_.find(member.user);
        member.spec.name = path_below(bank.path, "@" + member.user);
        member.spec.is_default = !is_first && by_default != default_bank_.end() && by_default->second == bank.name;
        give_projects(member);
        add_spec(std::move(member.spec), CsvRow::place_in(association_table, member.line));
    }

    /// The line of its position is that in places_.
    void add_spec(NodeSpec spec, std::string place) {
        places_.push_back(std::move(place));
        spec.position = {static_cast<std::uint32_t>(places_.size()), 1};
        specs_.push_back(std::move(spec));
    }

    /// Each row of a user has it. Where they differ the later one holds, as in flux-accounting.
    void read_default_bank(const std::string& bank, const std::string& user) {
        if (bank.empty()) {
            return;
        }
        const auto [found, is_new] = default_bank_.try_emplace(user, bank);
        if (!is_new && found->second != bank) {
            left_out_.push_back("the default bank of @" + user + ": " + found->second + " in one row, " + bank +
                                " in a later one, which holds");
            found->second = bank;
        }
    }

    /// The default project is allowed, listed or not.
    Status read_projects(const CsvRow& row, ProjectAccess& into) {
        const std::string by_default = row.text("default_project");
        std::vector<std::string> names;
        std::string text = row.text("projects");
        text += (text.empty() ? std::string(no_project) : "") + (by_default.empty() ? "" : "," + by_default);
        for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
            end = std::min(text.find(',', begin), text.size());
            const std::string name = text.substr(begin, end - begin);
            if (const std::string why = project_error(name); !why.empty()) {
                return table_error(row.place() + ": " + why);
            }
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                names.push_back(name);
            }
        }
        uses_projects_ = uses_projects_ || names.size() > 1 || names.front() != no_project;
        into = {std::move(names), by_default};
        return Done{};
    }

    /// If no user has a project, the tree has no lists, and any project is allowed.
    void give_projects(Member& member) const {
        if (!uses_projects_) {
            return;
        }
        const auto& [names, by_default] = member.projects;
        member.spec.terms.emplace_back(Projects{names});
        if (!by_default.empty() && by_default != names.front()) {
            member.spec.terms.emplace_back(DefaultProject{by_default});
        }
    }

    static Status read_numbers(const CsvRow& row, NodeSpec& spec) {
        const auto shares = row.integer("shares", 1);
        if (!shares) {
            return shares.error();
        }
        spec.shares = *shares;
        for (const LimitColumn& column : limit_columns) {
            const auto limit = row.integer(column.name, column.otherwise);
            if (!limit) {
                return limit.error();
            }
            if (*limit < unlimited) {
                spec.terms.emplace_back(Limit{column.kind, static_cast<std::uint64_t>(*limit), std::nullopt});
            }
        }
        return Done{};
    }

    BankTree banks_;
    std::vector<std::vector<std::size_t>> members_of_;  // of each of banks_, their places in members_
    std::vector<Member> members_;
    std::map<std::string, std::map<std::string, std::size_t>> lines_of_;  // of each user, by bank
    std::map<std::string, std::string> default_bank_;                     // of each user who has one
    std::set<std::string> placed_;                                        // users with a line in specs_
    std::vector<NodeSpec> specs_;
    std::vector<std::string> places_;  // the row of each of specs_
    bool uses_projects_ = false;
    std::vector<std::string> left_out_;
};

}  // namespace

Result<ImportedTree> read_flux_accounting(const std::string& banks, const std::string& associations) {
    TableReader reader;
    if (const Status read = reader.read_banks(banks); !read) {
        return read.error();
    }
    if (const Status read = reader.read_associations(associations); !read) {
        return read.error();
    }
    return reader.tree();
}

}  // namespace weir::cmd
