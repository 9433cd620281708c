// SPDX-License-Identifier: LGPL-3.0-only
// Which part of the share tree a screen gets.
#include "modules/job-priority/messages/share_rows.hpp"
#include "modules/job-priority/messages/share_figures.hpp"

#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

std::vector<std::string> paths_in(const Json& view) {
    std::vector<std::string> paths;
    const json_t* rows = json_object_get(view.get(), "rows");
    for (std::size_t i = 0; i < json_array_size(rows); ++i) {
        paths.emplace_back(json_string_value(json_object_get(json_array_get(rows, i), "path")));
    }
    return paths;
}

const json_t* row_of(const Json& view, const std::string& path) {
    const json_t* rows = json_object_get(view.get(), "rows");
    for (std::size_t i = 0; i < json_array_size(rows); ++i) {
        if (path == json_string_value(json_object_get(json_array_get(rows, i), "path"))) {
            return json_array_get(rows, i);
        }
    }
    return nullptr;
}

long long member(const json_t* object, const char* key) {
    return json_integer_value(json_object_get(object, key));
}

/// 20 accounts of 5,000 users each.
std::unique_ptr<PriorityService> large_service() {
    std::string text;
    for (int a = 0; a < 20; ++a) {
        text += "\"a" + std::to_string(a) + "\" = 1\n";
        for (int u = 0; u < 5000; ++u) {
            text += "\"a" + std::to_string(a) + "/@u" + std::to_string(a) + "x" + std::to_string(u) + "\" = 1\n";
        }
    }
    auto made = service();
    put_tree(*made, text);
    made->begin_backlog();
    made->end_backlog(at(0));
    made->pass(at(10));
    return made;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("share rows: a small tree is shown as a whole, with the figures of the last evaluation") {
    auto s = ready_service();
    for (const FluxJobId id : {1, 2}) {
        s->apply(submitted(id, 1, alice));
        s->apply(eligible(id, 2));
    }
    s->apply(started(1, 71, 3));
    s->pass(at(110));
    const std::uint64_t evaluations = s->ranking().shares().evaluations();
    const Json view = share_rows_view(*s, {});
    CHECK(s->ranking().shares().evaluations() == evaluations);
    CHECK(paths_in(view) == Paths{"physics", "bio", "physics/lattice", "bio/@bob", "physics/lattice/@alice"});
    const json_t* alices = row_of(view, "physics/lattice/@alice");
    CHECK(member(alices, "running_cores") == 3);
    CHECK(member(alices, "pending_jobs") == 1);
    CHECK(member(row_of(view, "physics"), "pending_jobs") == 1);
    CHECK(json_real_value(json_object_get(row_of(view, "physics"), "used")) == 1);
    CHECK(json_is_true(json_object_get(row_of(view, "physics"), "is_open")));
    CHECK(json_is_false(json_object_get(alices, "has_below")));
    CHECK(json_integer_value(json_object_get(alices, "shares")) > 0);
}

TEST_CASE("share rows: closed paths have no children, and names are found with what is above them") {
    auto s = ready_service();
    s->pass(at(10));
    RowsQuery query;
    query.shut = {"physics"};
    const Json closed = share_rows_view(*s, query);
    CHECK(paths_in(closed) == Paths{"physics", "bio", "bio/@bob"});
    CHECK(json_is_true(json_object_get(row_of(closed, "physics"), "has_below")));
    CHECK(json_is_false(json_object_get(row_of(closed, "physics"), "is_open")));
    query.match = "ali";
    CHECK(paths_in(share_rows_view(*s, query)) == Paths{"physics", "physics/lattice", "physics/lattice/@alice"});
    query.match = "nobody";
    CHECK(paths_in(share_rows_view(*s, query)).empty());
}

TEST_CASE("share rows: siblings in the order asked for, equal ones as listed") {
    auto s = ready_service();
    s->apply(submitted(1, 1, bob));
    s->apply(eligible(1, 2));
    s->apply(started(1, 3, 2));
    s->pass(at(110));
    for (const RowOrder order : {RowOrder::name, RowOrder::used, RowOrder::ratio, RowOrder::running}) {
        RowsQuery query;
        query.order = order;
        CHECK(paths_in(share_rows_view(*s, query)).front() == "bio");
    }
    CHECK(paths_in(share_rows_view(*s, {})).front() == "physics");
    CHECK(row_order_of("ratio") == RowOrder::ratio);
    CHECK_FALSE(row_order_of("size"));
}

// Kills: a level of which only the first accounts are open, an answer that grows with the tree.
TEST_CASE("share rows: of 100,000 associations those that fit, and of an open account the first by the order") {
    auto s = large_service();
    RowsQuery query;
    query.limit = 100;
    const Json top = share_rows_view(*s, query);
    CHECK(paths_in(top).size() == 20);
    CHECK(member(top.get(), "of") == 100020);
    CHECK(member(top.get(), "left_out") == 0);
    query.open = {"a7"};
    query.order = RowOrder::name;
    const Json open = share_rows_view(*s, query);
    CHECK(paths_in(open).size() == 100);
    CHECK(paths_in(open)[20] == "a7/@u7x0");
    CHECK(paths_in(open)[21] == "a7/@u7x1");
    CHECK(member(open.get(), "left_out") == 4920);
    query.match = "u7x123";
    const Json found = share_rows_view(*s, query);
    CHECK(paths_in(found).size() == 12);  // the account, 123 and 1230 to 1239
}

TEST_CASE("share rows: the version is another one after an event, a pass and an edit of the tree, and only then") {
    auto s = ready_service();
    s->pass(at(10));
    std::string before = share_rows_version(*s);
    CHECK(share_rows_version(*s) == before);
    s->apply(submitted(1, 11, alice));
    CHECK(share_rows_version(*s) != std::exchange(before, share_rows_version(*s)));
    s->pass(at(20));
    CHECK(share_rows_version(*s) != std::exchange(before, share_rows_version(*s)));
    put_tree(*s, "\"a\" = 1\n", 30);
    CHECK(share_rows_version(*s) != before);
}

TEST_CASE("share figures: named rows in their order, with the figures of share-rows; null for what is not there") {
    auto s = ready_service();
    s->apply(submitted(1, 1, alice));
    s->apply(submitted(2, 1, alice));
    s->apply(eligible(1, 2));
    s->apply(eligible(2, 2));
    s->apply(started(1, 71, 3));
    s->pass(at(110));
    const std::vector<std::string> paths{"physics/lattice/@alice", "nowhere", "", "bio/@*", "physics"};
    const auto told = Json::parse(share_figures_text(*s, paths, Json::object()));
    REQUIRE(told);
    const json_t* figures = json_object_get(told->get(), "figures");
    REQUIRE(json_array_size(figures) == paths.size());
    const Json rows = share_rows_view(*s, {});
    for (const std::size_t i : {0U, 4U}) {
        const json_t* row = row_of(rows, paths[i]);
        const json_t* got = json_array_get(figures, i);
        std::size_t column = 0;
        for (const char* key :
             {"shares", "entitled", "used", "usage_core_s", "level_fs", "factor", "running_cores", "pending_jobs"}) {
            INFO(paths[i] << " " << key);
            CHECK(json_equal(json_array_get(got, column++), json_object_get(row, key)));
        }
    }
    for (const std::size_t i : {1U, 2U}) {
        CHECK(json_is_null(json_array_get(figures, i)));
    }
    const auto part = Json::parse(share_figures_text(VisiblePart(*s, bob), paths, Json::object()));
    CHECK(json_is_null(json_array_get(json_object_get(part->get(), "figures"), 0)));
}

TEST_CASE("share figures: of 100,000 associations the rows that were asked for, and nothing is evaluated") {
    const auto s = large_service();
    const std::uint64_t evaluations = s->ranking().shares().evaluations();
    const std::string text = share_figures_text(*s, {"a3", "a3/@u3x7"}, Json::object());
    CHECK(text.size() < 500);
    CHECK(s->ranking().shares().evaluations() == evaluations);
}
