// SPDX-License-Identifier: LGPL-3.0-only
// What a guest of a private instance is told: his part and sums of the rest, which lose nothing and name nobody.
#include <catch2/catch.hpp>
#include <numeric>

#include "libfairshare/algorithms/algorithm.hpp"
#include "modules/job-priority/messages/share_rows.hpp"
#include "modules/job-priority/messages/usage_report.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

using PathList = std::vector<std::string>;

const char* private_tree =
    "\"physics\" = 60\n"
    "\"physics/lattice\" = 2\n"
    "\"physics/lattice/@alice\" = 3\n"
    "\"physics/lattice/@bob\" = 1\n"
    "\"physics/astro\" = 1\n"
    "\"physics/astro/@bob\" = 1\n"
    "\"chem\" = 40\n"
    "\"chem/@bob\" = 1\n"
    "\"chem/@alicea\" = 1\n";

/// Jobs 1 and 2 of alice and 3 to 5 of bob wait, 6 of bob runs on 4 cores.
std::unique_ptr<PriorityService> private_service() {
    auto s = service();
    put_tree(*s, private_tree);
    s->begin_backlog();
    s->end_backlog(at(0));
    for (const FluxJobId id : {1, 2, 3, 4, 5, 6}) {
        s->apply(submitted(id, static_cast<double>(id), id < 3 ? alice : bob, id < 3 ? "" : "physics/astro"));
        s->apply(eligible(id, static_cast<double>(id)));
    }
    s->apply(started(6, 10, 4));
    s->pass(at(100));
    return s;
}

PathList told_paths(const Json& view, const char* key) {
    PathList paths;
    const json_t* list = json_object_get(view.get(), key);
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        paths.push_back(json_string_value(json_object_get(json_array_get(list, i), "path")));
    }
    return paths;
}

double sum_of(const Json& view, const char* list_key, const char* key, const PathList& paths) {
    double sum = 0;
    const json_t* list = json_object_get(view.get(), list_key);
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const json_t* node = json_array_get(list, i);
        if (std::count(paths.begin(), paths.end(), json_string_value(json_object_get(node, "path"))) > 0) {
            sum += json_number_value(json_object_get(node, key));
        }
    }
    return sum;
}

bool names_bob(const Json& view) {
    const std::string text = view.dump();
    return text.find("bob") != std::string::npos || text.find("chem") != std::string::npos ||
           text.find("astro") != std::string::npos || text.find("alicea") != std::string::npos;
}

}  // namespace

// Mutant: modules/job-priority/messages/visible_part.cpp: if (!has(node) && => if (
TEST_CASE("visible part: own associations, accounts above them, and one sum for the rest of each level") {
    const auto s = private_service();
    const VisiblePart part(*s, alice);
    const PathList own{"physics", "physics/lattice", "physics/lattice/@alice"};
    const PathList sums{"[others]", "physics/[others]", "physics/lattice/[others]"};
    PathList all = own;
    all.insert(all.end(), sums.begin(), sums.end());
    const Json whole = tree_view(*s, at(100)), seen = tree_view(part, at(100));
    CHECK(told_paths(seen, "nodes") == all);
    CHECK_FALSE(names_bob(seen));
    CHECK(names_bob(whole));
    for (const char* key : {"shares", "entitled", "usage_core_s", "used", "charged_core_us", "running_cores"}) {
        CHECK(sum_of(seen, "nodes", key, own) == sum_of(whole, "nodes", key, own));
        CHECK(sum_of(seen, "nodes", key, {"[others]"}) == sum_of(whole, "nodes", key, {"chem"}));
        CHECK(sum_of(seen, "nodes", key, {"physics/[others]"}) == sum_of(whole, "nodes", key, {"physics/astro"}));
    }
    CHECK(sum_of(seen, "nodes", "pending_jobs", {"physics"}) == 5);
    CHECK(sum_of(seen, "nodes", "pending_jobs", {"physics/[others]"}) == 3);
}

TEST_CASE("visible part: an association on top, and a user who has none") {
    auto s = service();
    put_tree(*s, "\"@alice\" = 1\n\"@bob\" = 1\n");
    CHECK(told_paths(tree_view(VisiblePart(*s, alice), at(0)), "nodes") == PathList{"@alice", "[others]"});
    CHECK(told_paths(tree_view(VisiblePart(*s, carol), at(0)), "nodes") == PathList{"[others]"});
    put_tree(*s, "\"@alice\" = 1\n");
    CHECK(told_paths(tree_view(VisiblePart(*s, alice), at(0)), "nodes") == PathList{"@alice"});
}

TEST_CASE("visible part: the rows for live pictures and usage are of the same part") {
    const auto s = private_service();
    const VisiblePart part(*s, alice);
    const Json rows = share_rows_view(part, {});
    CHECK(told_paths(rows, "rows") == PathList{"physics", "physics/lattice", "physics/lattice/@alice", "[others]",
                                               "physics/[others]", "physics/lattice/[others]"});
    CHECK_FALSE(names_bob(rows));
    RowsQuery query;
    query.match = "bob";
    CHECK(told_paths(share_rows_view(part, query), "rows").empty());
    const Json usage = usage_view(part, at(100));
    CHECK(sum_of(usage, "nodes", "running_cores", {"physics/[others]"}) == 4);
    CHECK(sum_of(usage, "nodes", "running_cores", {"physics"}) == 4);
    CHECK_FALSE(names_bob(usage));
}

TEST_CASE("visible part: of the queue a user has his own jobs, and how many wait") {
    const auto s = private_service();
    const VisiblePart part(*s, alice);
    const Json list = list_view(part, at(100), {});
    CHECK(json_array_size(json_object_get(list.get(), "jobs")) == 2);
    CHECK(json_integer_value(json_object_get(list.get(), "of")) == 5);
    CHECK(json_array_size(json_object_get(list_view(part, at(100), {0, bob, "", {}}).get(), "jobs")) == 0);
    CHECK(json_array_size(json_object_get(list_view(*s, at(100), {0, bob, "", {}}).get(), "jobs")) == 3);
    CHECK(json_array_size(json_object_get(places_view(part, at(100), {1, 3, 4}).get(), "places")) == 1);
    CHECK_FALSE(names_bob(list));
}

TEST_CASE("visible part: a job of somebody else is answered as one that never was; jobs ahead have no name") {
    const auto s = private_service();
    const VisiblePart part(*s, bob);
    CHECK(explain_view(part, 1, at(100)).error().message == explain_view(part, 999, at(100)).error().message);
    CHECK_FALSE(when_view(part, 3, 1, at(100)));
    CHECK(when_view(part, 3, 4, at(100)));
    const auto own = explain_view(part, 5, at(100));
    REQUIRE(own);
    const json_t* ahead = json_object_get(own->get(), "ahead");
    REQUIRE(json_array_size(ahead) == 4);
    std::size_t named = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        named += json_is_integer(json_object_get(json_array_get(ahead, i), "id")) ? 1 : 0;
    }
    CHECK(named == 2);
    CHECK(own->dump().find("alice") == std::string::npos);
    CHECK(own->dump().find("lattice") == std::string::npos);
}

TEST_CASE("visible part: standings are told of one's own path; another's is answered as one that never was") {
    const auto s = private_service();
    const VisiblePart part(*s, alice);
    for (const char* reference : {"physics/lattice/@alice", "alice", "physics", "lattice"}) {
        const auto view = share_explain_view(part, reference, at(100));
        INFO(reference);
        REQUIRE(view);
        CHECK_FALSE(names_bob(*view));
    }
    const auto message = [&](const std::string& reference) {
        std::string text = share_explain_view(part, reference, at(100)).error().message;
        return text.substr(text.find(reference) + reference.size());
    };
    for (const char* reference : {"chem", "chem/@bob", "bob", "physics/astro", "nowhere", "chem/@nobody"}) {
        INFO(reference);
        CHECK(message(reference) == message("x"));
    }
    CHECK_FALSE(share_compare_view(part, "alice", "chem/@bob", at(100)));
    const VisiblePart bobs(*s, bob);
    CHECK(share_compare_view(bobs, "physics/astro/@bob", "chem/@bob", at(100)));
}

namespace {

/// In "chem" nobody is ahead of carol; in "physics" alice is behind bob; in "hidden", which admits everybody, bob has
/// used what alice has.
std::unique_ptr<PriorityService> service_by(std::string_view algorithm) {
    Settings with = settings();
    with.algorithm = algorithm;
    auto s = service(false, with);
    put_tree(*s,
             "\"physics\" = 2\n\"physics/@alice\" = 1\n\"physics/@bob\" = 1\n"
             "\"chem\" = 4\n\"chem/@carol\" = 1\n"
             "\"hidden\" = 1\n\"hidden/@bob\" = 1\n\"hidden/@*\" = 1\n");
    s->begin_backlog();
    s->end_backlog(at(0));
    struct Ran {
        std::uint32_t user;
        const char* account;
        std::int64_t cores;
    };
    FluxJobId id = 0;
    for (const Ran& ran : {Ran{alice, "physics", 7}, {bob, "physics", 3}, {bob, "hidden", 5}, {carol, "chem", 2}}) {
        ++id;
        s->apply(submitted(id, 0, ran.user, ran.account));
        s->apply(eligible(id, 0));
        s->apply(started(id, 0, ran.cores));
        s->apply(freed(id, 100));
        s->apply(cleaned(id, 100));
        s->apply(submitted(100 + id, 100, ran.user, ran.account));
        s->apply(eligible(100 + id, 100));
    }
    s->pass(at(200));
    return s;
}

/// Other users and accounts of service_by() that the answer names.
std::string names_beside(const std::string& text, const PathList& own) {
    std::string named;
    for (const char* name : {"alice", "bob", "carol", "physics", "chem", "hidden"}) {
        const bool is_told = text.find(name) != std::string::npos;
        named += is_told && std::count(own.begin(), own.end(), name) == 0 ? std::string(name) + " " : "";
    }
    return named;
}

}  // namespace

// Mutant: modules/job-priority/messages/views_share.cpp: return part_.is_all() ? MayName{} => return true ? MayName{}
TEST_CASE("visible part: no algorithm's reason names another, or tells his value") {
    struct Asker {
        std::uint32_t user;
        PathList own;
        PathList references;
    };
    std::size_t named_to_all = 0;
    for (const AlgorithmEntry& entry : algorithms()) {
        const auto s = service_by(entry.name);
        for (const Asker& asker : {Asker{alice, {"alice", "physics"}, {"alice", "physics/@alice", "physics"}},
                                   {bob, {"bob", "physics", "hidden"}, {"physics/@bob", "hidden/@bob", "physics"}},
                                   {carol, {"carol", "chem"}, {"carol", "chem/@carol", "chem"}}}) {
            const VisiblePart part(*s, asker.user);
            for (const std::string& reference : asker.references) {
                const auto told = share_explain_view(part, reference, at(200));
                REQUIRE(told);
                INFO(entry.name << ": " << told->dump());
                CHECK(names_beside(told->dump(), asker.own).empty());
                named_to_all += names_beside(share_explain_view(*s, reference, at(200))->dump(), asker.own).size();
                if (const auto after = share_after_view(part, reference, {4, std::chrono::hours(1)}, at(200))) {
                    CHECK(names_beside(after->dump(), asker.own).empty());
                }
            }
        }
        const auto both = share_compare_view(VisiblePart(*s, bob), "physics/@bob", "hidden/@bob", at(200));
        REQUIRE(both);
        INFO(both->dump());
        CHECK(names_beside(both->dump(), {"bob", "physics", "hidden"}).empty());
    }
    CHECK(named_to_all > 0);
}

// Mutant: modules/job-priority/messages/views_share.cpp: one.first && part_.has(*one.first) => !!one.first
// Mutant: modules/job-priority/messages/views_share.cpp: is_told ? level.ahead : 0 => level.ahead
TEST_CASE("visible part: where the first association of an account stands is told to its user") {
    const auto s = private_service();
    s->apply(submitted(7, 20, alice));
    s->apply(eligible(7, 20));
    s->apply(started(7, 20, 1));  // so in lattice bob is first
    struct Told {
        bool has_first, has_rank, has_ahead;
        bool operator==(const Told&) const = default;
    };
    const auto told = [&](const VisiblePart& part) {
        const auto view = share_explain_view(part, "physics", at(100));
        REQUIRE(view);
        const json_t* level = json_array_get(json_object_get(view->get(), "levels"), 0);
        const json_t* below = json_array_get(json_object_get(view->get(), "below"), 0);
        CHECK(std::string(json_string_value(json_object_get(below, "path"))) == "physics/lattice");
        return Told{json_is_object(json_object_get(view->get(), "first")),
                    json_is_integer(json_object_get(below, "rank")),
                    json_integer_value(json_object_get(level, "ahead")) > 0};
    };
    CHECK(told({*s, bob}) == Told{true, true, true});
    CHECK(told({*s, alice}) == Told{false, false, false});
}

// Mutant: modules/job-priority/messages/views_share.cpp: part_.has(tree_->parent(*found)) => true
TEST_CASE("visible part: an account that admits everybody is shown to its members alone, by any word for it") {
    const auto s = service_by("classic");
    const VisiblePart part(*s, alice);
    const auto refusal = [&](const std::string& reference) {
        std::string text = share_explain_view(part, reference, at(200)).error().message;
        return text.substr(text.find(reference) + reference.size());
    };
    for (const char* reference : {"hidden", "hidden/@alice", "hidden/@bob", "hidden/@*", "hidden/@nobody"}) {
        INFO(reference);
        REQUIRE_FALSE(share_explain_view(part, reference, at(200)));
        CHECK(refusal(reference) == refusal("nowhere"));
        CHECK_FALSE(share_compare_view(part, "alice", reference, at(200)));
        CHECK_FALSE(share_after_view(part, reference, {1, Duration{}}, at(200)));
    }
    CHECK(share_explain_view(*s, "hidden/@alice", at(200)));
    s->apply(submitted(200, 200, alice, "hidden"));
    s->apply(eligible(200, 200));
    CHECK(share_explain_view(VisiblePart(*s, alice), "hidden/@alice", at(201)));
}

TEST_CASE("visible part: who would be a member below accounts that he sees is told where he would stand") {
    auto s = service();
    put_tree(*s,
             "\"physics\" = 1\n\"physics/@*\" = 1\n\"physics/lattice\" = 1\n\"physics/lattice/@alice\" = 1\n"
             "\"@bob\" = 1\n");
    const auto newcomer = share_explain_view(VisiblePart(*s, alice), "physics/@alice", at(0));
    REQUIRE(newcomer);
    CHECK(json_is_false(json_object_get(newcomer->get(), "is_member")));
    CHECK_FALSE(names_bob(*newcomer));
    put_tree(*s, "\"@bob\" = 1\n\"@*\" = 1\n");
    const auto on_top = share_explain_view(VisiblePart(*s, carol), "carol", at(0));
    REQUIRE(on_top);
    CHECK(told_paths(*on_top, "levels") == PathList{"@carol"});
    CHECK_FALSE(names_bob(*on_top));
}

TEST_CASE("visible part: revisions without author and reason, and the changes of one's own nodes") {
    auto s = private_service();
    TreeEdit edit{std::string(private_tree) + "\"bio\" = 5\n", "root", "because of bob", std::nullopt, false};
    auto proposal = s->propose(edit, "edit", at(101));
    REQUIRE(proposal);
    s->accept(s->prepare(std::move(*proposal), at(101)));
    const VisiblePart part(*s, alice);
    CHECK_FALSE(names_bob(history_view(part)));
    CHECK(names_bob(history_view(*s)));
    const auto changes = s->changes_between(1, 2);
    REQUIRE(changes);
    const Json diff = tree_diff_view(part, 1, 2, *changes), whole = tree_diff_view(*s, 1, 2, *changes);
    CHECK(json_array_size(json_object_get(diff.get(), "revisions")) == 1);
    CHECK(diff.dump().find("bio") == std::string::npos);
    CHECK(whole.dump().find("bio") != std::string::npos);
    CHECK_FALSE(names_bob(diff));
}

TEST_CASE("visible part: a report has what the user paid, and one sum of what others did") {
    UsageReport report({{0, 4}, {true, true, false, false}}, "alice");
    CHECK(report.labels().user);
    report.add({0, "physics", "alice", "debug", ""}, 5);
    report.add({0, "chem", "bob", "debug", "secret"}, 7);
    report.add({0, "physics", "carol", "", ""}, 8);
    report.end_span();
    const auto s = private_service();
    const auto view = report.view(*s, at(0));
    REQUIRE(view);
    const json_t* rows = json_object_get(view->get(), "rows");
    REQUIRE(json_array_size(rows) == 2);
    CHECK_FALSE(names_bob(*view));
    CHECK(std::string(json_string_value(json_object_get(json_array_get(rows, 0), "user"))) == "[others]");
    CHECK(json_integer_value(json_object_get(json_array_get(rows, 0), "core_us")) == 15);
    CHECK(json_integer_value(json_object_get(json_array_get(rows, 1), "core_us")) == 5);
    CHECK(json_integer_value(json_object_get(view->get(), "total_core_us")) == 20);
}
