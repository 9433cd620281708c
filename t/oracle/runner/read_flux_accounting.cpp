// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of flux-accounting: every rank and factor of its own program, or the exact rank where that errs.
// Must not know how a rank is found: libfairshare's weighted-tree is asked.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// Usage below this weighs nothing in the program.
constexpr double usage_min = 1e-9;
/// The program writes factors with so many decimals.
constexpr int factor_decimals = 6;

std::string name_of(const Value* association) {
    return text_at(association, "bank") + " " + text_at(association, "user");
}

/// The banks and associations that the program ranks.
class Banks {
  public:
    explicit Banks(const Value* document) {
        for (const Value* row : each(find(document, "not_ranked"))) {
            not_ranked_.insert(name_of(row));
        }
        for (const Value* row : each(member(document, "expected"))) {
            ranked_.insert(name_of(row));
        }
        const Value* root = member(document, "tree");
        read_children(root, "", is_active(root));
    }
    /// Who is said not to be ranked, though neither inactive nor beside sub-banks.
    const std::set<std::string>& unexplained() const { return not_ranked_; }

    std::vector<NodeSpec> specs;
    UsageByPath usage;
    std::map<std::string, std::vector<std::string>> path_of;  // "bank user" to paths

  private:
    static bool is_active(const Value* node) {
        const Value* active = find(node, "active");
        return active == nullptr || is_true(active) || integer_of(active) != 0;
    }

    /// The node's children; `path` is its own.
    void read_children(const Value* node, const std::string& path, bool is_counted) {
        const auto children = each(find(node, "children"));
        const std::string bank = text_at(node, "bank");
        const bool has_sub_banks = std::any_of(children.begin(), children.end(),
                                               [](const Value* child) { return find(child, "user") == nullptr; });
        for (const Value* child : children) {
            const bool counts = is_active(child) && is_counted;
            const std::string above = path.empty() ? "" : path + "/";
            if (find(child, "user") != nullptr) {
                read_user(child, bank, above, counts, has_sub_banks);
                continue;
            }
            const std::int64_t shares = integer_at(child, "shares");
            const std::string here = above + text_at(child, "bank");
            if (counts) {
                specs.push_back({here, std::nullopt, shares, {}});
            }
            read_children(child, here, counts);
        }
    }

    /// The program leaves users of a bank that has sub-banks out, and what they used; its library alone does not. Which
    /// of the two answered is told by whom the file ranks.
    void read_user(const Value* child, const std::string& bank, const std::string& above, bool is_counted,
                   bool has_sub_banks) {
        const std::string user = text_at(child, "user");
        const std::string name = bank + " " + user;
        const std::int64_t shares = integer_at(child, "shares");
        const Value* used = member(child, "usage");
        const double amount = number_of(used);
        const bool is_left_out = !is_counted || (has_sub_banks && !ranked_.contains(name));
        if (is_left_out) {
            not_ranked_.erase(name);
            return;
        }
        const std::string here = above + "@" + user;
        specs.push_back({here, std::nullopt, shares, {}});
        if (amount >= usage_min) {
            usage.add(here, used);
        }
        path_of[name].push_back(here);
    }

    std::set<std::string> ranked_, not_ranked_;
};

void compare(const Value* row, const ShareTree& tree, const Standings& standings, NodeId id, Report& report) {
    const double factor = standings.factor[id.value];
    if (find(row, "rank_exact") != nullptr) {
        constexpr auto why = "what the program errs in; rank_exact is the target";
        for (const char* key : {"rank", "fairshare", "fairshare_db"}) {
            report.leave(find(row, key), why);
        }
        const std::int64_t rank = integer_at(row, "rank_exact");
        report.integer("rank", rank, standings.rank[id.value]);
        report.number("fairshare", static_cast<double>(rank) / tree.association_count(), factor, 1e-12);
        return;
    }
    report.integer("rank", integer_at(row, "rank"), standings.rank[id.value]);
    report.number("fairshare", number_at(row, "fairshare"), factor, 1e-12);
    if (find(row, "fairshare_db") != nullptr) {
        report.printed("fairshare_db", number_at(row, "fairshare_db"), factor, factor_decimals);
    }
}

}  // namespace

void read_flux_accounting(const Value* document, Report& report) {
    for (const char* key : {"n_banks", "n_associations", "depth", "agrees_with_exact_rational_walk",
                            "n_differ_from_exact", "agrees_with_shipped_python_emulator", "n_differ_from_emulator"}) {
        report.leave(find(document, key), "what the file says of itself");
    }
    const Value* root = member(document, "tree");
    report.leave(find(root, "shares"), "the shares of the root, who competes with nobody");
    for (const Value* row : each(find(document, "not_ranked"))) {
        report.leave(find(row, "fairshare_left_at"), "the factor that the table keeps for who is not ranked");
    }
    const Banks banks{document};
    const ShareTree tree = tree_of(banks.specs);
    const auto usage = banks.usage.of(tree);
    const Standings standings = evaluate(*algorithm_named("weighted-tree"), tree, usage);
    for (const Value* row : each(member(document, "expected"))) {
        const std::string who = name_of(row);
        report.begin(who);
        const auto paths = banks.path_of.find(who);
        const std::size_t count = paths == banks.path_of.end() ? 0 : paths->second.size();
        if (count != 1) {
            report.fail("associations", "1", std::to_string(count));
            continue;
        }
        compare(row, tree, standings, node_at(tree, paths->second.front()), report);
    }
    report.begin("associations ranked");
    report.integer("count", static_cast<std::int64_t>(size_of(member(document, "expected"))), tree.association_count());
    if (find(document, "n_ranked") != nullptr) {
        report.integer("n_ranked", integer_at(document, "n_ranked"), tree.association_count());
    }
    for (const std::string& name : banks.unexplained()) {
        report.fail("not ranked", name, "active, and not beside sub-banks");
    }
}

}  // namespace weir::oracle
