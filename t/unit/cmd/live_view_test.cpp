// SPDX-License-Identifier: LGPL-3.0-only
// Golden pictures are written by hand: a change in the layout is a change here.
#include "cmd/view/live_view.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "cmd/view/bars.hpp"
#include "cmd/view/share_rows.hpp"

using namespace weir;
using namespace weir::cmd;
using namespace std::chrono_literals;

namespace {

LiveState sample() {
    LiveState state;
    state.span = 38h + 5min;
    state.scale = 5040.2;
    state.jobs = 600;
    state.submitted = 400;
    state.finished = 300;
    state.elapsed = 24s;
    state.left = 31s;
    state.shares = {{"physics", 0.5, 0.41, 60, 12},
                    {"physics/lattice", 0.3, 0.3, 44, 3},
                    {"physics/lattice/@alice", 0.3, 0.3, 44, 3},
                    {"physics/@bob", 0.2, 0.11, 16, 9},
                    {"chem", 0.5, 0.59, 90, 30},
                    {"chem/@carol", 0.5, 0.59, 90, 30}};
    state.queue = {{"ƒA1", "bob", "physics", "batch", 8, 10310, 2h + 5min},
                   {"ƒA2", "carol", "chem", "debug", 1, 990, 40s}};
    state.partitions = {
        {"debug", "fcfs", 16, 4, 1, 1, 50, {{"ƒB1", "carol", 4, 0.5}}},
        {"batch", "easy backfill", 144, 146 - 4, 41, 9, 250, {{"ƒB2", "alice", 44, 0.25}, {"ƒB3", "bob", 16, 1}}}};
    return state;
}
Screen ascii(std::size_t width, std::size_t height) {
    Screen screen;
    screen.width = width;
    screen.height = height;
    screen.glyphs.unicode = false;
    return screen;
}
std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("live view: a wide terminal shows tree, partitions and queue") {
    CHECK(joined(live_view(sample(), ascii(100, 40))) ==
          R"(weir  day 2, 14:05  x5040  ########-------- 300 of 600 jobs done  0:24, about 0:31 left

account                entitled     used                                      ratio  cores  waiting
physics                  50.0 %   41.0 %  ######################.....|....    0.82x     60       12
|- lattice               30.0 %   30.0 %  ################|...............    1.00x     44        3
|  `- @alice             30.0 %   30.0 %  ################|...............    1.00x     44        3
`- @bob                  20.0 %   11.0 %  ######.....|....................    0.55x     16        9
chem                     50.0 %   59.0 %  ###########################|####    1.18x     90       30
`- @carol                50.0 %   59.0 %  ###########################|####    1.18x     90       30
debug  fcfs           ###---------    4/16 cores  1 running, 1 waiting, 50 done
       ƒB1            carol      4 cores  #####----- of its limit
batch  easy backfill  ############ 142/144 cores  9 running, 41 waiting, 250 done
       ƒB2            alice     44 cores  ###------- of its limit
       ƒB3            bob       16 cores  ########## of its limit
queue  job            user     account         queue   cores  priority   waited
    1  ƒA1            bob      physics         batch       8     10310    2h 5m
    2  ƒA2            carol    chem            debug       1       990      40s
)");
}

TEST_CASE("live view: the priority of an expedited job stands apart from its cores") {
    LiveState state = sample();
    state.queue[0].priority = 4294967295;
    CHECK(joined(live_view(state, ascii(100, 40))).find(" 8 4294967295 ") != std::string::npos);
}

TEST_CASE("live view: never more lines or columns than there are") {
    for (const std::size_t height : {5u, 8u, 10u, 12u, 15u, 24u, 60u}) {
        for (const std::size_t width : {40u, 76u, 80u, 100u, 200u}) {
            Screen screen = ascii(width, height);
            const auto lines = live_view(sample(), screen);
            CAPTURE(height, width);
            CHECK(lines.size() <= height);
            for (const std::string& line : lines) {
                CHECK(columns(line) <= width);
            }
        }
    }
}

TEST_CASE("live view: on a low terminal users go before accounts, and partitions stay") {
    const std::string text = joined(live_view(sample(), ascii(100, 9)));
    CHECK(text.find("@alice") == std::string::npos);
    CHECK(text.find("lattice") != std::string::npos);
    CHECK(text.find("batch  easy") != std::string::npos);
}

TEST_CASE("live view: of many accounts those that used most, and the partitions still") {
    LiveState state = sample();
    for (int i = 0; i < 100; ++i) {
        state.shares.push_back({"g" + std::to_string(i), 0.01, i == 77 ? 0.2 : 0.001, 1, 1});
    }
    const std::string text = joined(live_view(state, ascii(100, 24)));
    CHECK(text.find("\ng77 ") != std::string::npos);
    CHECK(text.find("batch  easy") != std::string::npos);
}

TEST_CASE("live view: colour is an addition, never the only sign") {
    Screen screen = ascii(100, 40);
    screen.color = true;
    const std::string text = joined(live_view(sample(), screen));
    CHECK(text.find("\x1b[33m") != std::string::npos);
    CHECK(text.find("1.18x") != std::string::npos);
}

TEST_CASE("live view: plain lines say the same in one line") {
    CHECK(live_line(sample(), Glyphs{false}) ==
          "[0:24] day 2, 14:05  300/600 done  debug 4/16 cores, 1 waiting  batch 142/144 cores, 41 waiting  "
          "physics 41.0 % of 50.0 %  chem 59.0 % of 50.0 %");
}

TEST_CASE("bars: tick over fill, both within the width") {
    CHECK(bullet(0.5, 0.25, 1, 8, Glyphs{false}) == "##|#....");
    CHECK(bullet(2, 1, 1, 4, Glyphs{false}) == "###|");
    CHECK(bullet(0, 0, 0, 4, Glyphs{false}) == "|...");
    CHECK(progress_bar(0.5, 4, Glyphs{false}) == "##--");
    CHECK(progress_bar(7, 4, Glyphs{false}) == "####");
}

// Kills: rows in the order of the instance's ids, which is breadth first.
TEST_CASE("tree rows: everybody stands below his account, in whatever order the paths come") {
    const std::vector<std::string> paths{"physics", "chem", "physics/@bob", "chem/@carol", "physics/@al", "lost/@eve"};
    std::vector<std::string> labels;
    for (const TreeRow& row : tree_rows_of(paths, Glyphs{})) {
        CHECK(paths[row.index].find(row.label.substr(row.label.find_first_of("@pcl"))) != std::string::npos);
        labels.push_back(row.label);
    }
    CHECK(std::vector<std::string>(labels.begin(), labels.begin() + 5) ==
          std::vector<std::string>{"physics", "├─ @bob", "└─ @al", "chem", "└─ @carol"});
    CHECK(labels.size() == 6);
}

TEST_CASE("tree rows: branches join siblings and end at the last") {
    const std::vector<std::string> paths{"a", "a/b", "a/b/@x", "a/b/@y", "a/@z", "c"};
    std::vector<std::string> labels;
    for (const TreeRow& row : tree_rows_of(paths, Glyphs{})) {
        labels.push_back(row.label);
    }
    CHECK(labels == std::vector<std::string>{"a", "├─ b", "│  ├─ @x", "│  └─ @y", "└─ @z", "c"});
}
