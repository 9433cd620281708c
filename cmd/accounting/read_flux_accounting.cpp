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

/// The rows of a table by the names of its columns.
class TreeReader {
  public:
    Status read_banks(const std::string& text) {
        const auto rows = read_csv(text, "bank_table.csv", {"bank", "parent_bank", "shares"});
        if (!rows) {
            return rows.error();
        }
        for (const CsvRow& row : *rows) {
            const std::string bank = row.text("bank");
            if (!is_active(row, "bank " + bank)) {
                continue;
            }
            if (bank.find('/') != std::string::npos || kind_of_component(bank) != NodeKind::account) {
                return table_error(row.place() + ": \"" + printable(bank) +
                                   "\" is no name of an account here: it has no \"/\", " +
                                   "and does not begin as a line of another kind does");
            }
            if (row.text("parent_bank").empty()) {
                path_of_.emplace(bank, "");  // the uppermost: our root
                continue;
            }
            parent_of_.emplace(bank, row.text("parent_bank"));
            note_dropped(row, bank_priority);
            const auto shares = row.integer("shares", 1);
            if (!shares) {
                return shares.error();
            }
            banks_.emplace_back(bank, *shares);
        }
        return name_paths();
    }

    Status read_associations(const std::string& text) {
        const auto rows = read_csv(text, "association_table.csv", {"username", "bank"});
        if (!rows) {
            return rows.error();
        }
        std::set<std::string> seen;
        for (const CsvRow& row : *rows) {
            const std::string user = row.text("username");
            const std::string bank = row.text("bank");
            if (!is_active(row, "@" + user + " of bank " + bank)) {
                continue;
            }
            const auto path = path_of_.find(bank);
            if (path == path_of_.end()) {
                return table_error(row.place() + ": there is no active bank \"" + printable(bank) + "\"");
            }
            if (user.find_first_of("/:") != std::string::npos || user == "*") {
                return table_error(row.place() + ": \"" + printable(user) +
                                   "\" is no user's name: that has no \"/\" and no \":\"" + ", and is not \"*\"");
            }
            NodeSpec spec;
            spec.name = (path->second.empty() ? "" : path->second + "/") + "@" + user;
            spec.is_default = !seen.insert(user).second && row.text("default_bank") == bank;
            if (const Status read = read_numbers(row, spec); !read) {
                return read.error();
            }
            if (const Status read = read_projects(row); !read) {
                return read.error();
            }
            specs_.push_back(std::move(spec));
            note_dropped(row, user_queues);
            note_dropped(row, sched_jobs);
        }
        return Done{};
    }

    Result<FluxAccountingTree> tree() {
        give_projects();
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

    /// The path of each bank; one that is below an inactive bank, or its own ancestor, is an error.
    Status name_paths() {
        for (const auto& [bank, shares] : banks_) {
            std::string path = bank;
            std::string above = parent_of_.at(bank);
            for (std::size_t depth = 0; path_of_.count(above) == 0 || !path_of_.at(above).empty(); ++depth) {
                const auto next = parent_of_.find(above);
                if (next == parent_of_.end() || depth > banks_.size()) {
                    return table_error("bank_table.csv: the banks above \"" + printable(bank) +
                                       "\" do not end at an active one without a parent");
                }
                path.insert(0, above + "/");
                above = next->second;
            }
            path_of_.insert_or_assign(bank, path);
            NodeSpec spec;
            spec.name = path;
            spec.shares = shares;
            specs_.push_back(std::move(spec));
        }
        return Done{};
    }

    /// The projects of the row that becomes the next of specs_. Its default project is allowed, listed or not.
    Status read_projects(const CsvRow& row) {
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
        projects_[specs_.size()] = {std::move(names), by_default};
        return Done{};
    }

    /// If no user has a project, the tree has no lists, and any project is allowed.
    void give_projects() {
        if (!uses_projects_) {
            return;
        }
        for (const auto& [place, access] : projects_) {
            std::vector<NodeTerm>& terms = specs_[place].terms;
            terms.emplace_back(Projects{access.names});
            if (!access.by_default.empty() && access.by_default != access.names.front()) {
                terms.emplace_back(DefaultProject{access.by_default});
            }
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

    std::vector<std::pair<std::string, std::int64_t>> banks_;  // with shares, in the table's order
    std::map<std::string, std::string> parent_of_;
    std::map<std::string, std::string> path_of_;
    std::vector<NodeSpec> specs_;
    std::map<std::size_t, ProjectAccess> projects_;  // by place in specs_
    bool uses_projects_ = false;
    std::vector<std::string> left_out_;
};

}  // namespace

Result<FluxAccountingTree> read_flux_accounting(const std::string& banks, const std::string& associations) {
    TreeReader reader;
    if (const Status read = reader.read_banks(banks); !read) {
        return read.error();
    }
    if (const Status read = reader.read_associations(associations); !read) {
        return read.error();
    }
    return reader.tree();
}

}  // namespace weir::cmd
