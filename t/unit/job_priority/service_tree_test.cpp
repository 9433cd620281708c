// SPDX-License-Identifier: LGPL-3.0-only
// What an edit of the share tree does to usage that is there.
#include <catch2/catch.hpp>

#include <algorithm>

#include "libfairshare/tree/share_tree_diff.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr const char* open_tree = "\"bio\" = 1\n\"bio/@*\" = 1\n\"chem\" = 1\n";
constexpr const char* tree_with_line = "\"bio\" = 1\n\"bio/@*\" = 1\n\"bio/@bob\" = 3\n\"chem\" = 1\n";

/// Bob used ten core-seconds in bio by then.
std::unique_ptr<PriorityService> service_of(const std::string& text) {
    auto made = service();
    put_tree(*made, text);
    made->begin_backlog();
    made->end_backlog(at(0));
    made->apply(submitted(1, 1, bob));
    made->apply(eligible(1, 1));
    made->apply(started(1, 10, 1));
    made->apply(freed(1, 20));
    made->apply(cleaned(1, 20));
    return made;
}

/// The change of a node; `kind` none: it is not in the list.
std::optional<TreeChange> change_of(const TreeProposal& proposal, const std::string& path) {
    const auto found = std::find_if(proposal.changes.begin(), proposal.changes.end(),
                                    [&](const TreeChange& change) { return change.path == path; });
    return found == proposal.changes.end() ? std::nullopt : std::optional(*found);
}

/// Puts it in force, and says whether that made exactly the tree that was proposed.
bool keeps_its_word(PriorityService& s, const TreeProposal& proposal, double t) {
    (void)accept(s, s.prepare(proposal, at(t)));
    const ShareTree& now = s.accounting().tree();
    return now.size() == proposal.tree->size() && diff_trees(*proposal.tree, now).empty();
}

std::unique_ptr<PriorityService> restarted(PriorityService& s) {
    MemoryStore store;
    store.apply(s.take_batch());
    auto again = service();
    REQUIRE(again->restore(store.saved(), at(90)).has_value());
    again->begin_backlog();
    again->end_backlog(at(90));
    return again;
}

}  // namespace

TEST_CASE("edits: who loses his own line keeps his usage where @* admits him, also over a restart") {
    auto s = service_of(tree_with_line);
    put_tree(*s, open_tree, 30);
    CHECK(charged(*s, "bio/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "bio", 40) == 10'000'000);
    CHECK(charged(*s, "", 40) == 0);
    const auto bobs = s->accounting().tree().find("bio/@bob");
    REQUIRE(bobs);
    CHECK(s->accounting().tree().shares(*bobs) == 1);
    auto again = restarted(*s);
    CHECK(charged(*again, "bio/@bob", 99) == 10'000'000);
    put_tree(*again, tree_with_line, 100);
    CHECK(charged(*again, "bio/@bob", 100) == 10'000'000);
}

TEST_CASE("edits: a job that runs while its user loses his line is charged to him to its end") {
    auto s = service_of(tree_with_line);
    s->apply(submitted(2, 21, bob));
    s->apply(eligible(2, 21));
    s->apply(started(2, 22, 2));
    put_tree(*s, open_tree, 30);
    s->apply(freed(2, 42));
    CHECK(charged(*s, "bio/@bob", 99) == 50'000'000);
    CHECK(charged(*s, "", 99) == 0);
}

TEST_CASE("edits: usage that has no line comes back with an @* line, as it does at a restart") {
    auto s = service_of(tree_with_line);
    put_tree(*s, "\"bio\" = 1\n\"chem\" = 1\n", 30);
    CHECK(charged(*s, "", 40) == 10'000'000);
    put_tree(*s, open_tree, 50);
    CHECK(charged(*s, "bio/@bob", 60) == 10'000'000);
    CHECK(charged(*s, "", 60) == 0);
}

TEST_CASE("edits: a user whose line moves takes his usage along, though the former account has an @* line") {
    auto s = service_of(tree_with_line);
    put_tree(*s, "\"bio\" = 1\n\"bio/@*\" = 1\n\"chem\" = 1\n\"chem/@bob\" = 1\n", 30);
    CHECK(charged(*s, "chem/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "bio", 40) == 0);
}

TEST_CASE("edits: members by @* move with their account") {
    auto s = service_of(open_tree);
    put_tree(*s, "\"chem\" = 1\n\"chem/bio\" = 1\n\"chem/bio/@*\" = 1\n", 30);
    CHECK(charged(*s, "chem/bio/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "", 40) == 0);
}

TEST_CASE("edits: who used nothing gets no leaf when he loses his line") {
    auto s = service_of(tree_with_line);
    put_tree(*s, "\"bio\" = 1\n\"bio/@*\" = 1\n\"bio/@alice\" = 1\n\"chem\" = 1\n", 30);
    put_tree(*s, open_tree, 31);
    CHECK_FALSE(s->accounting().tree().find("bio/@alice"));
    CHECK(s->accounting().tree().find("bio/@bob"));
}

TEST_CASE("edits: a proposal shows who stays a member by @* as reshared, not as removed") {
    auto s = service_of(tree_with_line);
    s->apply(submitted(2, 21, alice));
    s->apply(eligible(2, 21));
    const TreeProposal proposal = proposed(*s, open_tree, 30);
    const auto bobs = change_of(proposal, "bio/@bob");
    REQUIRE(bobs);
    CHECK(bobs->kind == ChangeKind::reshared);
    CHECK(bobs->entitled_from == 0.5 * 3 / 4);
    CHECK(bobs->entitled_to == 0.5 * 1 / 2);
    CHECK(keeps_its_word(*s, proposal, 30));
}

TEST_CASE("edits: a proposal that moves an account moves its members by @*, and removes nobody") {
    auto s = service_of(open_tree);
    const TreeProposal proposal = proposed(*s, "\"sci\" = 1\n\"sci/bio\" = 1\n\"sci/bio/@*\" = 1\n\"chem\" = 1\n", 30);
    CHECK(std::none_of(proposal.changes.begin(), proposal.changes.end(),
                       [](const TreeChange& change) { return change.kind == ChangeKind::removed; }));
    CHECK(keeps_its_word(*s, proposal, 30));
}

TEST_CASE("edits: a proposal with an @* line counts those who will be members of it again") {
    auto s = service_of(open_tree);
    put_tree(*s, "\"bio\" = 1\n\"bio/@carol\" = 3\n\"chem\" = 1\n", 30);
    const TreeProposal proposal = proposed(*s, "\"bio\" = 1\n\"bio/@carol\" = 4\n\"bio/@*\" = 1\n\"chem\" = 1\n", 31);
    const auto carols = change_of(proposal, "bio/@carol");
    REQUIRE(carols);
    CHECK(carols->entitled_to == 0.5 * 4 / 5);
    CHECK(keeps_its_word(*s, proposal, 31));
}

TEST_CASE("edits: the difference of two revisions has the entitlements of the change itself") {
    auto s = service_of(open_tree);
    s->apply(submitted(2, 21, alice));
    s->apply(eligible(2, 21));
    const TreeProposal proposal = proposed(*s, tree_with_line, 30);
    CHECK(keeps_its_word(*s, proposal, 30));
    const auto between = s->changes_between(1, 2);
    REQUIRE(between);
    REQUIRE(between->size() == proposal.changes.size());
    for (std::size_t i = 0; i < between->size(); ++i) {
        INFO(between->at(i).path);
        CHECK(between->at(i).path == proposal.changes[i].path);
        CHECK(between->at(i).kind == proposal.changes[i].kind);
        CHECK(between->at(i).entitled_from == proposal.changes[i].entitled_from);
        CHECK(between->at(i).entitled_to == proposal.changes[i].entitled_to);
    }
}

// Mutant: modules/job-priority/charges/ledgers.cpp: const ShareTree next = lines.with_members(users); => const
// ShareTree& next = lines;
TEST_CASE("edits: a member by @* who gets a line in another account keeps his usage where it is") {
    auto s = service_of(open_tree);
    const TreeProposal proposal = proposed(*s, std::string(open_tree) + "\"chem/@bob\" = 2\n", 30);
    CHECK(keeps_its_word(*s, proposal, 30));
    CHECK(charged(*s, "bio/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "chem/@bob", 40) == 0);
}

// Users with usage, with jobs that run, and with jobs that only wait, in every edit from one tree to another.
// Mutant: modules/job-priority/charges/membership.cpp: if (payer && !payer->association.leaf) { => if (payer &&
// payer->association.leaf) {
TEST_CASE("edits: what a proposal shows is what will be in force") {
    const std::vector<std::string> trees{
        open_tree,
        tree_with_line,
        "\"bio\" = 1\n\"bio/@alice\" = 2\n\"bio/@bob\" = 3\n\"bio/@carol\" = 4\n",
        "\"sci\" = 1\n\"sci/bio\" = 1\n\"sci/bio/@*\" = 2\n\"chem\" = 1\n\"chem/@carol\" = 5\n",
        "\"bio\" = 1\n\"bio/@*\" = 1\n\"chem\" = 2\n\"chem/@bob\" = 2\n\"chem/@*\" = 3\n",
        "\"bio\" = 1\n\"bio/@*\" = { shares = 1, cores_max = 64 }\n\"chem\" = 1\n\"chem/@alice\" = 2\n",
        "\"bio\" = 1\n\"chem\" = 1\n",
    };
    for (std::size_t from = 0; from < trees.size(); ++from) {
        for (std::size_t to = 0; to < trees.size(); ++to) {
            INFO(from << " to " << to);
            auto s = service_of(trees[from]);
            s->apply(submitted(2, 21, alice, "bio"));
            s->apply(eligible(2, 21));
            s->apply(submitted(3, 22, carol));
            s->apply(eligible(3, 22));
            s->apply(started(3, 23, 1));
            s->apply(submitted(4, 24, bob, "chem"));
            s->apply(eligible(4, 24));
            if (from != to) {
                CHECK(keeps_its_word(*s, proposed(*s, trees[to], 30), 30));
            }
            for (const std::size_t back : {from, to}) {
                if (const TreeProposal proposal = proposed(*s, trees[back], 40); proposal.is_new) {
                    CHECK(keeps_its_word(*s, proposal, 40));
                }
            }
        }
    }
}
