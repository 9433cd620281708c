// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/share_tree.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

ShareTree campus() {
    return tree_of({{"physics", 3},
                    {"bio", 1},
                    {"physics/lattice", 2},
                    {"physics/plasma", 1},
                    {"physics/lattice/@alice", 1},
                    {"bio/@alice", 5},
                    {"physics/lattice/@bob", 3},
                    {"bio/@*", 5},
                    {"bio/lattice", 0}});
}

}  // namespace

TEST_CASE("share tree: entitled share is the product of the shares along the path") {
    const ShareTree tree = campus();
    CHECK(tree.entitled_share(at(tree, "physics")) == 0.75);
    CHECK(tree.entitled_share(at(tree, "physics/lattice")) == Approx(0.5).epsilon(1e-15));
    CHECK(tree.entitled_share(at(tree, "physics/lattice/@bob")) == Approx(0.375).epsilon(1e-15));
    CHECK(tree.entitled_share(root_node) == 1.0);
}

TEST_CASE("share tree: a wildcard line is entitled to nothing and not summed") {
    const ShareTree tree = campus();
    CHECK(tree.kind(at(tree, "bio/@*")) == NodeKind::any_member);
    CHECK(tree.entitled_share(at(tree, "bio/@*")) == 0.0);
    CHECK(tree.entitled_share(at(tree, "bio/@alice")) == 0.25);
    CHECK(tree.association_count() == 3);
}

TEST_CASE("share tree: zero shares are entitled to nothing") {
    const ShareTree tree = campus();
    CHECK(tree.entitled_share(at(tree, "bio/lattice")) == 0.0);
    CHECK(tree_of({{"a", 0}}).entitled_share(NodeId{1}) == 0.0);
}

TEST_CASE("share tree: paths lead to nodes and back") {
    const ShareTree tree = campus();
    for (std::uint32_t i = 0; i < tree.size(); ++i) {
        CHECK(tree.find(tree.path(NodeId{i})) == NodeId{i});
    }
    for (const char* path : {"lattice", "physics/lattic", "/physics", "physics/", "@alice", "bio/alice", "bio/@", "@*",
                             "/@*", "physics/@*", "xbio/@alice", "bio/x/@alice"}) {
        CAPTURE(path);
        CHECK_FALSE(tree.find(path));
    }
}

TEST_CASE("share tree: ids of parents are below their children's, children keep their order") {
    const ShareTree tree = campus();
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        CHECK(tree.parent(NodeId{i}).value < i);
    }
    std::string names;
    for (NodeId child : tree.children(at(tree, "bio"))) {
        names += std::string{tree.name(child)} + " ";
    }
    CHECK(names == "alice * lattice ");
}

TEST_CASE("share tree: an account goes by its last component where that is unique") {
    const ShareTree tree = campus();
    CHECK(*tree.account("plasma") == at(tree, "physics/plasma"));
    CHECK(*tree.account("physics/lattice") == at(tree, "physics/lattice"));
    const auto ambiguous = tree.account("lattice");
    REQUIRE_FALSE(ambiguous);
    CHECK(ambiguous.error().message ==
          "account \"lattice\" is ambiguous: it is one of physics/lattice, bio/lattice; give the full path");
    const auto misspelt = tree.account("plasam");
    REQUIRE_FALSE(misspelt);
    CHECK(misspelt.error().code == std::errc::no_such_file_or_directory);
    CHECK(misspelt.error().message == "no account \"plasam\" in the share tree; did you mean \"plasma\"?");
    CHECK_FALSE(tree.account("bio/@alice"));
    CHECK(*tree.account("") == root_node);
}

TEST_CASE("share tree: a top-level account wins over deeper ones of its name") {
    const ShareTree tree = tree_of({{"x", 1}, {"x/bio", 1}, {"bio", 1}});
    CHECK(*tree.account("bio") == at(tree, "bio"));
}

TEST_CASE("share tree: a user's default account is the one listed first") {
    const ShareTree tree = campus();
    CHECK(tree.association("", "alice")->account == at(tree, "physics/lattice"));
    CHECK(tree.association("bio", "alice")->leaf == at(tree, "bio/@alice"));
    REQUIRE(tree.associations_of("alice").size() == 2);
    const ShareTree other = tree_of({{"b", 1}, {"a", 1}, {"b/c", 1}, {"b/c/@u", 1}, {"a/@u", 1}});
    CHECK(other.association("", "u")->account == at(other, "b/c"));  // although a/@u stands higher in the tree
}

TEST_CASE("share tree: others enter by the wildcard alone") {
    const ShareTree tree = campus();
    const auto carol = tree.association("", "carol");
    REQUIRE(carol);
    CHECK(carol->account == at(tree, "bio"));
    CHECK_FALSE(carol->leaf);
    const auto refused = tree.association("physics/lattice", "carol");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "user \"carol\" is not in account \"physics/lattice\" nor in any other");
    CHECK(tree.association("plasma", "bob").error().message ==
          "user \"bob\" is not in account \"physics/plasma\"; the user's accounts are physics/lattice");
    const ShareTree closed = tree_of({{"a", 1}, {"a/@alice", 1}});
    CHECK(closed.association("", "alcie").error().message ==
          "user \"alcie\" is in no account of the share tree; did you mean \"alice\"?");
}

TEST_CASE("share tree: a member takes the wildcard's shares and keeps all ids") {
    const ShareTree tree = campus();
    const auto made = tree.with_member(at(tree, "bio"), "carol");
    REQUIRE(made);
    const auto& [next, carol] = *made;
    CHECK(next.extends(tree));
    CHECK_FALSE(tree.extends(next));
    CHECK(next.is_materialised(carol));
    CHECK(next.find("bio/@carol") == carol);
    CHECK(next.association("bio", "carol")->leaf == carol);
    CHECK(next.entitled_share(carol) == Approx(0.125).epsilon(1e-15));
    CHECK(next.find("physics/lattice/@bob") == tree.find("physics/lattice/@bob"));
    CHECK(next.association_count() == 4);
    for (const ShareTree* each : {&tree, &next}) {
        CHECK_FALSE(each->children(NodeId{each->parents_end() - 1}).empty());
        for (std::uint32_t i = each->parents_end(); i < each->size(); ++i) {
            CHECK(each->children(NodeId{i}).empty());
        }
    }
    CHECK(ShareTree{}.parents_end() == 1);
}

TEST_CASE("share tree: members are refused twice, without wildcard, and with bad names") {
    const ShareTree tree = campus();
    const NodeId bio = at(tree, "bio");
    CHECK(tree.with_member(bio, "alice").error().code == std::errc::file_exists);
    CHECK(tree.with_member(at(tree, "physics"), "carol").error().code == std::errc::no_such_file_or_directory);
    CHECK(tree.with_member(bio, "a b").error().code == std::errc::invalid_argument);
    CHECK(tree.with_member(bio, "*").error().code == std::errc::invalid_argument);
    CHECK(tree.with_member(bio, "").error().code == std::errc::invalid_argument);
}

TEST_CASE("share tree: members follow into a new tree as far as it admits them") {
    const ShareTree old = tree_of({{"a", 1}, {"b", 1}, {"c", 1}, {"a/@*", 2}, {"b/@*", 1}, {"c/@*", 1}});
    ShareTree grown = old.with_member(at(old, "a"), "u")->first;
    grown = grown.with_member(at(old, "b"), "v")->first;
    grown = grown.with_member(at(old, "c"), "w")->first;
    const ShareTree next = tree_of({{"c", 1}, {"a", 1}, {"b", 1}, {"a/@*", 7}, {"c/@*", 1}, {"c/@w", 4}});
    const ShareTree carried = next.with_members_of(grown);
    CHECK(carried.shares(at(carried, "a/@u")) == 7);
    CHECK_FALSE(carried.find("b/@v"));
    CHECK(carried.shares(at(carried, "c/@w")) == 4);  // has a line of its own now
    CHECK(carried.extends(next));
}

TEST_CASE("share tree: the lone root is a tree") {
    const ShareTree tree;
    CHECK(tree.size() == 1);
    CHECK(tree.children(root_node).empty());
    CHECK(tree.find("") == root_node);
    CHECK_FALSE(tree.association("", "alice"));
}

TEST_CASE("share tree: many members at once are the same as one after the other; who may not enter is left out") {
    const ShareTree tree = campus();
    const NodeId bio = at(tree, "bio");
    const auto first = tree.with_member(bio, "carol");
    REQUIRE(first);
    const auto second = first->first.with_member(bio, "dave");
    REQUIRE(second);
    const std::vector<std::pair<NodeId, std::string>> users{
        {bio, "carol"}, {at(tree, "physics/lattice"), "eve"}, {bio, "carol"}, {bio, "*"}, {bio, "dave"}};
    const ShareTree all = tree.with_members(users);
    CHECK(all.extends(second->first));
    CHECK(second->first.extends(all));
    CHECK(all.entitled_share(at(all, "bio/@dave")) == second->first.entitled_share(second->second));
}
