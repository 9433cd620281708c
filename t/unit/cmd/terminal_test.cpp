// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/terminal.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

namespace {

StreamFacts terminal() {
    StreamFacts facts;
    facts.is_terminal = true;
    facts.width = 100;
    facts.height = 30;
    return facts;
}

}  // namespace

TEST_CASE("terminal: a pipe gets no escape sequence and no cutting") {
    const Screen screen = screen_of(StreamFacts{});
    CHECK_FALSE(screen.escapes);
    CHECK_FALSE(screen.color);
    CHECK(screen.width == 0);
    CHECK(styled(screen, "1", "x") == "x");
}

TEST_CASE("terminal: NO_COLOR takes colour, not the cursor; TERM=dumb takes both") {
    StreamFacts facts = terminal();
    CHECK(screen_of(facts).color);
    facts.no_color = true;
    CHECK_FALSE(screen_of(facts).color);
    CHECK(screen_of(facts).escapes);
    facts = terminal();
    facts.dumb = true;
    CHECK_FALSE(screen_of(facts).color);
    CHECK_FALSE(screen_of(facts).escapes);
}

TEST_CASE("terminal: an unknown or tiny size gets a usable one") {
    StreamFacts facts = terminal();
    facts.width = facts.height = 0;
    CHECK(screen_of(facts).width == 80);
    CHECK(screen_of(facts).height == 24);
    facts.width = 10;
    CHECK(screen_of(facts).width == 40);
}
