// SPDX-License-Identifier: LGPL-3.0-only
// Pictures: axes, ticks, escaping, pages.
#include "cmd/report/svg.hpp"

#include <catch2/catch.hpp>

#include "cmd/report/page.hpp"
#include "t/unit/draws.hpp"

using namespace weir::cmd;

TEST_CASE("svg: an axis maps its ends to its pixels and clamps what lies outside") {
    const Axis axis{0, 50, 100, 200, 0, {}};
    CHECK(axis.at(0) == 100);
    CHECK(axis.at(25) == 150);
    CHECK(axis.at(1000) == 200);
    CHECK(axis.at(-3) == 100);
    const Axis logarithmic{0, 990, 0, 100, 10, {}};
    CHECK(logarithmic.at(0) == 0);
    CHECK(logarithmic.at(90) == Approx(50));
    CHECK(Axis{3, 3, 10, 20, 0, {}}.at(3) == 10);
}

// Kills: a step that is not 1, 2 or 5 times a power of ten; a tick past the end.
TEST_CASE("svg: ticks are round, within the range and few") {
    draw::property("round ticks", [] {
        const double high = draw::in_range(1, 1'000'000) / 100.;
        const int count = draw::in_range(2, 11);
        const auto ticks = round_ticks(0, high, count);
        RC_ASSERT(!ticks.empty() && ticks.front().at == 0 && ticks.back().at <= high * (1 + 1e-9));
        RC_ASSERT(ticks.size() <= static_cast<std::size_t>(count) + 1);
        RC_ASSERT(ticks.size() >= static_cast<std::size_t>(count) * 2 / 5);
    });
    CHECK(round_ticks(0, 0, 5).size() == 1);
    CHECK(round_ticks(0, .7, 4, " %")[1].label == "0.2 %");
    CHECK(duration_ticks(700).back().label == "10 min");
}

TEST_CASE("svg: text cannot become markup") {
    Svg svg("x", 10, 10, "a<b", "\"c\" & d");
    svg.text(1, 2.04, "</svg>\x01");
    CHECK(svg.str().find("a&lt;b") != std::string::npos);
    CHECK(svg.str().find("&quot;c&quot; &amp; d") != std::string::npos);
    CHECK(svg.str().find("x=\"1\" y=\"2\">&lt;/svg&gt;</text>") != std::string::npos);
}

TEST_CASE("svg: no two series share a mark") {
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < series_max; ++i) {
        Svg svg("x", 10, 10, "", "");
        svg.mark(0, 0, i);
        const std::string text = svg.str();
        const std::string shape = text.substr(text.find("M0 0"), text.find("class=\"mark") - text.find("M0 0"));
        CHECK(std::find(seen.begin(), seen.end(), shape) == seen.end());
        seen.push_back(shape);
    }
}

TEST_CASE("page: data cannot end its element, tables are escaped") {
    Page page("T & t");
    page.data("d", "{\"a\":\"</script>\"}");
    page.table("c", {"x"}, {{"<y>"}});
    const std::string text = page.str();
    CHECK(text.find("{\"a\":\"\\u003c/script\\u003e\"}") != std::string::npos);
    CHECK(text.find("<th scope=\"row\">&lt;y&gt;</th>") != std::string::npos);
    CHECK(text.find("<title>T &amp; t</title>") != std::string::npos);
}
