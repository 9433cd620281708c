// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the tables as a share tree; see flux_accounting.hpp.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "cmd/accounting/csv.hpp"
#include "cmd/accounting/flux_accounting.hpp"
#include "cmd/accounting/limit_columns.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/tree/projects.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir::cmd {
namespace {

Error table_error(const std::string& sentence) {
    return Error{std::errc::invalid_argument, sentence};
}

/// A column that a share tree has no place for.
struct DroppedColumn {
    const char* name;
    std::vector<std::string_view> nothing;  ///< its values that say nothing
    const char* meaning;
};
const DroppedColumn bank_priority{"priority", {"", "0", "0.0"}, "the priorities of banks (see [weir.associations])"};
const DroppedColumn user_queues{"queues", {""}, "which queues a user may use"};
const DroppedColumn sched_jobs{"max_sched_jobs", {"", "2147483647"}, "limits of scheduled jobs (max_sched_jobs)"};

/// A bank, from its row, and what stands below it.
struct Bank {
    std::string name;
    std::string parent;  ///< empty: it is an uppermost one, our root
    std::int64_t shares = 1;
    std::string path;  ///< once it is reached from above
    std::vector<std::size_t> banks;
    std::vector<std::size_t> members;
    unsigned depth = 0;
};

/// A user in a bank, from the association's row.
struct Member {
    std::string user;
    NodeSpec spec;
    ProjectAccess projects;
};

/// The rows of a table by the names of its columns.
class TableReader {
  public:
    Status read_banks(const std::string& text) {
        const auto rows = read_csv(text, "bank_table.csv", {"bank", "parent_bank", "shares"});
        if (!rows) {
            return rows.error();
        }
        for (const CsvRow& row : *rows) {
            const std::string name = row.text("bank");
            if (!is_active(row, "bank " + name)) {
                continue;
            }
            if (name.find('/') != std::string::npos || kind_of_component(name) != NodeKind::account) {
                return table_error(row.place() + ": \"" + printable(name) +
                                   "\" is no name of an account here: it has no \"/\", " +
                                   "and does not begin as a line of another kind does");
            }
            Bank bank;
            bank.name = name;
            bank.parent = row.text("parent_bank");
            if (!bank.parent.empty()) {
                note_dropped(row, bank_priority);
                const auto shares = row.integer("shares", 1);
                if (!shares) {
                    return shares.error();
                }
                bank.shares = *shares;
            }
            if (!bank_of_.emplace(name, banks_.size()).second) {
                return table_error(row.place() + ": the bank \"" + printable(name) + "\" has a row already");
            }
            banks_.push_back(std::move(bank));
        }
        return name_paths();
    }

    Status read_associations(const std::string& text) {
        const auto rows = read_csv(text, "association_table.csv", {"username", "bank"});
        if (!rows) {
            return rows.error();
        }
        for (const CsvRow& row : *rows) {
            Member member{row.text("username"), {}, {}};
            const std::string bank = row.text("bank");
            if (!is_active(row, "@" + member.user + " of bank " + bank)) {
                continue;
            }
            const auto found = bank_of_.find(bank);
            if (found == bank_of_.end()) {
                return table_error(row.place() + ": there is no active bank \"" + printable(bank) + "\"");
            }
            if (member.user.find_first_of("/:") != std::string::npos || member.user == "*") {
                return table_error(row.place() + ": \"" + printable(member.user) +
                                   "\" is no user's name: that has no \"/\" and no \":\"" + ", and is not \"*\"");
            }
            if (const Status read = read_numbers(row, member.spec); !read) {
                return read.error();
            }
            if (const Status read = read_projects(row, member.projects); !read) {
                return read.error();
            }
            note_dropped(row, user_queues);
            note_dropped(row, sched_jobs);
            read_default_bank(row.text("default_bank"), member.user);
            banks_of_[member.user].insert(bank);
            banks_[found->second].members.push_back(members_.size());
            members_.push_back(std::move(member));
        }
        return Done{};
    }

    Result<FluxAccountingTree> tree() {
        for (const auto& [user, bank] : default_bank_) {
            if (banks_of_.at(user).count(bank) == 0) {
                left_out_.push_back("the default bank of @" + user + ": he has no row in " + bank);
            }
        }
        for (const Bank& bank : banks_) {
            if (bank.parent.empty()) {
                add_lines(bank);
            }
        }
        auto built = build_share_tree(specs_, "the tables");
        if (const auto* mistakes = std::get_if<Diagnostics>(&built)) {
            return table_error("the tables make no share tree:\n" + to_string(*mistakes));
        }
        return FluxAccountingTree{std::get<ShareTree>(std::move(built)), left_out_};
    }

  private:
    bool is_active(const CsvRow& row, const std::string& what) {
        const bool is = row.text("active") != "0";
        if (!is) {
            left_out_.push_back(what + " is not active");
        }
        return is;
    }

    /// Once for each column.
    void note_dropped(const CsvRow& row, const DroppedColumn& column) {
        const std::string value = row.text(column.name);
        const bool says_something =
            std::find(column.nothing.begin(), column.nothing.end(), value) == column.nothing.end();
        if (says_something && std::find(left_out_.begin(), left_out_.end(), column.meaning) == left_out_.end()) {
            left_out_.emplace_back(column.meaning);
        }
    }

    static std::string below(const std::string& path, const std::string& name) {
        return (path.empty() ? "" : path + "/") + name;
    }

    /// From the uppermost banks down. One that is not reached is below an inactive bank, or its own ancestor.
    Status name_paths() {
        std::vector<std::size_t> reached;
        for (std::size_t i = 0; i < banks_.size(); ++i) {
            const auto above = bank_of_.find(banks_[i].parent);
            if (banks_[i].parent.empty()) {
                reached.push_back(i);
            } else if (above != bank_of_.end()) {
                banks_[above->second].banks.push_back(i);
            }
        }
        for (std::size_t k = 0; k < reached.size(); ++k) {
            const Bank& above = banks_[reached[k]];
            for (const std::size_t i : above.banks) {
                banks_[i].path = below(above.path, banks_[i].name);
                banks_[i].depth = above.depth + 1;
                if (banks_[i].depth > ShareTree::depth_max) {
                    return table_error("bank_table.csv: more than 64 banks stand above one another down to \"" +
                                       printable(banks_[i].name) + "\"");
                }
                reached.push_back(i);
            }
        }
        for (const Bank& bank : banks_) {
            if (!bank.parent.empty() && bank.depth == 0) {
                return table_error("bank_table.csv: the banks above \"" + printable(bank.name) +
                                   "\" do not end at an active one without a parent");
            }
        }
        return Done{};
    }

    /// The bank, the banks below it, its users, in the order in which the tree's text has them.
    void add_lines(const Bank& bank) {
        if (!bank.path.empty()) {
            NodeSpec spec;
            spec.name = bank.path;
            spec.shares = bank.shares;
            specs_.push_back(std::move(spec));
        }
        for (const std::size_t i : bank.banks) {
            add_lines(banks_[i]);
        }
        for (const std::size_t i : bank.members) {
            add_line(members_[i], bank);
        }
    }

    /// A default that is the user's first line needs no mark.
    void add_line(Member& member, const Bank& bank) {
        const bool is_first = placed_.insert(member.user).second;
        const auto by_default = default_bank_.find(member.user);
        member.spec.name = below(bank.path, "@" + member.user);
        member.spec.is_default = !is_first && by_default != default_bank_.end() && by_default->second == bank.name;
        give_projects(member);
        specs_.push_back(std::move(member.spec));
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

    std::vector<Bank> banks_;
    std::map<std::string, std::size_t> bank_of_;  // by name
    std::vector<Member> members_;
    std::map<std::string, std::set<std::string>> banks_of_;  // of each user
    std::map<std::string, std::string> default_bank_;        // of each user who has one
    std::set<std::string> placed_;                           // users with a line in specs_
    std::vector<NodeSpec> specs_;
    bool uses_projects_ = false;
    std::vector<std::string> left_out_;
};

}  // namespace

Result<FluxAccountingTree> read_flux_accounting(const std::string& banks, const std::string& associations) {
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
