// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using Catch::Matchers::Contains;

namespace {

TreeProposal proposed(const TreeStore& store, const std::string& text, std::string author = "me") {
    auto proposal = store.propose(*store.tree(), {text, std::move(author), "why", std::nullopt}, "t", at(1));
    if (!proposal) {
        throw std::runtime_error(proposal.error().message);
    }
    return std::move(*proposal);
}

}  // namespace

TEST_CASE("trees: revisions count up and carry author, reason and text") {
    TreeStore store;
    CHECK(store.in_force().revision == 0);
    store.accept(proposed(store, "\"a\" = 1\n"));
    store.accept(proposed(store, "\"a\" = 2\n"));
    CHECK(store.in_force().revision == 2);
    CHECK(store.history().size() == 2);
    CHECK(store.history()[0].reason == "why");
}

TEST_CASE("trees: a bad text changes nothing and every mistake is told") {
    TreeStore store;
    const auto bad =
        store.propose(*store.tree(), {"\"a\" = -1\n\"b/c\" = 1\n", "me", "", std::nullopt}, "shares.toml", at(1));
    REQUIRE_FALSE(bad);
    CHECK_THAT(bad.error().message, Contains("shares.toml:1:1") && Contains("\n"));
    CHECK(bad.error().code == std::errc::invalid_argument);
    CHECK(store.in_force().revision == 0);
}

TEST_CASE("trees: an edit of a revision that is no longer in force is refused") {
    TreeStore store;
    store.accept(proposed(store, "\"a\" = 1\n"));
    const auto stale = store.propose(*store.tree(), {"\"a\" = 2\n", "me", "", 0}, "t", at(1));
    REQUIRE_FALSE(stale);
    CHECK(stale.error().code == std::errc::resource_unavailable_try_again);
    CHECK(store.propose(*store.tree(), {"\"a\" = 2\n", "me", "", 1}, "t", at(1)));
}

TEST_CASE("trees: the file counts when it changed, not when the command changed the tree since") {
    TreeStore store;
    const auto first = store.propose_file(*store.tree(), "\"a\" = 1\n", "f", at(1));
    REQUIRE((first && *first));
    store.accept(**first);
    store.accept(proposed(store, "\"a\" = 5\n"));
    CHECK_FALSE(*store.propose_file(*store.tree(), "\"a\" = 1\n", "f", at(2)));
    const auto edited = store.propose_file(*store.tree(), "\"a\" = 7\n", "f", at(3));
    REQUIRE((edited && *edited));
    CHECK((*edited)->revision.revision == 3);
    CHECK_FALSE(store.propose_file(*store.tree(), "\"a\" = x\n", "f", at(3)));
}

TEST_CASE("trees: a stored revision that no longer parses falls back to the one before it") {
    TreeStore store;
    const auto warnings = store.restore({{1, at(0), "me", "", "\"a\" = 1\n"}, {2, at(1), "me", "", "not toml"}});
    CHECK(store.in_force().revision == 1);
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("revision 2"));
    CHECK(proposed(store, "\"b\" = 1\n").revision.revision == 3);
}
