// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "libfairshare/toml/share_tree_revision.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using Catch::Matchers::Contains;

namespace {

/// No user is a member by an `@*` line.
TreeMembers nobody(const TreeStore& store) {
    return {*store.tree(), [](const ShareTree& lines) { return lines; }};
}

TreeProposal proposed(const TreeStore& store, const std::string& text, std::string author = "me") {
    auto proposal = store.propose(nobody(store), {text, std::move(author), "why", std::nullopt, false}, "t", at(1));
    if (!proposal) {
        throw std::runtime_error(proposal.error().message);
    }
    return std::move(*proposal);
}

}  // namespace

TEST_CASE("trees: revisions count up and carry author, reason and text") {
    StateLog log;
    TreeStore store(log);
    CHECK(store.in_force().revision == 0);
    store.accept(proposed(store, "\"a\" = 1\n"));
    store.accept(proposed(store, "\"a\" = 2\n"));
    CHECK(store.in_force().revision == 2);
    CHECK(store.history().size() == 2);
    CHECK(store.history()[0].reason == "why");
}

TEST_CASE("trees: a bad text changes nothing and every mistake is told") {
    StateLog log;
    TreeStore store(log);
    const auto bad = store.propose(nobody(store), {"\"a\" = -1\n\"b/c\" = 1\n", "me", "", std::nullopt, false},
                                   "shares.toml", at(1));
    REQUIRE_FALSE(bad);
    CHECK_THAT(bad.error().message, Contains("shares.toml:1:1") && Contains("\n"));
    CHECK(bad.error().code == std::errc::invalid_argument);
    CHECK(store.in_force().revision == 0);
}

// Mutant: modules/job-priority/tree/tree_store.cpp: edit.reason.size() > reason_bytes_max => edit.reason.empty() &&
// false
TEST_CASE("trees: a reason is bounded, since every listing of the tree shows it") {
    StateLog log;
    TreeStore store(log);
    const auto with_reason = [&store](std::size_t bytes) {
        return store.propose(nobody(store), {"\"a\" = 1\n", "me", std::string(bytes, 'x'), std::nullopt, false}, "t",
                             at(1));
    };
    CHECK(with_reason(TreeStore::reason_bytes_max));
    const auto refused = with_reason(TreeStore::reason_bytes_max + 1);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == std::errc::message_size);
    CHECK_THAT(refused.error().message, Contains("501 bytes") && Contains("at most 500"));
}

TEST_CASE("trees: an edit of a revision that is no longer in force is refused") {
    StateLog log;
    TreeStore store(log);
    store.accept(proposed(store, "\"a\" = 1\n"));
    const auto stale = store.propose(nobody(store), {"\"a\" = 2\n", "me", "", 0, false}, "t", at(1));
    REQUIRE_FALSE(stale);
    CHECK(stale.error().code == stale_revision);
    CHECK(store.propose(nobody(store), {"\"a\" = 2\n", "me", "", 1, false}, "t", at(1)));
}

TEST_CASE("trees: the file counts when it changed, not when the command changed the tree since") {
    StateLog log;
    TreeStore store(log);
    const auto first = store.propose_file(nobody(store), "\"a\" = 1\n", "f", at(1));
    REQUIRE((first && *first));
    store.accept(**first);
    store.accept(proposed(store, "\"a\" = 5\n"));
    CHECK_FALSE(*store.propose_file(nobody(store), "\"a\" = 1\n", "f", at(2)));
    const auto edited = store.propose_file(nobody(store), "\"a\" = 7\n", "f", at(3));
    REQUIRE((edited && *edited));
    CHECK((*edited)->revision.revision == 3);
    CHECK_FALSE(store.propose_file(nobody(store), "\"a\" = x\n", "f", at(3)));
}

// Mutant: modules/job-priority/tree/tree_store.cpp: log_.set_file_revision(in_force_.revision) => (void)0
TEST_CASE("trees: a file that was brought up to date by hand does not undo later edits by command") {
    const std::string exported = GENERATE(std::string("\"a\" = 41\n"), with_revision("\"a\" = 41\n", 2));
    StateLog log;
    TreeStore store(log);
    store.accept(**store.propose_file(nobody(store), "\"a\" = 40\n", "f", at(1)));
    store.accept(proposed(store, "\"a\" = 41\n"));
    CHECK_FALSE(*store.propose_file(nobody(store), exported, "f", at(2)));
    store.accept(proposed(store, "\"a\" = 50\n"));
    CHECK_FALSE(*store.propose_file(nobody(store), exported, "f", at(3)));
    SavedState saved;
    saved.meta = log.meta();
    saved.revisions = store.history();
    StateLog restored;
    restored.restore(saved);
    TreeStore restarted(restored);
    CHECK(restarted.restore(saved).empty());
    const auto untouched = restarted.propose_file(nobody(restarted), exported, "f", at(4));
    REQUIRE(untouched);
    CHECK_FALSE(*untouched);
    const auto back = restarted.propose_file(nobody(restarted), "\"a\" = 40\n", "f", at(5));
    REQUIRE((back && *back));
    CHECK((*back)->revision.revision == 4);
}

TEST_CASE("trees: a stored revision that no longer parses falls back to the one before it") {
    StateLog log;
    TreeStore store(log);
    SavedState saved;
    saved.revisions = {{1, at(0), "me", "", "\"a\" = 1\n"}, {2, at(1), "me", "", "not toml"}};
    const auto warnings = store.restore(saved);
    CHECK(store.in_force().revision == 1);
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("revision 2"));
    CHECK(proposed(store, "\"b\" = 1\n").revision.revision == 3);
}

// Kills: an export that is brought back over another's change; the line of the revision kept as part of the text.
TEST_CASE("trees: a text that was exported knows its revision, and is refused once there is a newer one") {
    StateLog log;
    TreeStore store(log);
    store.accept(proposed(store, "\"a\" = 1\n"));
    const std::string exported = with_revision("\"a\" = 3\n", 1);
    const auto in_time = store.propose(nobody(store), {exported, "me", "", std::nullopt, false}, "t", at(1));
    REQUIRE(in_time);
    CHECK(in_time->revision.toml == "\"a\" = 3\n");
    store.accept(proposed(store, "\"a\" = 2\n", "bob"));
    const auto late = store.propose(nobody(store), {exported, "me", "", std::nullopt, false}, "t", at(1));
    REQUIRE_FALSE(late);
    CHECK(late.error().code == stale_revision);
    CHECK_THAT(late.error().message, Contains("revision 2, not 1: bob"));
    const auto file = store.propose_file(nobody(store), exported, "shares.toml", at(2));
    REQUIRE_FALSE(file);
    CHECK_THAT(file.error().message, Contains("shares.toml") && Contains("first line"));
    CHECK(store.in_force().toml == "\"a\" = 2\n");
    StateLog new_log;
    TreeStore fresh(new_log);
    CHECK(fresh.propose(nobody(fresh), {exported, "me", "", std::nullopt, false}, "t", at(1)));
}

TEST_CASE("trees: a mistake in an exported text has the line that it has in the file") {
    StateLog log;
    TreeStore store(log);
    const auto bad = store.propose(nobody(store), {with_revision("\"a\" = -1\n", 1), "me", "", std::nullopt, false},
                                   "shares.toml", at(1));
    REQUIRE_FALSE(bad);
    CHECK_THAT(bad.error().message, Contains("shares.toml:2:1"));
}

// Kills: an empty file, at a reload or by the command, that takes every account away.
TEST_CASE("trees: all nodes go only when that is asked for") {
    StateLog log;
    TreeStore store(log);
    store.accept(proposed(store, "\"a\" = 1\n\"b\" = 1\n"));
    for (const char* text : {"", "# nothing left\n"}) {
        const auto empty = store.propose(nobody(store), {text, "me", "", std::nullopt, false}, "shares.toml", at(1));
        REQUIRE_FALSE(empty);
        CHECK(empty.error().code == std::errc::invalid_argument);
        CHECK_THAT(empty.error().message, Contains("shares.toml") && Contains("has 2"));
        CHECK_FALSE(store.propose_file(nobody(store), text, "shares.toml", at(1)));
    }
    const auto meant = store.propose(nobody(store), {"", "me", "", std::nullopt, true}, "t", at(1));
    REQUIRE(meant);
    CHECK(meant->changes.size() == 2);
}

TEST_CASE("trees: the text in force is no new revision, other comments are") {
    StateLog log;
    TreeStore store(log);
    store.accept(proposed(store, "\"a\" = 1\n"));
    const TreeProposal same = proposed(store, with_revision("\"a\" = 1\n", 1));
    CHECK_FALSE(same.is_new);
    CHECK(same.revision.revision == 1);
    const TreeProposal commented = proposed(store, "\"a\" = 1  # as agreed\n");
    CHECK(commented.is_new);
    CHECK(commented.changes.empty());
}

TEST_CASE("trees: what lies between two revisions, both ways") {
    StateLog log;
    TreeStore store(log);
    store.accept(proposed(store, "\"a\" = 1\n"));
    store.accept(proposed(store, "\"a\" = 2\n\"b\" = 1\n"));
    store.accept(proposed(store, "\"a\" = 3\n\"b\" = 1\n"));
    CHECK(store.changes_between(nobody(store), 1, std::nullopt)->size() == 2);
    const auto last = store.changes_between(nobody(store), 2, 3);
    REQUIRE((last && last->size() == 1));
    CHECK(last->front().shares_to == 3);
    CHECK(store.changes_between(nobody(store), 3, 2)->front().shares_to == 2);
    CHECK(store.changes_between(nobody(store), 0, 1)->front().kind == ChangeKind::added);
    CHECK(store.changes_between(nobody(store), 1, 4).error().code == std::errc::no_such_file_or_directory);
    CHECK(*store.text_of(2) == "\"a\" = 2\n\"b\" = 1\n");
    CHECK(store.text_of(0).error().code == std::errc::no_such_file_or_directory);
}
