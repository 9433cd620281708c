// SPDX-License-Identifier: LGPL-3.0-only
// What `weir top` draws and what its keys do, without an instance.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cmd/top/top_model.hpp"
#include "cmd/view/top_view.hpp"

using namespace weir;
using namespace weir::cmd;
using namespace std::chrono_literals;

namespace {

QueueLine waiting_job(std::uint64_t id, double fairshare, double wait) {
    QueueLine job{"f" + std::to_string(id), "bob", "physics", "batch", 8, 100, 90s, {}, id};
    job.terms = {{"fairshare", fairshare}, {"wait", wait}};
    return job;
}

TopScene top_sample() {
    TopScene scene;
    scene.instance = "node0";
    scene.clock = "2026-11-21 09:31:05";
    scene.pending = 2;
    scene.running = 3;
    scene.finished = 4000;
    scene.queue_matches = 2;
    scene.shares = {{"physics", 0.6, 0.8, 60, 12}, {"chem", 0.4, 0.2, 4, 1, true}, {"physics/@bob", 0.6, 0.8, 60, 12}};
    scene.queue = {waiting_job(1, 60, 40), waiting_job(2, 30, 20)};
    scene.partitions = {{"batch", "easy", 144, 64, 2, 3, 4000, {}, ""}, {"debug", "", 0, 0, 0, 0, 0, {}, "no answer"}};
    return scene;
}

Screen plain_screen(std::size_t width, std::size_t height) {
    Screen screen;
    screen.width = width;
    screen.height = height;
    screen.glyphs.unicode = false;
    return screen;
}

std::string screen_text(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

Key character(const char* text) {
    return {KeyName::character, text};
}

TopModel model_of(TopScene scene) {
    TopModel model;
    model.take(std::move(scene));
    return model;
}

}  // namespace

TEST_CASE("top: 80 columns have shares, partitions, queue and keys") {
    CHECK(screen_text(top_view(top_sample(), {}, plain_screen(80, 24))) ==
          R"(weir  2026-11-21 09:31:05  3 running, 2 waiting, 4000 ended  node0
tree revision 0, 0 nodes
 account                entitled     used                  ratio  cores  waiting
>physics                  60.0 %   80.0 %  #########|##    1.33x     60       12
 `- @bob                  60.0 %   80.0 %  #########|##    1.33x     60       12
 chem +                   40.0 %   20.0 %  ###...|.....    0.50x      4        1
batch  easy           ####----  64/144 cores  3 running, 2 waiting, 4000 done
debug  no answer
 queue  job         user     account  queue   cores  priority  waited  made of
     1  f1          bob      physics  batch       8       100  1m 30s  FFFFFWWWW
     2  f2          bob      physics  batch       8       100  1m 30s  FFFWW    
q quit  h help  Tab pane  e explain  s order: tree  / filter  row 1 of 3
)");
}

TEST_CASE("top: never more lines or columns than there are, and the keys are always told") {
    TopScene scene = top_sample();
    for (int i = 0; i < 300; ++i) {
        scene.shares.push_back({"g" + std::to_string(i), 0.01, 0.01, 1, 1});
        scene.queue.push_back(waiting_job(static_cast<std::uint64_t>(10 + i), 5, 5));
    }
    for (const std::size_t height : {6u, 8u, 12u, 24u, 60u}) {
        for (const std::size_t width : {40u, 60u, 80u, 100u, 200u}) {
            for (const TopPane pane : {TopPane::shares, TopPane::queue}) {
                TopChoice choice;
                choice.pane = pane;
                choice.share_at = choice.queue_at = 250;
                const Lines lines = top_view(scene, choice, plain_screen(width, height));
                CAPTURE(height, width);
                CHECK(lines.size() == height);
                for (const std::string& line : lines) {
                    CHECK(columns(line) <= width);
                }
                CHECK(lines.back().substr(0, 6) == "q quit");
                const auto is_marked = [](const std::string& line) { return line[0] == '>'; };
                CHECK((height < 12 || std::count_if(lines.begin(), lines.end(), is_marked) == 1));
            }
        }
    }
}

TEST_CASE("top: a file gets every row, without marks and keys") {
    TopScene scene = top_sample();
    scene.left_out = 7;
    const std::string text = screen_text(top_view(scene, {}, plain_screen(0, 0)));
    CHECK(text.find("\nphysics ") != std::string::npos);
    CHECK(text.find("\nand 7 more\n") != std::string::npos);
    CHECK(text.find("made of: F fairshare, W wait") != std::string::npos);
    CHECK(text.find("quit") == std::string::npos);
}

TEST_CASE("top: terms have different letters, whatever their names") {
    QueueLine job = waiting_job(1, 1, 1);
    job.terms = {{"queue", 1}, {"qos", 1}, {"size", 1}, {"site", 1}, {"q", 1}};
    const auto letters = term_letters({job});
    CHECK(letters == std::vector<std::pair<char, std::string>>{
                         {'Q', "q"}, {'O', "qos"}, {'U', "queue"}, {'S', "site"}, {'I', "size"}});
}

TEST_CASE("top: the mark follows its account and its job when rows move") {
    TopModel model = model_of(top_sample());
    model.apply({KeyName::down, {}});
    model.apply({KeyName::down, {}});
    CHECK(model.choice().share_at == 2);  // chem
    model.apply({KeyName::tab, {}});
    model.apply({KeyName::down, {}});
    TopScene next = top_sample();
    std::swap(next.shares[0], next.shares[1]);
    std::swap(next.queue[0], next.queue[1]);
    model.take(next);
    CHECK(model.choice().share_at == 0);
    CHECK(model.choice().queue_at == 0);
    std::swap(next.queue[0], next.queue[1]);
    model.take(next);
    CHECK(model.choice().queue_at == 0);  // who is next
    TopScene empty;
    model.take(std::move(empty));
    CHECK(model.choice().share_at == 0);
}

TEST_CASE("top: keys open, close, sort, filter, explain and quit") {
    TopModel model = model_of(top_sample());
    CHECK(model.apply({KeyName::left, {}}).what == TopWish::What::look);
    CHECK(model.shut().count("physics") == 1);
    CHECK(model.apply({KeyName::right, {}}).what == TopWish::What::look);
    CHECK(model.open().count("physics") == 1);
    CHECK(model.shut().empty());
    CHECK(model.apply(character("s")).what == TopWish::What::look);
    CHECK(model.choice().order == "name");
    CHECK(model.apply(character("e")).path == "physics");
    CHECK(model.apply({KeyName::tab, {}}).what == TopWish::What::nothing);
    CHECK(model.apply({KeyName::enter, {}}).job == 1);
    model.show_page("a\nb\n");
    CHECK(model.apply(character("q")).what == TopWish::What::nothing);
    CHECK(model.choice().page.empty());
    CHECK(model.apply(character("q")).what == TopWish::What::quit);
}

TEST_CASE("top: while a filter is typed, letters are letters") {
    TopModel model = model_of(top_sample());
    model.apply(character("/"));
    CHECK(model.apply(character("q")).what == TopWish::What::look);
    model.apply(character("é"));
    CHECK(model.choice().filter == "qé");
    model.apply({KeyName::backspace, {}});
    CHECK(model.choice().filter == "q");
    model.apply({KeyName::enter, {}});
    CHECK_FALSE(model.choice().is_typing);
    CHECK(model.apply({KeyName::escape, {}}).what == TopWish::What::look);
    CHECK(model.choice().filter.empty());
}

TEST_CASE("keys: sequences in pieces, unknown ones, escape alone") {
    KeyReader reader;
    reader.add("\x1b");
    CHECK_FALSE(reader.next());
    CHECK(reader.is_undecided());
    reader.add("[");
    CHECK_FALSE(reader.next());
    reader.add("A\x1b[5~q\x1b[1;5Xj\x1bOB\r\t\x7f");
    for (const KeyName name : {KeyName::up, KeyName::page_up, KeyName::character, KeyName::character, KeyName::down,
                               KeyName::enter, KeyName::tab, KeyName::backspace}) {
        const auto key = reader.next();
        REQUIRE(key);
        CHECK(key->name == name);
    }
    CHECK_FALSE(reader.next());
    reader.add("\x1b");
    CHECK_FALSE(reader.next());
    CHECK(reader.decide().name == KeyName::escape);
    CHECK_FALSE(reader.is_undecided());
}
