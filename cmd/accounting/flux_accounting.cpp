// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share tree as the tables; see flux_accounting.hpp.
#include "cmd/accounting/flux_accounting.hpp"

#include <set>

#include "cmd/accounting/csv.hpp"
#include "cmd/accounting/limit_columns.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/tree/projects.hpp"

namespace weir::cmd {
namespace {

constexpr const char* root_bank = "root";
constexpr std::uint32_t unknown_user = 65534;

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

}  // namespace

Result<FluxAccountingTables> flux_accounting_tables(
    const ShareTree& tree, const std::function<std::optional<std::uint32_t>(const std::string&)>& userid) {
    return TreeWriter(tree, userid).tables();
}

}  // namespace weir::cmd
