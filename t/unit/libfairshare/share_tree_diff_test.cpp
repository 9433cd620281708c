// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/share_tree_diff.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

std::string shown(const ShareTree& from, const ShareTree& to) {
    std::string text;
    for (const TreeChange& change : diff_trees(from, to)) {
        text += std::string{to_string(change.kind)} + " " + change.path;
        text += change.from_path.empty() ? "" : " from " + change.from_path;
        text += " " + std::to_string(change.shares_from) + ">" + std::to_string(change.shares_to) + "; ";
    }
    return text;
}

}  // namespace

TEST_CASE("diff: equal trees have none, whatever the order of lines") {
    const ShareTree a = tree_of({{"p", 1}, {"b", 2}, {"p/@u", 3}, {"p/@v", 3}});
    const ShareTree b = tree_of({{"b", 2}, {"p", 1}, {"p/@v", 3}, {"p/@u", 3}});
    CHECK(shown(a, b).empty());
}

// Mutant: libfairshare/tree/share_tree.cpp: component(lines.back()) != component(id) => true
TEST_CASE("diff: an order of lines that gives a user another default account is told of both lines") {
    const ShareTree before = tree_of({{"a", 1}, {"a/@x", 1}, {"a/@y", 1}, {"b", 1}, {"b/@x", 1}});
    const ShareTree after = tree_of({{"b", 1}, {"b/@x", 1}, {"a", 1}, {"a/@y", 1}, {"a/@x", 1}});
    const auto changes = diff_trees(before, after);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].path == "b/@x");
    CHECK(changes[0].kind == ChangeKind::changed);
    CHECK(changes[0].fields == std::vector<FieldChange>{{"default", "", "first line"}});
    CHECK(changes[1].path == "a/@x");
    CHECK(changes[1].fields == std::vector<FieldChange>{{"default", "first line", ""}});
    const ShareTree more = tree_of({{"a", 1}, {"a/@x", 1}, {"a/@y", 1}, {"b", 1}, {"b/@x", 1}, {"b/@y", 1}});
    CHECK(shown(before, more) == "add b/@y 0>1; ");
    CHECK(std::all_of(changes.begin(), changes.end(), is_of_order));
    const ShareTree open = tree_of({{"a", 1}, {"a/@*", 1}, {"b", 1}, {"b/@*", 1}});
    CHECK(shown(open, tree_of({{"b", 1}, {"b/@*", 1}, {"a", 1}, {"a/@*", 1}})) == "change b/@* 1>1; change a/@* 1>1; ");
}

TEST_CASE("diff: added, removed, re-shared") {
    const ShareTree from = tree_of({{"p", 1}, {"p/@u", 3}, {"q", 1}});
    const ShareTree to = tree_of({{"p", 2}, {"p/@v", 3}, {"q", 1}});
    CHECK(shown(from, to) == "remove p/@u 3>0; share p 1>2; add p/@v 0>3; ");
    const auto changes = diff_trees(from, to);
    CHECK(changes[1].entitled_from == 0.5);
    CHECK(changes[1].entitled_to == Approx(2.0 / 3));
}

TEST_CASE("diff: a user under another account has moved") {
    const ShareTree from = tree_of({{"p", 1}, {"q", 1}, {"p/@u", 3}});
    const ShareTree to = tree_of({{"p", 1}, {"q", 1}, {"q/@u", 4}});
    CHECK(shown(from, to) == "move q/@u from p/@u 3>4; ");
}

TEST_CASE("diff: an account moves with all below it, told once") {
    const ShareTree from = tree_of({{"p", 1}, {"q", 1}, {"p/l", 1}, {"p/l/@u", 1}, {"p/l/@v", 1}});
    const ShareTree to = tree_of({{"p", 1}, {"q", 1}, {"q/l", 1}, {"q/l/@u", 1}, {"q/l/@v", 2}});
    CHECK(shown(from, to) == "move q/l from p/l 1>1; share q/l/@v 1>2; ");
}

TEST_CASE("diff: two candidates are no move") {
    const ShareTree from = tree_of({{"p", 1}, {"q", 1}, {"r", 1}, {"p/@u", 1}});
    const ShareTree to = tree_of({{"p", 1}, {"q", 1}, {"r", 1}, {"q/@u", 1}, {"r/@u", 1}});
    CHECK(shown(from, to) == "remove p/@u 1>0; add q/@u 0>1; add r/@u 0>1; ");
}

TEST_CASE("diff: a user and an account of one name are different nodes") {
    const ShareTree from = tree_of({{"p", 1}, {"p/x", 1}});
    const ShareTree to = tree_of({{"p", 1}, {"p/@x", 1}});
    CHECK(shown(from, to) == "remove p/x 1>0; add p/@x 0>1; ");
}

TEST_CASE("match: a wildcard line does not move") {
    const ShareTree from = tree_of({{"p", 1}, {"q", 1}, {"p/@*", 1}});
    const ShareTree to = tree_of({{"p", 1}, {"q", 1}, {"q/@*", 1}});
    CHECK(match_nodes(from, to)[at(from, "p/@*").value] == unassociated);
}
