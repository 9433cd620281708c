// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/payer.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

const Lines mixed{{"queue:debug", 5},
                  {"queue:debug/@alice", 1},
                  {"physics", 60},
                  {"physics/@alice", 1},
                  {"physics/@bob", 1},
                  {"physics/@bob:gpu", 3},
                  {"physics/qos:high", 2},
                  {"physics/qos:high/@bob", 1},
                  {"physics/qos:high/@*", 1},
                  {"physics/queue:batch", 1},
                  {"physics/queue:batch/qos:high", 1},
                  {"chem", 40},
                  {"chem/group:staff", 3},
                  {"chem/@carol", 1},
                  {"queue:debug/chem", 1},
                  {"queue:debug/chem/@carol", 1},
                  {"bio", 1},
                  {"bio/@*", 1}};

/// Who pays, as a path; "NODE/@USER" for who would be admitted; or the error.
std::string paid(const ShareTree& tree, const Credentials& job) {
    const auto found = payer_of(tree, job);
    return !found        ? found.error().message
           : found->leaf ? tree.path(*found->leaf)
                         : tree.path(found->account) + "/+" + std::string{job.user};
}

}  // namespace

TEST_CASE("payer: below the job's own queue and QoS before the user's own line") {
    const ShareTree tree = tree_of(mixed);
    CHECK(paid(tree, {.user = "alice", .account = ""}) == "physics/@alice");
    CHECK(paid(tree, {.user = "alice", .account = "", .queue = "debug"}) == "queue:debug/@alice");
    CHECK(paid(tree, {.user = "alice", .account = "physics", .queue = "debug"}) == "physics/@alice");
    CHECK(paid(tree, {.user = "bob", .account = "physics", .qos = "high"}) == "physics/qos:high/@bob");
    CHECK(paid(tree, {.user = "bob", .account = "", .qos = "high"}) == "physics/qos:high/@bob");
    CHECK(paid(tree, {.user = "bob", .account = "physics", .qos = "low"}) == "physics/@bob");
    CHECK(paid(tree, {.user = "dora", .account = "physics", .qos = "high"}) == "physics/qos:high/+dora");
}

TEST_CASE("payer: a leaf of a queue or QoS pays itself, the first listed one") {
    const ShareTree tree = tree_of(mixed);
    CHECK(paid(tree, {.user = "bob", .account = "physics", .queue = "batch", .qos = "high"}) ==
          "physics/qos:high/@bob");
    const ShareTree batch = tree_of({{"physics", 1},
                                     {"physics/queue:batch", 1},
                                     {"physics/queue:batch/qos:high", 1},
                                     {"physics/qos:high", 1},
                                     {"physics/@bob", 1}});
    CHECK(paid(batch, {.user = "bob", .account = "physics", .queue = "batch", .qos = "high"}) ==
          "physics/queue:batch/qos:high");
    CHECK(paid(batch, {.user = "bob", .account = "physics", .queue = "batch"}) == "physics/@bob");  // no place for it
}

TEST_CASE("payer: the account is looked for below the job's own queue first") {
    const ShareTree tree = tree_of(mixed);
    CHECK(paid(tree, {.user = "carol", .account = "chem", .queue = "debug"}) == "queue:debug/chem/@carol");
    CHECK(paid(tree, {.user = "carol", .account = "chem", .queue = "batch"}) == "chem/@carol");
    CHECK(paid(tree, {.user = "bob", .account = "queue:debug/chem"}).find("account") != std::string::npos);
}

TEST_CASE("payer: a queue is the partition of a user's line") {
    const ShareTree tree = tree_of(mixed);
    CHECK(paid(tree, {.user = "bob", .account = "physics", .queue = "gpu"}) == "physics/@bob:gpu");
}

TEST_CASE("payer: a user's group lets in, before the first open account") {
    const ShareTree tree = tree_of(mixed);
    const std::vector<std::string> staff{"users", "staff"};
    CHECK(paid(tree, {.user = "zoe", .account = "", .groups = staff}) == "chem/group:staff");
    CHECK(paid(tree, {.user = "zoe", .account = "chem", .groups = staff}) == "chem/group:staff");
    CHECK(paid(tree, {.user = "zoe", .account = ""}) == "bio/+zoe");
    CHECK(paid(tree, {.user = "zoe", .account = "chem"}).find("not in account \"chem\"") != std::string::npos);
}

TEST_CASE("payer: what is for another queue is closed, with all below it") {
    const ShareTree tree = tree_of({{"queue:debug", 1}, {"queue:debug/chem", 1}, {"queue:debug/chem/@carol", 1}});
    CHECK(paid(tree, {.user = "carol", .account = "", .queue = "debug"}) == "queue:debug/chem/@carol");
    CHECK(paid(tree, {.user = "carol", .account = "", .queue = "batch"}).find("no line of user") != std::string::npos);
    CHECK(paid(tree, {.user = "carol", .account = "chem", .queue = "batch"}).find("is not for") != std::string::npos);
    CHECK(paid(tree, {.user = "carlo", .account = ""}).find("did you mean") != std::string::npos);
}

// Mutant: libfairshare/tree/payer.cpp: !has_line && tree_.open_accounts().empty() => !has_line
TEST_CASE("payer: a user without a line is no member by an @* line of a group that he is not in") {
    const ShareTree tree = tree_of({{"physics", 1}, {"physics/group:staffx", 1}, {"physics/group:staffx/@*", 1}});
    CHECK(paid(tree, {"bob"}) == "user \"bob\" has no line, and no @* line is for the job's group, queue and QoS");
    const std::vector<std::string> groups{"staffx"};
    CHECK(paid(tree, {.user = "bob", .groups = groups}) == "physics/group:staffx/+bob");
}

TEST_CASE("payer: without groups, queues and QoS in the tree it is the association") {
    const ShareTree tree = tree_of({{"a", 1}, {"a/@u", 1}, {"b", 1}, {"b/@u", 1}, {"b/@*", 1}});
    for (const char* account : {"", "a", "b", "c"}) {
        for (const char* user : {"u", "v"}) {
            const auto by_rule = payer_of(tree, {.user = user, .account = account, .queue = "q", .qos = "x"});
            const auto plain = tree.association(account, user, "q");
            REQUIRE(static_cast<bool>(by_rule) == static_cast<bool>(plain));
            if (plain) {
                CHECK(by_rule->account == plain->account);
                CHECK(by_rule->leaf == plain->leaf);
            } else {
                CHECK(by_rule.error().message == plain.error().message);
            }
        }
    }
}
