// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see flux_accounting.hpp.
#include "cmd/accounting/flux_accounting.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "cmd/accounting/csv.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/tree/projects.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir::cmd {
namespace {

constexpr const char* root_bank = "root";
constexpr std::int64_t unlimited = 2147483647;
constexpr std::uint32_t unknown_user = 65534;

struct LimitColumn {
    const char* name;
    LimitKind kind;
    std::int64_t otherwise;  ///< flux-accounting's default
};
constexpr std::array<LimitColumn, 4> limit_columns{{{"max_running_jobs", LimitKind::running_jobs, 5},
                                                    {"max_active_jobs", LimitKind::active_jobs, 7},
                                                    {"max_nodes", LimitKind::nodes, unlimited},
                                                    {"max_cores", LimitKind::cores, unlimited}}};

Error not_tabular(const std::string& sentence) {
    return Error{std::errc::invalid_argument, sentence};
}

class TreeWriter {
  public:
    using Userids = std::function<std::optional<std::uint32_t>(const std::string&)>;
    TreeWriter(const ShareTree& tree, const Userids& userid)
        : tree_(tree), userid_(userid), has_projects_(has_projects(tree)) {
        banks_ = csv_line({"bank", "parent_bank", "shares"}) + csv_line({root_bank, "", "1"});
        std::vector<std::string> columns{"creation_time", "username", "userid",           "bank",
                                         "default_bank",  "shares",   "max_running_jobs", "max_active_jobs",
                                         "max_nodes",     "max_cores"};
        if (has_projects_) {
            columns.insert(columns.end(), {"projects", "default_project"});
        }
        associations_ = csv_line(columns);
    }

    Result<FluxAccountingTables> tables() {
        names_.insert(root_bank);
        write_below(root_node, root_bank);
        if (!twice_.empty()) {
            return not_tabular("flux-accounting knows a bank by its name alone, and more than one would be called " +
                               listed(twice_) + " (its uppermost bank is called root): rename these accounts.");
        }
        if (!projects_.empty()) {
            left_out_.push_back("projects are known to it by `flux account add-project` alone: " +
                                listed({projects_.begin(), projects_.end()}));
        }
        return FluxAccountingTables{banks_, associations_, left_out_};
    }

  private:
    void write_below(NodeId node, const std::string& bank) {
        for (const NodeId child : tree_.children(node)) {
            if (tree_.is_account(child)) {
                write_bank(child, bank);
            } else if (tree_.kind(child) == NodeKind::user && tree_.partition(child).empty()) {
                write_association(child, bank);
            } else {
                left_out_.push_back(tree_.path(child) + ": flux-accounting has banks and users, no such line");
            }
        }
    }

    void write_bank(NodeId node, const std::string& parent) {
        const std::string name{tree_.name(node)};
        if (!names_.insert(name).second) {
            twice_.push_back(name);
            return;
        }
        banks_ += csv_line({name, parent, std::to_string(shares(node))});
        note_terms(node, false);
        write_below(node, name);
    }

    void write_association(NodeId node, const std::string& bank) {
        const std::string user{tree_.name(node)};
        const std::optional<std::uint32_t> id = userid_(user);
        if (!id && unknown_.insert(user).second) {
            left_out_.push_back("@" + user + ": no user id is known here, the row has " + std::to_string(unknown_user));
        }
        std::vector<std::string> cells{"0",
                                       user,
                                       std::to_string(id.value_or(unknown_user)),
                                       bank,
                                       default_bank(user),
                                       std::to_string(shares(node))};
        for (const LimitColumn& column : limit_columns) {
            const auto limit = tree_.limit(node, column.kind);
            cells.push_back(std::to_string(limit ? limit->hard : unlimited));
        }
        if (has_projects_) {
            add_projects(node, cells);
        }
        associations_ += csv_line(cells);
        note_terms(node, true);
    }

    /// Those of the accounts above it are written in each user's row.
    void add_projects(NodeId node, std::vector<std::string>& cells) {
        const auto access = project_access(tree_, node);
        if (!access) {
            left_out_.push_back(tree_.path(node) + ": any project, the row has *, which is none");
        }
        std::string names;
        for (const std::string& name : access ? access->names : std::vector<std::string>{std::string(no_project)}) {
            names += (names.empty() ? "" : ",") + name;
            if (name != no_project) {
                projects_.insert(name);
            }
        }
        cells.push_back(names);
        cells.push_back(access ? access->by_default : std::string(no_project));
    }

    std::int64_t shares(NodeId node) {
        if (tree_.shares_parent(node)) {
            left_out_.push_back(tree_.path(node) + ": shares = \"parent\", the row has 1");
            return 1;
        }
        return tree_.shares(node);
    }

    /// The account of the line that is charged for a job without one.
    std::string default_bank(const std::string& user) const {
        const NodeId account = tree_.parent(tree_.associations_of(user).front());
        return account == root_node ? root_bank : std::string(tree_.name(account));
    }

    /// Of what may stand in several terms of a node, each once.
    void note_terms(NodeId node, bool is_user) {
        std::set<std::string> noted;
        for (const NodeTerm& term : tree_.terms(node)) {
            const auto* limit = std::get_if<Limit>(&term);
            if (std::holds_alternative<Projects>(term) || std::holds_alternative<DefaultProject>(term)) {
                continue;
            }
            const bool has_column = is_user && limit != nullptr && limit->kind <= LimitKind::cores;
            if (!has_column || limit->soft) {
                const std::string what = limit != nullptr ? std::string(limit_key(limit->kind))
                                         : std::holds_alternative<FairShareTarget>(term) ? "target"
                                                                                         : "at";
                if (noted.insert(what).second) {
                    left_out_.push_back(
                        tree_.path(node) + ": " + what +
                        (has_column ? ", its soft limit" : ", which flux-accounting does not have there"));
                }
            }
        }
    }

    const ShareTree& tree_;
    const Userids& userid_;
    bool has_projects_;
    std::set<std::string> projects_;
    std::string banks_, associations_;
    std::set<std::string> names_;
    std::set<std::string> unknown_;
    std::vector<std::string> twice_;
    std::vector<std::string> left_out_;
};

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
                return not_tabular(row.place() + ": \"" + printable(bank) +
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
                return not_tabular(row.place() + ": there is no active bank \"" + printable(bank) + "\"");
            }
            if (user.find_first_of("/:") != std::string::npos || user == "*") {
                return not_tabular(row.place() + ": \"" + printable(user) +
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
            return not_tabular("the tables make no share tree:\n" + to_string(*mistakes));
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
                    return not_tabular("bank_table.csv: the banks above \"" + printable(bank) +
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
                return not_tabular(row.place() + ": " + why);
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

Result<FluxAccountingTables> flux_accounting_tables(
    const ShareTree& tree, const std::function<std::optional<std::uint32_t>(const std::string&)>& userid) {
    return TreeWriter(tree, userid).tables();
}

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
