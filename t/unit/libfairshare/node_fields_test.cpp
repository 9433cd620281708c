// SPDX-License-Identifier: LGPL-3.0-only
// Owns: examples of what a node may have beyond shares, by way of the TOML form.
#include "libfairshare/tree/node_fields.hpp"

#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

ShareTree parse_fields(std::string_view text) {
    auto parsed = parse_share_tree(text, "s.toml");
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        FAIL(to_string(*diagnostics));
    }
    return std::get<ShareTree>(std::move(parsed));
}

std::string field_errors(std::string_view text) {
    auto parsed = parse_share_tree(text, "s.toml");
    auto* diagnostics = std::get_if<Diagnostics>(&parsed);
    return diagnostics != nullptr ? to_string(*diagnostics) : std::string{};
}

}  // namespace

TEST_CASE("node terms: targets carry Moab's suffixes") {
    CHECK(to_target("16.5") == FairShareTarget{TargetKind::target, 16.5});
    CHECK(to_target("16.5+") == FairShareTarget{TargetKind::floor, 16.5});
    CHECK(to_target("0-") == FairShareTarget{TargetKind::ceiling, 0});
    CHECK(to_target("10%") == FairShareTarget{TargetKind::relative_cap, 10});
    CHECK(to_target("16500^") == FairShareTarget{TargetKind::absolute_cap, 16500});
    for (const char* text : {"", "+", "-5", "5++", "101", "100.5%", "nan", "inf^", "1e999^", " 5", "5 "}) {
        CAPTURE(text);
        CHECK_FALSE(to_target(text));
    }
}

TEST_CASE("node terms: limits are exact in their own units") {
    CHECK(to_limit("cores_max", "64") == std::pair{LimitKind::cores, std::uint64_t{64}});
    CHECK(to_limit("wall_time_max", "36h") == std::pair{LimitKind::wall_time, std::uint64_t{129600}});
    CHECK(to_limit("usage_max", "2d") == std::pair{LimitKind::usage, std::uint64_t{172800}});
    CHECK(to_limit("usage_max", "2.5%") == std::pair{LimitKind::usage_part, std::uint64_t{25000}});
    CHECK(to_limit("charged_max", "100%") == std::pair{LimitKind::charged_part, std::uint64_t{1000000}});
    CHECK(limit_text(LimitKind::usage_part, 25000) == "2.5%");
    CHECK(limit_text(LimitKind::wall_time, 129600) == "36h");
    CHECK(limit_text(LimitKind::wall_time, 0) == "0s");
    for (const auto& [key, text] : {std::pair{"cores_max", "64h"},
                                    {"cores_max", "-1"},
                                    {"wall_time_max", "36"},
                                    {"wall_time_max", "9999999999999999999d"},
                                    {"usage_max", "100.1%"},
                                    {"usage_max", "2.12345%"},
                                    {"usage_max", ".5%"},
                                    {"usage_max", "5.%"}}) {
        CAPTURE(key, text);
        CHECK_FALSE(to_limit(key, text));
    }
}

TEST_CASE("node fields: the canonical text says all that a node has") {
    const std::string text =
        "\"bio\" = { shares = 10, at = { debug = 20, long = 0 }, target = [\"16.5+\", \"30%\"], "
        "running_jobs_max = 5, cores_max = [64, 128], wall_time_max = \"36h\", usage_max = [\"10%\", \"25.5%\"] }\n"
        "\"bio/group:staff\" = 2\n"
        "\"bio/queue:night\" = 1\n"
        "\"bio/queue:night/qos:high\" = 1\n"
        "\"bio/@*\" = { shares = 3, together = true }\n"
        "\"math\" = 1\n"
        "\"math/@eve\" = { shares = 1, default = true }\n"
        "\"math/@*\" = { shares = \"parent\", cores_max = 8, projects = [\"qcd\", \"*\"], default_project = \"*\" }\n";
    CHECK(write_share_tree(parse_fields(text)) == text);
}

TEST_CASE("node fields: values reach the tree") {
    const ShareTree tree = parse_fields(
        "\"a\" = { shares = 10, at.debug = 20, cores_max = [64, 128], target = 16.5 }\n\"b\" = 30\n"
        "\"a/@*\" = { shares = 2, nodes_max = 4 }\n");
    const NodeId a = at(tree, "a");
    CHECK(tree.shares(a) == 10);
    CHECK(tree.shares(a, "debug") == 20);
    CHECK(tree.shares(a, "other") == 10);
    CHECK(tree.limit(a, LimitKind::cores) == Limit{LimitKind::cores, 128, 64});
    CHECK_FALSE(tree.limit(a, LimitKind::nodes));
    CHECK(tree.terms(a).size() == 3);
    CHECK(tree.terms(at(tree, "b")).empty());
    const auto [grown, member] = *tree.with_member(a, "u");
    CHECK(grown.limit(member, LimitKind::nodes)->hard == 4);
    CHECK(tree.partitions() == std::vector<std::string>{"debug"});
    const ShareTree seen = tree.in_partition("debug");
    CHECK(seen.entitled_share(a) == 0.4);
    CHECK(tree.entitled_share(a) == 0.25);
    CHECK(tree.in_partition("other").entitled_share(a) == 0.25);
}

TEST_CASE("node fields: shares in a partition stand for a parent's there") {
    const ShareTree tree = parse_fields("\"a\" = { shares = \"parent\", at.p = 3 }\n\"a/@u\" = 1\n\"b\" = 1\n");
    CHECK(tree.entitled_share(at(tree, "a/@u")) == 0.5);
    CHECK(tree.in_partition("p").entitled_share(at(tree, "a/@u")) == 0.75);
}

TEST_CASE("node fields: groups, queues and QoS are leaves until something stands below them") {
    const ShareTree tree =
        parse_fields("\"a\" = 1\n\"a/group:g\" = 1\n\"a/queue:q\" = 1\n\"a/queue:q/@u\" = 1\n\"qos:h\" = 1\n");
    CHECK(tree.is_association(at(tree, "a/group:g")));
    CHECK_FALSE(tree.is_association(at(tree, "a/queue:q")));
    CHECK(tree.is_association(at(tree, "qos:h")));
    CHECK(tree.association_count() == 3);
    CHECK(tree.name(at(tree, "a/queue:q")) == "q");
    CHECK(tree.credentials(NodeKind::group, "g") == std::vector{at(tree, "a/group:g")});
    CHECK(tree.credentials(NodeKind::qos, "g").empty());
    CHECK_FALSE(tree.find("group:g"));
    CHECK_FALSE(tree.account("g"));
}

TEST_CASE("node fields: others together are one leaf") {
    const ShareTree tree = parse_fields("\"a\" = 1\n\"a/@u\" = 1\n\"a/@*\" = { shares = 3, together = true }\n");
    const NodeId others = at(tree, "a/@*");
    CHECK(tree.kind(others) == NodeKind::others);
    CHECK(tree.association_count() == 2);
    CHECK(tree.entitled_share(others) == 0.75);
    CHECK(tree.association("a", "w")->leaf == others);
    CHECK(tree.association("", "w")->leaf == others);
    CHECK(tree.association("a", "u")->leaf == at(tree, "a/@u"));
    CHECK_FALSE(tree.with_member(at(tree, "a"), "w"));
}

TEST_CASE("node fields: the line marked default pays") {
    const ShareTree tree = parse_fields("\"a\" = 1\n\"a/@u\" = 1\n\"b\" = 1\n\"b/@u\" = { default = true }\n");
    CHECK(tree.association("", "u")->leaf == at(tree, "b/@u"));
    CHECK(tree.associations_of("u").front() == at(tree, "b/@u"));
    CHECK(field_errors("\"a\" = 1\n\"b\" = 1\n\"a/@u\" = { default = true }\n\"b/@u\" = { default = true }\n") ==
          "s.toml:4:1: \"b/@u\" is a second default of the user \"@u\"; the first is on line 3; keep one of the two");
}

TEST_CASE("node fields: each mistake says where and what would be right") {
    CHECK(field_errors("\"a\" = { cores_max = \"many\", nodes_max = [3] }\n") ==
          "s.toml:1:9: `cores_max` of \"a\" is \"many\"; write a whole number, or [soft, hard]\n"
          "s.toml:1:29: `nodes_max` of \"a\" is [3]; write a whole number, or [soft, hard]");
    CHECK(field_errors("\"a\" = { cores_max = [9, 8] }\n").find("the soft limit comes first") != std::string::npos);
    CHECK(field_errors("\"a\" = { usage_max = [\"9%\", \"800h\"] }\n").find("of one form") != std::string::npos);
    CHECK(field_errors("\"a\" = { target = \"x+\" }\n").find("`target` of \"a\" is \"x+\"; write percent") !=
          std::string::npos);
    CHECK(field_errors("\"a\" = { target = [\"1\", \"2\"] }\n").find("two of one kind") != std::string::npos);
    CHECK(field_errors("\"a\" = { at = 3 }\n").find("at.debug = 20") != std::string::npos);
    CHECK(field_errors("\"a\" = { at.\"@x\" = 3, at.p = -1 }\n").find("no partition") != std::string::npos);
    CHECK(field_errors("\"a\" = { at.p = -1 }\n").find("in partition \"p\" are -1") != std::string::npos);
    CHECK(field_errors("\"a\" = { core_max = 1 }\n").find("did you mean \"cores_max\"?") != std::string::npos);
    CHECK(field_errors("\"a\" = { together = true }\n").find("cannot be `together`") != std::string::npos);
    CHECK(field_errors("\"a\" = { default = true }\n").find("cannot be a default") != std::string::npos);
    CHECK(field_errors("\"a\" = { default = 1 }\n").find("write true or false") != std::string::npos);
    CHECK(field_errors("\"group:\" = 1\n").find("the colon is followed by no group") != std::string::npos);
}

TEST_CASE("share tree diff: fields that differ are told by name") {
    const ShareTree from = parse_fields("\"a\" = { shares = 1, cores_max = 4, at.p = 2 }\n\"b\" = 1\n\"c\" = 1\n");
    const ShareTree to =
        parse_fields("\"a\" = { shares = 1, cores_max = [3, 4], target = \"5+\" }\n\"b\" = \"parent\"\n\"c\" = 1\n");
    const auto changes = diff_trees(from, to);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].kind == ChangeKind::changed);
    CHECK(to_string(changes[0].kind) == "change");
    CHECK(changes[0].path == "a");
    CHECK(changes[0].fields ==
          std::vector<FieldChange>{{"cores_max", "4", "3, 4"}, {"target", "", "\"5+\""}, {"at.p", "2", ""}});
    CHECK(changes[1].kind == ChangeKind::reshared);
    CHECK(changes[1].fields == std::vector<FieldChange>{{"shares", "", "\"parent\""}});
}
