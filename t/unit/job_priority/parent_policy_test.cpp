// SPDX-License-Identifier: LGPL-3.0-only
// The parent's policy as a message, and how a child reads its own configuration with it.
#include "modules/job-priority/messages/parent_policy.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::priority;

namespace {

Json parsed(const char* text) {
    return std::move(Json::parse(text)).value();
}

ParentPolicy a_policy() {
    const Json table = parsed(R"({"weights": {"qos": 77}, "users": {"alice": 5001}, "share-tree": "/etc/shares.toml",
                                  "route": {"queues": ["batch"]}, "half-life": "1d"})");
    ParentPolicy policy;
    policy.table = shared_table(table.get());
    policy.arguments = shared_arguments({"state=/var/x", "weights.wait=3", "half-life=2d"});
    policy.machine = MachineSize{640, 10, 4., 2048., 128};
    policy.tree_revision = 7;
    policy.tree = "\"a\" = 1\n";
    return policy;
}

}  // namespace

TEST_CASE("parent policy: what is each instance's own does not go down") {
    const ParentPolicy policy = a_policy();
    CHECK(policy.table.at("weights"));
    CHECK_FALSE(policy.table.at("share-tree"));
    CHECK_FALSE(policy.table.at("route"));
    CHECK(policy.arguments == std::vector<std::string>{"weights.wait=3", "half-life=2d"});
}

TEST_CASE("parent policy: a partition gets all of it, another child neither the tree nor the users") {
    const auto whole = read_policy(write_policy(a_policy(), ChildKind::partition).get());
    REQUIRE(whole);
    CHECK(settings_revision(*whole) == settings_revision(a_policy()));
    CHECK(whole->tree == a_policy().tree);
    CHECK(whole->tree_revision == 7);
    CHECK(whole->machine == a_policy().machine);
    const auto part = read_policy(write_policy(a_policy(), ChildKind::other).get());
    REQUIRE(part);
    CHECK_FALSE(part->tree);
    CHECK_FALSE(part->table.at("users"));
    CHECK(part->table.at("weights"));
    CHECK(a_policy().table.at("users"));  // the parent's own table is as it was
    ParentPolicy named = a_policy();
    named.table.set("associations", Json::object());
    CHECK(read_policy(write_policy(named, ChildKind::other).get())->table.at("associations"));
    CHECK_FALSE(read_policy(write_policy(named, ChildKind::outsider).get())->table.at("associations"));
}

TEST_CASE("parent policy: the revision names the settings and nothing else") {
    ParentPolicy other = a_policy();
    other.tree_revision = 8;
    CHECK(settings_revision(other) == settings_revision(a_policy()));
    SECTION("table") {
        other.table.set("half-life", "3d");
    }
    SECTION("arguments") {
        other.arguments.pop_back();
    }
    SECTION("machine") {
        other.machine->cores += 1;
    }
    CHECK(settings_revision(other) != settings_revision(a_policy()));
}

TEST_CASE("parent policy: a child keeps its own places and arguments, and nothing else of its table") {
    const Json own = parsed(R"({"share-tree": "mine.toml", "weights": {"qos": 1}, "users": {"bob": 5002}})");
    const auto settings = settings_below(a_policy(), own.get(), {"update-interval=1h"});
    REQUIRE(settings);
    CHECK(settings->share_tree == "mine.toml");
    CHECK(settings->weights.qos == 77.);
    CHECK(settings->half_life == std::chrono::hours(48));
    CHECK(settings->update_interval == std::chrono::hours(1));
    CHECK(settings->users == std::map<std::string, std::uint32_t>{{"alice", 5001}});
}

TEST_CASE("parent policy: the child's users stay where the parent names none") {
    ParentPolicy policy = a_policy();
    json_object_del(policy.table.get(), "users");
    const Json own = parsed(R"({"users": {"bob": 5002}})");
    CHECK(settings_below(policy, own.get(), {})->users == std::map<std::string, std::uint32_t>{{"bob", 5002}});
}

TEST_CASE("parent policy: what is none is refused with what is wrong") {
    CHECK_FALSE(read_policy(parsed("[]").get()));
    CHECK_FALSE(read_policy(parsed(R"({"table": 1, "arguments": []})").get()));
    CHECK_FALSE(read_policy(parsed(R"({"table": {}, "arguments": [1]})").get()));
    ParentPolicy newer = a_policy();
    newer.table.set("no-such-key", "1");
    const auto refused = settings_below(newer, nullptr, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("no-such-key") != std::string::npos);
}

TEST_CASE("parent policy: a machine without cores is no machine") {
    ParentPolicy policy = a_policy();
    policy.machine->cores = 0;
    CHECK_FALSE(read_policy(write_policy(policy, ChildKind::partition).get())->machine);
}
