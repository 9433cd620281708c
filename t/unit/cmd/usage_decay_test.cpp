// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/usage_decay.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/base/json/json.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

UsageDecay decay_in(const char* answer) {
    return usage_decay_of(Json::parse(answer)->get());
}

}  // namespace

TEST_CASE("usage decay: each kind in its own words") {
    const UsageDecay half = decay_in(R"({"half_life_s":1382400.0,"decay":"half-life"})");
    CHECK(decay_words(half) == "half-life 16d");
    CHECK(decay_clause(half) == "usage decays: half of it is left after 16d");
    CHECK(decay_sentence(half) == "After 16d half of the usage is forgotten.");
    const UsageDecay window = decay_in(
        R"({"half_life_s":1382400.0,"decay":"window","window":{"interval_s":86400.0,"depth":7,"factor":0.8}})");
    CHECK(decay_words(window) == "window 7 x 1d");
    CHECK(decay_clause(window) ==
          "usage decays: the last 7 intervals of 1d count, each older one 0.80 times the one after it");
    CHECK(decay_sentence(window).find("Of the usage the last 7 intervals of 1d count") == 0);
    const UsageDecay current = decay_in(R"({"decay":"window","window":{"interval_s":86400.0,"depth":7,"factor":0.0}})");
    CHECK(decay_clause(current) == "usage decays: the current interval of 1d counts");
    const UsageDecay none = decay_in(R"({"half_life_s":1382400.0,"decay":"none"})");
    CHECK(decay_words(none) == "no decay");
    CHECK(decay_clause(none) == "usage does not decay");
    CHECK(decay_sentence(none) == "Usage is not forgotten here.");
}

TEST_CASE("usage decay: under LSF the usage that is shown decays, and the order does not go by it") {
    const UsageDecay lsf = decay_in(R"({"half_life_s":86400.0,"decay":"half-life","has_history":true})");
    CHECK(decay_words(lsf) == "LSF's history");
    CHECK(decay_clause(lsf) ==
          "usage decays: half of it is left after 1d, but priorities go by LSF's history and not by it");
    CHECK(decay_sentence(lsf) ==
          "After 1d half of the usage is forgotten. Priorities do not go by it, but by LSF's history.");
}

TEST_CASE("usage decay: a reset is told beside it, but not of windows, which are not reset") {
    const UsageDecay none = decay_in(R"({"half_life_s":0,"decay":"none","usage_reset":"daily"})");
    CHECK(decay_words(none) == "no decay, reset daily at midnight");
    CHECK(decay_clause(none) == "usage does not decay, and is reset daily at midnight");
    CHECK(decay_sentence(none) == "Usage does not decay. It is reset daily at midnight.");
    const UsageDecay half = decay_in(R"({"half_life_s":86400.0,"decay":"half-life","usage_reset":"monthly"})");
    CHECK(decay_words(half) == "half-life 1d, reset on the 1st of each month");
    CHECK(decay_clause(half) == "usage decays: half of it is left after 1d, and is reset on the 1st of each month");
    const UsageDecay window =
        decay_in(R"({"decay":"window","window":{"interval_s":86400.0,"depth":7,"factor":1},"usage_reset":"daily"})");
    CHECK(decay_words(window) == "window 7 x 1d");
}

TEST_CASE("usage decay: an answer of before has the half-life alone") {
    CHECK(decay_words(decay_in(R"({"half_life_s":86400.0})")) == "half-life 1d");
    CHECK(decay_words(decay_in(R"({"half_life_s":0})")) == "no decay");
}
