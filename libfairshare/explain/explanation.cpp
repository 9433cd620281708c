// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see explanation.hpp.
#include "libfairshare/explain/explanation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <utility>

#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/diagnostics.hpp"

namespace weir {

namespace {

constexpr int digits_least = 3, digits_most = 17;

/// With so many significant digits.
std::string digits(double value, int count = digits_least) {
    std::array<char, 40> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, count);
    return {buffer.data(), end.ptr};
}

/// With as many digits as it takes to see a difference. None is infinite.
std::pair<std::string, std::string> told_apart(std::optional<double> a, std::optional<double> b) {
    const auto text = [](std::optional<double> value, int count) {
        return value ? digits(*value, count) : std::string{"infinite"};
    };
    int count = digits_least;
    while (a != b && count < digits_most && text(a, count) == text(b, count)) {
        ++count;
    }
    return {text(a, count), text(b, count)};
}

std::string percent(double part) {
    return digits(100 * part) + " %";
}

ExplainedLevel level_of(const EvaluatedTree& evaluated, NodeId node) {
    const ShareTree& tree = evaluated.tree;
    const Measures& measures = evaluated.measures;
    const NodeId above = tree.level_parent(node);
    const auto whole = static_cast<double>(measures.usage[above.value]);
    ExplainedLevel level;
    level.node = node;
    level.path = tree.path(node);
    level.shares = tree.shares(node);
    level.shares_parent = tree.shares_parent(node);
    level.level_shares = tree.child_shares(above);
    level.entitled = tree.entitled_share(node);
    level.usage = measures.usage[node.value];
    level.level_usage = whole > 0 ? static_cast<double>(level.usage) / whole : 0;
    level.standing = node_standing(evaluated.algorithm, tree, measures, node);
    return level;
}

/// "has 3 of 10 shares (30 %) and used 60 % of its level's usage".
std::string deed(const ExplainedLevel& level) {
    if (level.shares_parent) {
        return "has its parent's shares and used " + percent(level.level_usage) + " of its level's usage";
    }
    const double part =
        level.level_shares == 0 ? 0 : static_cast<double>(level.shares) / static_cast<double>(level.level_shares);
    return "has " +
           (level.shares == 0 ? std::string{"no"}
                              : std::to_string(level.shares) + " of " + std::to_string(level.level_shares)) +
           " shares" + (level.shares == 0 ? "" : " (" + percent(part) + ")") + " and used " +
           percent(level.level_usage) + " of its level's usage";
}

/// Whether its level value is told, and not that nobody waits or runs for it.
bool has_demand(const EvaluatedTree& evaluated, const ExplainedLevel& level) {
    const auto& demand = evaluated.measures.demand;
    return level.standing.level_fs != 0. || level.shares == 0 || demand.empty() || demand[level.node.value] > 0;
}

/// `"B" has the level value 2`, or the verb and the value that are given, or `"B" has no demand`.
std::string level_words(const EvaluatedTree& evaluated, const ExplainedLevel& level, const std::string& verb_value) {
    return quoted(level.path) + (has_demand(evaluated, level) ? verb_value : " has no demand");
}

/// `"B" has the level value 2, "A" 0.5`.
std::string level_values(const EvaluatedTree& evaluated, const ExplainedLevel& first, const ExplainedLevel& second) {
    const auto [one, other] = told_apart(first.standing.level_fs, second.standing.level_fs);
    const std::string verb = " has the level value ";
    return level_words(evaluated, first, verb + one) + ", " +
           level_words(evaluated, second, (has_demand(evaluated, first) ? " " : verb) + other);
}

/// The same of one that is behind somebody who is not named: `"A" has a lower level value, 0.5`.
std::string lower_level_value(const EvaluatedTree& evaluated, const ExplainedLevel& behind) {
    const auto& value = behind.standing.level_fs;
    return level_words(evaluated, behind, " has a lower level value, " + (value ? digits(*value) : "infinite"));
}

bool is_named(const MayName& may_name, NodeId node) {
    return !may_name || may_name(node);
}

/// `"B/@b" has the factor 0.7, "A/@a" 0.4`.
std::string factors_of(const EvaluatedTree& evaluated, NodeId first, NodeId second) {
    const std::vector<double>& factor = evaluated.standings.factor;
    const auto [one, other] = told_apart(factor[first.value], factor[second.value]);
    return quoted(evaluated.tree.path(first)) + " has the factor " + one + ", " + quoted(evaluated.tree.path(second)) +
           " " + other;
}

/// The nodes of a path that compete: accounts with `parent` shares are replaced by their children.
std::vector<NodeId> competitors(const ShareTree& tree, std::vector<NodeId> way) {
    const NodeId leaf = way.back();
    way.erase(std::remove_if(way.begin(), way.end(), [&](NodeId id) { return id != leaf && tree.shares_parent(id); }),
              way.end());
    return way;
}

/// Of the associations that rank above the last of `way` (competitors), how many part from it at each: where accounts
/// tie they are one, and those below them decide.
std::vector<std::uint32_t> count_ahead(const EvaluatedTree& evaluated, const std::vector<NodeId>& way) {
    const ShareTree& tree = evaluated.tree;
    const Standings& standings = evaluated.standings;
    constexpr unsigned parted = 128;                   // above depth_max
    std::vector<std::uint8_t> shared(tree.size(), 0);  // competitors in common or tied with; parents stand first
    std::vector<std::uint32_t> ahead(way.size(), 0);
    std::vector<std::optional<double>> value;
    for (NodeId id : way) {
        value.push_back(node_standing(evaluated.algorithm, tree, evaluated.measures, id).level_fs);
    }
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const bool is_leaf = tree.is_association(id);
        unsigned depth = shared[tree.parent(id).value];
        if (depth < way.size() && (is_leaf || !tree.shares_parent(id))) {
            const bool is_one =
                way[depth] == id ||
                (!is_leaf && depth + 1 < way.size() &&
                 node_standing(evaluated.algorithm, tree, evaluated.measures, id).level_fs == value[depth]);
            depth += is_one ? 1 : parted;
        }
        shared[i] = static_cast<std::uint8_t>(depth);
        if (is_leaf && standings.rank[i] > standings.rank[way.back().value]) {
            ++ahead[depth % parted];
        }
    }
    return ahead;
}

/// The lowest of those that rank above `association`: of all, or of the siblings of `level` with such a one at or below
/// them. O(size).
std::optional<NodeId> next_ahead(const EvaluatedTree& evaluated, NodeId association, std::optional<NodeId> level) {
    const ShareTree& tree = evaluated.tree;
    std::vector<std::uint32_t> best = evaluated.standings.rank;  // at or below
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        std::uint32_t& above = best[tree.parent(NodeId{i}).value];
        above = std::max(above, best[i]);
    }
    const std::uint32_t own = evaluated.standings.rank[association.value];
    std::optional<NodeId> next;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const bool is_asked = level ? id != *level && tree.level_parent(id) == tree.level_parent(*level) &&
                                          (tree.is_association(id) || !tree.shares_parent(id))
                                    : tree.is_association(id);
        if (is_asked && best[i] > own && (!next || best[i] < best[next->value])) {
            next = id;
        }
    }
    return next;
}

/// What the level says of those who part from the path there and go first.
std::string reason_at(const EvaluatedTree& evaluated, NodeId association, const ExplainedLevel& worst,
                      const MayName& may_name) {
    const std::optional<NodeId> next = next_ahead(evaluated, association, worst.node);
    if (!next) {
        return "because " + quoted(worst.path) + " " + deed(worst);
    }
    const ExplainedLevel other = level_of(evaluated, *next);
    if (ranks_by(evaluated.algorithm) == RanksBy::level_value) {
        return "because " + (is_named(may_name, *next) ? level_values(evaluated, worst, other)
                                                       : lower_level_value(evaluated, worst));
    }
    const auto &own_value = worst.standing.level_fs, &value = other.standing.level_fs;
    const bool used_less = own_value && (!value || *value > *own_value);
    return "because " + quoted(worst.path) + " " + deed(worst) +
           (worst.level_usage < worst.standing.norm_shares && used_less
                ? ", the others at its level even less of their part"
                : "");
}

std::string reason_of(const EvaluatedTree& evaluated, NodeId association, const Explanation& made,
                      const MayName& may_name) {
    std::string place = "rank " + std::to_string(made.rank) + " of " + std::to_string(made.associations);
    if (made.tied > 0) {
        place += ", shared with " + std::to_string(made.tied) + (made.tied == 1 ? " other" : " others");
    }
    std::uint32_t all = 0;
    const ExplainedLevel* worst = &made.levels.front();
    for (const ExplainedLevel& level : made.levels) {
        all += level.ahead;
        worst = level.ahead > worst->ahead ? &level : worst;
    }
    if (all == 0) {
        return place + ": no association is ahead of it";
    }
    place += ": " + std::to_string(all) + (all == 1 ? " goes" : " go") + " before it, ";
    if (ranks_by(evaluated.algorithm) == RanksBy::factor) {
        const NodeId next = *next_ahead(evaluated, association, std::nullopt);
        return is_named(may_name, next) ? place + (all == 1 ? "" : "the last of them ") + "because " +
                                              factors_of(evaluated, next, association)
                                        : place + "because " + quoted(made.levels.back().path) +
                                              " has a lower factor, " + digits(made.factor);
    }
    const std::string how_many = all == 1 ? "" : worst->ahead == all ? "all " : std::to_string(worst->ahead) + " ";
    return place + how_many + reason_at(evaluated, association, *worst, may_name);
}

/// The part of a comparison that names what decides; `first` is not behind.
std::string decision(const EvaluatedTree& evaluated, const Comparison& made, NodeId a, NodeId b) {
    const bool is_a_first = std::is_gteq(made.order);
    const ExplainedLevel& first = is_a_first ? *made.level_a : *made.level_b;
    const ExplainedLevel& second = is_a_first ? *made.level_b : *made.level_a;
    switch (ranks_by(evaluated.algorithm)) {
        case RanksBy::factor:
            return factors_of(evaluated, is_a_first ? a : b, is_a_first ? b : a);
        case RanksBy::level_value:
            return level_values(evaluated, first, second);
        case RanksBy::shares_and_usage:
            break;
    }
    const auto [one, other] = told_apart(first.standing.level_fs, second.standing.level_fs);
    return quoted(first.path) + " " + deed(first) + " (level value " + one + "), " + quoted(second.path) + " " +
           deed(second) + " (" + other + ")";
}

}  // namespace

std::uint32_t rank_for_people(const Standings& standings, NodeId association) {
    const std::uint32_t own = standings.rank[association.value];
    return 1 + static_cast<std::uint32_t>(std::count_if(standings.rank.begin(), standings.rank.end(),
                                                        [&](std::uint32_t rank) { return rank > own; }));
}

Explanation explain(const EvaluatedTree& evaluated, NodeId association, const MayName& may_name) {
    const ShareTree& tree = evaluated.tree;
    const Standings& standings = evaluated.standings;
    WEIR_CHECK(tree.is_association(association));
    Explanation made;
    made.rank = rank_for_people(standings, association);
    made.associations = tree.association_count();
    made.factor = standings.factor[association.value];
    const auto same = std::count(standings.rank.begin(), standings.rank.end(), standings.rank[association.value]);
    made.tied = static_cast<std::uint32_t>(same) - 1;
    const std::vector<NodeId> way = tree.lineage(association);
    const std::vector<NodeId> deciding = competitors(tree, way);
    const std::vector<std::uint32_t> ahead = count_ahead(evaluated, deciding);
    std::size_t next = 0;
    for (NodeId id : way) {
        made.levels.push_back(level_of(evaluated, id));
        if (id == deciding[next]) {
            made.levels.back().ahead = ahead[next++];
        }
    }
    made.reason = reason_of(evaluated, association, made, may_name);
    return made;
}

AccountExplanation explain_account(const EvaluatedTree& evaluated, NodeId account, const MayName& may_name) {
    const ShareTree& tree = evaluated.tree;
    const Standings& standings = evaluated.standings;
    WEIR_CHECK(account != root_node && !tree.is_association(account));
    // The first association at or below each node; parents come before their children.
    std::vector<std::optional<NodeId>> first(tree.size());
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        const NodeId id{i};
        if (tree.is_association(id)) {
            first[i] = id;
        }
        std::optional<NodeId>& above = first[tree.parent(id).value];
        if (first[i] && (!above || standings.rank[first[i]->value] >= standings.rank[above->value])) {
            above = first[i];
        }
    }
    AccountExplanation made;
    std::vector<bool> is_below(tree.size(), false);
    is_below[account.value] = true;
    for (std::uint32_t i = account.value + 1; i < tree.size(); ++i) {
        is_below[i] = is_below[tree.parent(NodeId{i}).value];
        made.associations += is_below[i] && tree.is_association(NodeId{i}) ? 1 : 0;
        if (tree.parent(NodeId{i}) == account) {
            made.below.push_back({level_of(evaluated, NodeId{i}), first[i],
                                  first[i] ? std::optional(rank_for_people(standings, *first[i])) : std::nullopt});
        }
    }
    made.first = first[account.value];
    if (made.first) {
        made.first_stands = explain(evaluated, *made.first, may_name);
    }
    for (const NodeId id : tree.lineage(account)) {
        made.levels.push_back(level_of(evaluated, id));
        made.levels.back().ahead = made.first_stands ? made.first_stands->levels[made.levels.size() - 1].ahead : 0;
    }
    return made;
}

Comparison compare(const EvaluatedTree& evaluated, NodeId a, NodeId b) {
    const ShareTree& tree = evaluated.tree;
    const Standings& standings = evaluated.standings;
    WEIR_CHECK(tree.is_association(a) && tree.is_association(b));
    Comparison made;
    if (a == b) {
        made.reason = quoted(tree.path(a)) + " is one and the same";
        return made;
    }
    const std::vector<NodeId> path_a = tree.lineage(a);
    const std::vector<NodeId> path_b = tree.lineage(b);
    const auto common = std::mismatch(path_a.begin(), path_a.end(), path_b.begin(), path_b.end()).first;
    made.common = common == path_a.begin() ? std::string{} : tree.path(*(common - 1));
    made.order = standings.rank[a.value] <=> standings.rank[b.value];
    const std::vector<NodeId> way_a = competitors(tree, path_a);
    const std::vector<NodeId> way_b = competitors(tree, path_b);
    std::size_t at = 0;
    while (way_a[at] == way_b[at]) {
        ++at;
    }
    std::string ties;  // where levels tie, tied accounts are one and those below them decide
    for (;; ++at) {
        made.level_a = level_of(evaluated, way_a[at]);
        made.level_b = level_of(evaluated, way_b[at]);
        const bool is_tied = made.level_a->standing.level_fs == made.level_b->standing.level_fs;
        if (!is_tied || ranks_by(evaluated.algorithm) == RanksBy::factor || at + 1 == way_a.size() ||
            at + 1 == way_b.size()) {
            break;
        }
        ties += quoted(made.level_a->path) + " and " + quoted(made.level_b->path) + " tie; ";
    }
    made.reason = "they part below " + (made.common.empty() ? "the root" : quoted(made.common)) + "; " + ties +
                  decision(evaluated, made, a, b) + ": " +
                  (std::is_eq(made.order) ? std::string{"they share a rank"}
                                          : quoted(tree.path(std::is_gt(made.order) ? a : b)) + " goes first");
    return made;
}

}  // namespace weir
