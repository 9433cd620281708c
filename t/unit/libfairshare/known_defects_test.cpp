// SPDX-License-Identifier: LGPL-3.0-only
// Defects that other fair-share programs have, one case each, named after the defect: Weir does not have them.
#include <catch2/catch.hpp>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/usage/charging.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libfairshare/usage/warnings.hpp"
#include "libfairshare/usage/window.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;
using namespace std::chrono_literals;

namespace {

constexpr Duration half_life = 1h;
constexpr NodeId user{1};

/// One user, one core for so many seconds up to `end`.
void use(UsageLedger& ledger, NodeId payer, int seconds, double end) {
    ledger.charge(payer, 1, second(end - seconds), second(end));
}

std::string complaints(const Lines& lines) {
    auto built = build_share_tree(specs(lines));
    const auto* found = std::get_if<Diagnostics>(&built);
    return found == nullptr ? std::string{} : to_string(*found);
}

std::uint32_t rank_of(const Standings& standings, const ShareTree& tree, const char* path) {
    return standings.rank[at(tree, path).value];
}

}  // namespace

TEST_CASE("W1: usage is counted twice at each half-life boundary") {
    UsageLedger whole{tree_ptr_of({{"@a", 1}}), half_life};
    use(whole, user, 100, 7200);
    UsageLedger cut = whole;
    use(whole, user, 7200, 14400);
    for (const double boundary : {9000.0, 10800.0, 12600.0, 14400.0}) {  // as read and charged around each boundary
        CHECK(cut.usage(user, second(boundary - 1800)) > 0);
        use(cut, user, 1800, boundary);
    }
    CHECK(cut.usage(user, second(14410)) == whole.usage(user, second(14410)));
    CHECK(cut.charged(user, second(14410)) == 7300 * 1000000LL);
}

TEST_CASE("W2: the first decay comes after two half-lives, and an outage decays by one") {
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), half_life};
    ledger.add(user, 100000000, second(0));
    CHECK(relative_error(core_seconds(ledger.usage(user, second(3600))), 50) < 1e-6);
    CHECK(relative_error(core_seconds(ledger.usage(user, second(6 * 3600))), 100.0 / 64) < 1e-6);  // first read since
}

TEST_CASE("W3: a user whose last job ended just before the boundary does not decay") {
    UsageLedger ledger{tree_ptr_of({{"@late", 1}, {"@idle", 1}}), half_life};
    use(ledger, at(ledger.tree(), "@idle"), 100, 100);
    use(ledger, at(ledger.tree(), "@late"), 100, 3599);
    const auto left = [&](const char* path, double now) {
        return core_seconds(ledger.usage(at(ledger.tree(), path), second(now)));
    };
    for (const char* path : {"@idle", "@late"}) {
        CHECK(relative_error(left(path, 7200), left(path, 3600) / 2) < 1e-6);
    }
}

TEST_CASE("W4: a changed decay setting drops all history") {
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), half_life};
    use(ledger, user, 1000, 1000);
    const double before = core_seconds(ledger.usage(user, second(2000)));
    ledger.set_half_life(10h, second(2000));
    CHECK(relative_error(core_seconds(ledger.usage(user, second(2000))), before) < 1e-6);
    WindowLedger windows{2, {24h, 7, 0.5}};
    windows.charge(user, 1, second(0), second(100000));
    windows.set_policy({24h, 7, 1.0}, second(100000));
    windows.set_policy({5h, 34, 1.0}, second(100000));
    CHECK(core_seconds(windows.usage(user, second(100000))) == 100000);
    LsfHistory history{2, {}};
    history.cpu_used(user, 3600000000U, second(0), second(0));
    LsfHistorySettings settings;
    settings.hist_hours = 50;
    history.set_settings(settings, second(0));
    CHECK(relative_error(history.use(user, second(0)).cpu_time_h, 1) < 1e-9);
}

TEST_CASE("W5: a user whose place in the books changes loses past usage") {
    UsageLedger ledger{tree_ptr_of({{"a", 1}, {"a/@u", 1}, {"b", 1}}), half_life};
    use(ledger, at(ledger.tree(), "a/@u"), 1000, 1000);
    const CoreMicros before = ledger.usage(at(ledger.tree(), "a/@u"), second(2000));
    ledger.rebind(tree_ptr_of({{"a", 1}, {"b", 1}, {"b/@u", 1}}), second(1500));
    const CoreMicros after = ledger.usage(at(ledger.tree(), "b/@u"), second(2000));
    CHECK(after + ledger.usage(unassociated, second(2000)) == before);
    ledger.rebind(tree_ptr_of({{"a", 1}, {"a/@u", 1}, {"b", 1}}), second(1600));
    CHECK(ledger.usage(at(ledger.tree(), "a/@u"), second(2000)) == before);
}

TEST_CASE("W11: usage below one whole unit is cut off, so that all siblings tie") {
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 1}});
    UsageLedger ledger{std::make_shared<const ShareTree>(tree), half_life};
    ledger.add(at(tree, "@a"), 900000, second(0));  // 0.9 and 0.3 core seconds
    ledger.add(at(tree, "@b"), 300000, second(0));
    for (const AlgorithmEntry& entry : algorithms()) {
        if (entry.name == "dynamic-user") {  // does not look at usage
            continue;
        }
        INFO(entry.name);
        const Standings standings = evaluate(entry.algorithm, tree, ledger.snapshot(second(0)).usage);
        CHECK(rank_of(standings, tree, "@b") > rank_of(standings, tree, "@a"));
    }
}

TEST_CASE("W12: exact ties are missed by rounding") {
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 3}, {"@c", 7}});
    std::vector<CoreMicros> usage{77, 7, 21, 49};
    for (const char* name : {"fair-tree", "weighted-tree"}) {
        const Standings standings = evaluate(*algorithm_named(name), tree, usage);
        CHECK(standings.rank == std::vector<std::uint32_t>{0, 3, 3, 3});
    }
}

TEST_CASE("W13: a preview computes by other code than the real thing") {
    // One evaluate(), fed with a saved ledger: what a preview shows is what will be.
    UsageLedger ledger{tree_ptr_of({{"g", 2}, {"g/@a", 1}, {"g/@b", 2}, {"@c", 1}}), half_life};
    use(ledger, at(ledger.tree(), "g/@a"), 300, 400);
    use(ledger, at(ledger.tree(), "@c"), 200, 400);
    const auto preview = UsageLedger::restore(ledger.tree_ptr(), ledger.save());
    CHECK(preview->snapshot(second(5000)).usage == ledger.snapshot(second(5000)).usage);
}

TEST_CASE("W14: a removed user keeps a place") {
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 1}});
    const ShareTree without = tree_of({{"@a", 1}});
    CHECK(without.association_count() == 1);
    CHECK_FALSE(without.association(root_node, "b"));
    UsageLedger ledger{std::make_shared<const ShareTree>(tree), half_life};
    ledger.start(at(tree, "@b"), 1, second(0));
    const auto places = ledger.rebind(std::make_shared<const ShareTree>(without), second(10));
    CHECK(places[at(tree, "@b").value] == unassociated);
    CHECK(ledger.rate(root_node) == 0);
}

TEST_CASE("W15: the share tree takes what it is given") {
    auto cycle = build_share_tree({{"a", "b", 1, {1, 1}}, {"b", "a", 1, {2, 1}}});
    CHECK(std::holds_alternative<Diagnostics>(cycle));
    CHECK(std::holds_alternative<Diagnostics>(build_share_tree({{"a", "a", 1, {1, 1}}})));
    CHECK_FALSE(complaints({{"@u", 1}, {"@u/a", 1}}).empty());
    CHECK_FALSE(complaints({{"a", 1}, {"a", 2}}).empty());
    CHECK_FALSE(complaints({{"a", -1}}).empty());
    CHECK_FALSE(complaints({{"a", 1}, {"a/@u", -5}}).empty());
    CHECK(complaints({{"a", 1}, {"a/x", 1}, {"b", 1}, {"b/x", 1}}).empty());  // one name in two places is no confusion
}

TEST_CASE("PBS 1128: usage decays to 1e-40, then to no number") {
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), half_life};
    use(ledger, user, 1000, 1000);
    const Instant later = second(1000) + 24h * 3650;
    CHECK(ledger.usage(user, later) == 0);
    use(ledger, user, 1000, 1000 + 24.0 * 3650 * 3600);
    CHECK(relative_error(core_seconds(ledger.usage(user, later)), 1000) < 0.1);
    LsfHistory history{2, {}};
    history.cpu_used(user, 3600000000U, second(0), second(0));
    const double left = history.use(user, later).cpu_time_h;
    CHECK(left == 0);  // neither negative nor NaN
    for (const AlgorithmEntry& entry : algorithms()) {
        for (const CoreMicros used : {CoreMicros{0}, CoreMicros{1}, usage_max / 4}) {
            const ShareTree tree = tree_of({{"@a", 0}, {"@b", 1}});
            const Standings standings = evaluate(entry.algorithm, tree, std::vector<CoreMicros>{2 * used, used, used});
            for (const double factor : standings.factor) {
                CHECK((factor >= 0 && factor <= 1));
            }
        }
    }
}

TEST_CASE("Slurm 06857: a cap heals by itself, though the site meant a total") {
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), half_life};
    use(ledger, user, 1000, 1000);
    const Instant later = second(1000 + 36000);
    const FairShareTarget cap{TargetKind::absolute_cap, 1000};
    const double decayed = core_seconds(ledger.usage(user, later));
    const double total = static_cast<double>(ledger.charged(user, later)) / 1e6;
    CHECK(cap_admits(cap, decayed, 0, 100));      // one choice
    CHECK_FALSE(cap_admits(cap, total, 0, 100));  // the other
}

TEST_CASE("Arjuna 68: jobs longer than the half-life grab the machine and nobody warns") {
    CHECK(usage_warnings({24h * 7, std::nullopt, 48h, 1}).empty());
    CHECK(usage_warnings({24h, std::nullopt, 168h, 1}) ==
          std::vector<std::string>{"the half-life (24 h) is shorter than the longest wall limit (168 h): long jobs are "
                                   "forgiven before they end; raise it or lower the limit"});
    CHECK(usage_warnings({Duration{0}, WindowPolicy{24h, 2, 1.0}, 72h, 1}).size() == 1);
    CHECK(usage_warnings({24h, std::nullopt, Duration{0}, 1}).size() == 1);
}

TEST_CASE("Maui: a weight of zero makes fair share idle and nobody warns") {
    CHECK(usage_warnings({Duration{0}, std::nullopt, Duration{0}, 0}).size() == 1);
}

TEST_CASE("Nomad 28365: between two recalculations one user wins everything") {
    UsageLedger ledger{tree_ptr_of({{"@a", 1}, {"@b", 1}}), half_life};
    const ChargedJob job{at(ledger.tree(), "@a"), 64, second(0), 10h};
    charge_start(ledger, Charging::at_dispatch, job);
    const Standings standings = evaluate(FairTree{}, ledger.tree(), ledger.snapshot(second(0)).usage);
    CHECK(rank_of(standings, ledger.tree(), "@b") > rank_of(standings, ledger.tree(), "@a"));
}

TEST_CASE("Moab: a changed interval reads old windows as if they had the new length") {
    WindowLedger ledger{2, {24h, 7, 1.0}};
    const Instant noon = Instant{} + 20000 * 24h + 12h;
    ledger.charge(user, 1, noon - 72h, noon - 48h);
    ledger.set_policy({12h, 14, 1.0}, noon);
    CHECK(core_seconds(ledger.usage(user, noon + 72h)) == 86400);
    CHECK(core_seconds(ledger.usage(user, noon + 120h)) == 0);  // a week after it was used, and not before
}

TEST_CASE("PBS 2220: a decay by hand is followed by the automatic one at once") {
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), half_life};
    ledger.add(user, 100000000, second(0));
    ledger.reset(second(10));
    ledger.add(user, 50000000, second(10));  // what is to be left
    CHECK(relative_error(core_seconds(ledger.usage(user, second(10))), 50) < 1e-6);
    CHECK(relative_error(core_seconds(ledger.usage(user, second(3610))), 25) < 1e-6);
}
