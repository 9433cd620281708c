// SPDX-License-Identifier: LGPL-3.0-only
// What viewers get of a share tree: whole, then changes within a bound, until they have all.
#include <catch2/catch.hpp>

#include "cmd/serve/tree_events.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

ShareView view_of(std::size_t rows) {
    ShareView view;
    view.revision = 1;
    for (std::size_t i = 0; i < rows; ++i) {
        ShareNode node;
        node.path = "account" + std::to_string(i);
        node.shares = static_cast<std::int64_t>(i);
        node.used = 0.1 + 0.2;
        view.nodes.push_back(node);
    }
    return view;
}

/// The rows of an event's JSON.
std::vector<Json> rows_of(const std::string& event) {
    const std::size_t begin = event.find("data: ");
    REQUIRE(begin != std::string::npos);
    const auto json = Json::parse(event.substr(begin + 6, event.size() - begin - 8));
    REQUIRE(json);
    std::vector<Json> rows;
    for (std::size_t i = 0; i < json_array_size(json_object_get(json->get(), "rows")); ++i) {
        rows.push_back(Json::ref(json_array_get(json_object_get(json->get(), "rows"), i)));
    }
    return rows;
}

}  // namespace

TEST_CASE("tree events: the whole tree has every figure to the last digit") {
    TreeEvents events;
    ShareView view = view_of(2);
    view.nodes[1].level_fs = std::numeric_limits<double>::infinity();
    view.nodes[1].path = "a \"quoted\"\nname";
    events.take(view);
    const auto rows = rows_of(events.whole());
    REQUIRE(rows.size() == 2);
    CHECK(json_number_value(json_array_get(rows[0].get(), 3)) == 0.1 + 0.2);
    CHECK(json_string_value(json_array_get(rows[1].get(), 0)) == view.nodes[1].path);
    CHECK(json_is_null(json_array_get(rows[1].get(), 5)));
}

TEST_CASE("tree events: a row with the shares of its account has none of its own, and is sent when it gets some") {
    TreeEvents events;
    ShareView view = view_of(2);
    view.nodes[0].shares_parent = true;
    events.take(view);
    CHECK(json_is_null(json_array_get(rows_of(events.whole())[0].get(), 1)));
    view.nodes[0].shares_parent = false;
    events.take(view);
    const auto rows = rows_of(events.changes(1000));
    REQUIRE(rows.size() == 1);
    CHECK(json_integer_value(json_array_get(rows[0].get(), 1)) == 0);
}

TEST_CASE("tree events: without a change there is no event") {
    TreeEvents events;
    events.take(view_of(3));
    CHECK(events.changes(1000).empty());
    ShareView later = view_of(3);
    later.now = 5;
    events.take(later);
    CHECK(events.changes(1000).empty());
}

TEST_CASE("tree events: rows that changed are sent once, by their place") {
    TreeEvents events;
    events.take(view_of(3));
    ShareView later = view_of(3);
    later.nodes[2].running_cores = 4;
    events.take(later);
    const auto rows = rows_of(events.changes(1000));
    REQUIRE(rows.size() == 1);
    CHECK(json_integer_value(json_array_get(rows[0].get(), 0)) == 2);
    CHECK(json_integer_value(json_array_get(rows[0].get(), 7)) == 4);
    CHECK(events.changes(1000).empty());
}

TEST_CASE("tree events: a bound sends the greatest changes first and the others later, until nothing is missing") {
    TreeEvents events;
    events.take(view_of(1000));
    ShareView later = view_of(1000);
    for (std::size_t i = 0; i < later.nodes.size(); ++i) {
        later.nodes[i].used += 1e-6 * static_cast<double>(i);
    }
    later.nodes[500].pending_jobs = 1;
    events.take(later);
    const std::string first = events.changes(5000);
    CHECK(first.size() < 5500);
    CHECK(json_integer_value(json_array_get(rows_of(first)[0].get(), 0)) == 500);
    CHECK(json_integer_value(json_array_get(rows_of(first)[1].get(), 0)) == 999);
    std::size_t sent = rows_of(first).size();
    for (std::string more = events.changes(5000); !more.empty(); more = events.changes(5000)) {
        sent += rows_of(more).size();
    }
    CHECK(sent == 999);
    for (std::size_t i = 0; i < later.nodes.size(); ++i) {
        CHECK(events.shown().nodes[i].used == later.nodes[i].used);
    }
}

TEST_CASE("tree events: another revision, or other nodes, are sent whole") {
    TreeEvents events;
    events.take(view_of(2));
    ShareView later = view_of(2);
    later.revision = 2;
    events.take(later);
    CHECK(events.changes(10).substr(0, 12) == "event: tree\n");
    later.nodes.pop_back();
    events.take(later);
    CHECK(rows_of(events.changes(10)).size() == 1);
}

}  // namespace weir::cmd
