// SPDX-License-Identifier: LGPL-3.0-only
// Which rows of a large tree a viewer gets, and how many: counts, not times.
#include <catch2/catch.hpp>

#include "cmd/serve/tree_events.hpp"
#include "cmd/serve/tree_levels.hpp"

namespace weir::cmd {
namespace {

/// 40 faculties of 49 groups of 50 users: 100,000 rows; `fewer` leaves out faculties.
ShareView large_view(int faculties = 40) {
    ShareView view;
    const auto add = [&](const std::string& path) {
        view.nodes.emplace_back();
        view.nodes.back().path = path;
        view.nodes.back().entitled = view.nodes.back().used = 1. / 3;
        view.nodes.back().usage_core_s = 1e6 / 7;
    };
    for (int f = 0; f < faculties; ++f) {
        const std::string faculty = "faculty" + std::to_string(f);
        add(faculty);
        for (int g = 0; g < 49; ++g) {
            const std::string group = faculty + "/group" + std::to_string(g);
            add(group);
            for (int u = 0; u < 50; ++u) {
                add(group + "/@u" + std::to_string((f * 49 + g) * 50 + u));
            }
        }
    }
    return view;
}

ShareView shown_of(const ShareView& view, const Opened& opened) {
    const TreeLevels levels(view.nodes);
    return levels.rows(view, levels.places(view.nodes, opened));
}

}  // namespace

TEST_CASE("tree levels: of 100,000 rows the first level is given, in less than 8 kB") {
    const ShareView view = large_view();
    REQUIRE(view.nodes.size() == 100'000);
    const ShareView shown = shown_of(view, {});
    CHECK(shown.nodes.size() == 40);
    CHECK(shown.of == 100'000);
    CHECK(shown.nodes[0].children == 49);
    TreeEvents events;
    events.take(shown);
    CHECK(events.whole().size() < 8000);
}

TEST_CASE("tree levels: an opened account brings its children, where it is shown itself") {
    const ShareView view = large_view();
    CHECK(shown_of(view, {false, {"faculty3"}, ""}).nodes.size() == 40 + 49);
    const ShareView two = shown_of(view, {false, {"faculty3", "faculty3/group7"}, ""});
    CHECK(two.nodes.size() == 40 + 49 + 50);
    CHECK(two.nodes[4].path == "faculty3/group0");  // in the order of the tree
    CHECK(shown_of(view, {false, {"faculty3/group7"}, ""}).nodes.size() == 40);
}

TEST_CASE("tree levels: few accounts on top are open") {
    CHECK(shown_of(large_view(20), {}).nodes.size() == 20 + 20 * 49);
}

TEST_CASE("tree levels: all is a bound, and whole levels come first") {
    const ShareView shown = shown_of(large_view(), {true, {}, ""});
    CHECK(shown.nodes.size() == TreeLevels::rows_max);
    std::size_t groups = 0;
    for (const ShareNode& node : shown.nodes) {
        groups += node.children == 50 ? 1 : 0;
    }
    CHECK(groups == 40 * 49);
}

TEST_CASE("tree levels: a search finds names in any case, with what is above them, and a bounded number") {
    const ShareView view = large_view();
    const ShareView one = shown_of(view, {false, {}, "@U98765"});
    CHECK(one.nodes.size() == 0);
    const ShareView found = shown_of(view, {false, {}, "@U54321"});
    REQUIRE(found.nodes.size() == 3);
    CHECK(found.nodes[0].path == "faculty22");
    CHECK(found.nodes[2].path == "faculty22/group8/@u54321");
    std::size_t users = 0;
    for (const ShareNode& node : shown_of(view, {false, {}, "@u"}).nodes) {
        users += node.children == 0 ? 1 : 0;
    }
    CHECK(users == TreeLevels::matches_max);
}

TEST_CASE("tree levels: a small tree is given whole") {
    const ShareView view = large_view(0);
    CHECK(shown_of(view, {}).nodes.empty());
    ShareView small = large_view(1);
    small.nodes.resize(TreeLevels::whole_max);
    CHECK(shown_of(small, {}).nodes.size() == TreeLevels::whole_max);
}

TEST_CASE("tree levels: a tick in which all of 100,000 rows changed sends the rows that are shown alone") {
    ShareView view = large_view();
    TreeEvents events;
    events.take(shown_of(view, {false, {"faculty3"}, ""}));
    for (ShareNode& node : view.nodes) {
        node.used *= 1.01;
    }
    const TreeLevels levels(view.nodes);
    CHECK(levels.is_of(view.nodes));
    events.take(levels.rows(view, levels.places(view.nodes, {false, {"faculty3"}, ""})));
    const std::string tick = events.changes(40'000);
    CHECK(tick.substr(0, 12) == "event: rows\n");
    CHECK(tick.size() < 10'000);
    CHECK(events.changes(40'000).empty());
    view.nodes.pop_back();
    CHECK_FALSE(levels.is_of(view.nodes));
}

}  // namespace weir::cmd
