// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-route/revival.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::route;
using namespace std::chrono_literals;

TEST_CASE("revival: pauses double from the second death on, up to five minutes, and never end") {
    CHECK(Revival::pause(1) == 0s);
    CHECK(Revival::pause(2) == 250ms);
    CHECK(Revival::pause(3) == 500ms);
    CHECK(Revival::pause(6) == 4s);
    CHECK(Revival::pause(12) == 256s);
    CHECK(Revival::pause(13) == 300s);
    CHECK(Revival::pause(1000000) == 300s);
    Revival revival;
    for (int n = 1; n <= 100; ++n) {
        revival.ended(n * 1h);
        CHECK(revival.deaths() == n);
        CHECK(revival.next() == n * 1h + Revival::pause(n));
    }
}

TEST_CASE("revival: who ran well dies for the first time again, who only started does not") {
    Revival revival;
    for (int n = 0; n < 6; ++n) {
        revival.ended(1s);
    }
    revival.serves(100s);
    revival.serves(400s);  // it still does
    revival.ended(100s + Revival::ran_well_after - 1us);
    CHECK(revival.deaths() == 7);
    revival.serves(1000s);
    revival.ended(1000s + Revival::ran_well_after);
    CHECK(revival.deaths() == 1);
    CHECK(revival.next() == 1000s + Revival::ran_well_after);
    revival.ended(10h);  // it never served
    CHECK(revival.deaths() == 2);
}
