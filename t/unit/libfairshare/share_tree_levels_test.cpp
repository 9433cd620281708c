// SPDX-License-Identifier: LGPL-3.0-only
// Owns: examples of `parent` shares and of lines for one partition.
#include "libfairshare/tree/share_tree.hpp"

#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

ShareTree parse_levels(std::string_view text) {
    auto parsed = parse_share_tree(text);
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        FAIL(to_string(*diagnostics));
    }
    return std::get<ShareTree>(std::move(parsed));
}

}  // namespace

TEST_CASE("share tree: children of a node with parent's shares stand among its siblings") {
    const ShareTree tree = parse_levels(
        "\"a\" = 4\n\"a/inner\" = \"parent\"\n\"a/inner/@u\" = 3\n\"a/inner/deep\" = \"parent\"\n"
        "\"a/inner/deep/@v\" = 2\n\"a/@w\" = 5\n\"a/@p\" = { shares = \"parent\" }\n\"b\" = 12\n");
    const NodeId a = at(tree, "a");
    CHECK(tree.shares_parent(at(tree, "a/inner")));
    CHECK(tree.child_shares(a) == 10);
    CHECK(tree.child_shares(at(tree, "a/inner")) == 0);
    for (const char* path : {"a/inner/@u", "a/inner/deep/@v", "a/@w", "a/inner/deep"}) {
        CAPTURE(path);
        CHECK(tree.level_parent(at(tree, path)) == a);
    }
    CHECK(tree.norm_shares(at(tree, "a/inner/deep/@v")) == 0.2);
    CHECK(tree.entitled_share(at(tree, "a/inner/deep/@v")) == Approx(0.05).epsilon(1e-15));
    CHECK(tree.norm_shares(at(tree, "a/@p")) == 0.25);
    CHECK(tree.entitled_share(at(tree, "a/@p")) == 0.25);
    CHECK(tree.shares(at(tree, "a/@p")) == 0);
}

TEST_CASE("share tree: an account with parent's shares is entitled to what its children are") {
    const ShareTree tree = parse_levels("\"a\" = \"parent\"\n\"a/@u\" = 1\n\"b\" = 3\n");
    CHECK(tree.child_shares(root_node) == 4);
    CHECK(tree.norm_shares(at(tree, "a")) == 1.0);  // as in Slurm
    CHECK(tree.entitled_share(at(tree, "a")) == 0.25);
    CHECK(tree.entitled_share(at(tree, "a/@u")) == 0.25);
    const ShareTree deep = parse_levels(
        "\"a\" = 1\n\"a/in\" = \"parent\"\n\"a/in/@u\" = 2\n\"a/in/@*\" = 5\n\"a/in/deep\" = \"parent\"\n"
        "\"a/in/deep/@v\" = 3\n\"a/in/deep/@p\" = \"parent\"\n\"a/@w\" = 5\n\"b\" = 1\n\"e\" = \"parent\"\n"
        "\"e/@*\" = \"parent\"\n");
    CHECK(deep.entitled_share(at(deep, "a/in")) == 0.25);
    CHECK(deep.entitled_share(at(deep, "a/in/deep")) == Approx(0.15).epsilon(1e-15));
    // A user without shares of his own draws on those of his account, which gets no more by that.
    CHECK(deep.entitled_share(at(deep, "a/in/deep/@p")) == Approx(0.15).epsilon(1e-15));
    CHECK(deep.entitled_share(at(deep, "e")) == 0.0);
    CHECK(deep.entitled_share(at(deep, "e/@*")) == 0.0);
}

TEST_CASE("share tree: a member of an account with parent's shares counts where that counts") {
    const ShareTree tree = parse_levels("\"a\" = \"parent\"\n\"a/@*\" = 2\n\"b\" = 2\n\"b/@*\" = \"parent\"\n");
    const auto [grown, member] = *tree.with_member(at(tree, "a"), "u");
    CHECK(grown.entitled_share(member) == 0.5);
    const auto [more, other] = *grown.with_member(at(tree, "b"), "v");
    CHECK(more.shares_parent(other));
    CHECK(more.child_shares(root_node) == 4);
    CHECK(more.with_members_of(grown).child_shares(root_node) == 4);
}

TEST_CASE("share tree: shares that add up past the limit only through parent's shares are told") {
    std::vector<NodeSpec> lines = specs({{"a", 0}});
    lines[0].shares_parent = true;
    for (int i = 0; i < 65538; ++i) {
        lines.push_back({(i % 2 == 0 ? "a/@u" : "@u") + std::to_string(i), std::nullopt, 0xffffffff, {2, 1}});
    }
    const auto built = build_share_tree(lines);
    REQUIRE(std::holds_alternative<Diagnostics>(built));
    CHECK(to_string(std::get<Diagnostics>(built)).find("add up to more than 2^48") != std::string::npos);
}

TEST_CASE("share tree: a user's line for one partition goes before the one for all") {
    const ShareTree tree = parse_levels(
        "\"a\" = 1\n\"a/@u:debug\" = 3\n\"a/@u\" = 1\n\"b\" = 1\n\"b/@u:long\" = 1\n\"b/@*\" = 1\n"
        "\"c\" = 1\n\"c/@v:long\" = 1\n");
    const NodeId debug = at(tree, "a/@u:debug");
    CHECK(tree.name(debug) == "u");
    CHECK(tree.partition(debug) == "debug");
    CHECK(tree.component(debug) == "@u:debug");
    CHECK(tree.path(debug) == "a/@u:debug");
    CHECK(tree.partition(at(tree, "a/@u")).empty());
    CHECK(tree.association_count() == 4);
    CHECK(tree.association("a", "u", "debug")->leaf == debug);
    CHECK(tree.association("a", "u", "long")->leaf == at(tree, "a/@u"));
    CHECK(tree.association("a", "u")->leaf == at(tree, "a/@u"));
    CHECK(tree.association("", "u", "debug")->leaf == debug);
    CHECK(tree.association("b", "u", "long")->leaf == at(tree, "b/@u:long"));
    CHECK_FALSE(tree.association("b", "u", "debug")->leaf);  // by `@*`
    CHECK_FALSE(tree.association("c", "v", "debug"));
    CHECK(tree.association("", "v", "debug")->account == at(tree, "b"));  // the open account takes all
    CHECK(tree.associations_of("u").size() == 3);
    CHECK_FALSE(tree.with_member(at(tree, "b"), "u:long"));
}

TEST_CASE("share tree text: shares of the parent and lines for partitions are written as read") {
    const std::string text = "\"a\" = \"parent\"\n\"a/@u:debug\" = \"parent\"\n\"a/@u\" = 2\n";
    CHECK(write_share_tree(parse_levels(text)) == text);
    for (const char* bad :
         {"\"@u:\" = 1\n", "\"@:p\" = 1\n", "\"@u:p:q\" = 1\n", "\"@*:p\" = 1\n", "\"a\" = \"parents\"\n"}) {
        CAPTURE(bad);
        CHECK(std::holds_alternative<Diagnostics>(parse_share_tree(bad)));
    }
}
