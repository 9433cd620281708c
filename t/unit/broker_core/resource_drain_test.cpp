// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/resource_drain.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::broker;
using Mode = Drains::Mode;

TEST_CASE("drains: a drained node is refused, updated or overwritten as the mode says") {
    Drains drains;
    drains.drain(*IdSet::parse("0-1"), "fan", 10, Mode::fresh);
    CHECK(drains.check_drain(*IdSet::parse("1-2"), Mode::fresh).error().message == "rank 1 already drained");
    CHECK(drains.check_drain(*IdSet::parse("1-2"), Mode::update));
    drains.drain(*IdSet::parse("1-2"), "disk", 20, Mode::update);
    CHECK(drains.to_json().at("0-1").string_at("reason") == "fan");
    CHECK(drains.to_json().at("2").string_at("reason") == "disk");
    drains.drain(*IdSet::parse("0"), "cpu", 30, Mode::overwrite);
    CHECK(drains.to_json().at("0").string_at("reason") == "cpu");
    CHECK(drains.to_json().at("0").number_at("timestamp") == 10.);
    drains.drain(*IdSet::parse("0"), std::nullopt, 40, Mode::force);
    CHECK(drains.to_json().at("0").number_at("timestamp") == 40.);
    CHECK(drains.to_json().at("0").string_at("reason") == "");
}

TEST_CASE("drains: who drained a node without a reason may give one later, and an empty reason is one") {
    Drains drains;
    drains.drain(*IdSet::parse("0-1"), std::nullopt, 10, Mode::fresh);
    CHECK(drains.check_drain(*IdSet::parse("0-2"), Mode::fresh));
    drains.drain(*IdSet::parse("0"), "fan", 20, Mode::fresh);
    CHECK(drains.to_json().at("0").string_at("reason") == "fan");
    CHECK(drains.to_json().at("0").number_at("timestamp") == 10.);
    drains.drain(*IdSet::parse("1"), "", 30, Mode::overwrite);
    CHECK(drains.check_drain(*IdSet::parse("0-2"), Mode::fresh).error().message == "ranks 0-1 already drained");
    CHECK(drains.check_drain(*IdSet::parse("1"), Mode::fresh).error().code == std::errc::file_exists);
}

TEST_CASE("drains: undrain refuses what is not drained, and changes nothing then") {
    Drains drains;
    drains.drain(*IdSet::parse("3"), std::nullopt, 10, Mode::fresh);
    CHECK(drains.check_undrain(*IdSet::parse("2-4"), Mode::fresh).error().message == "ranks 2,4 not drained");
    CHECK(drains.check_undrain(*IdSet::parse("2-4"), Mode::fresh).error().code == std::errc::file_exists);
    CHECK(drains.check_undrain(*IdSet::parse("2-4"), Mode::overwrite));
    CHECK(drains.ranks().encode() == "3");
    drains.undrain(*IdSet::parse("2-4"));
    CHECK(drains.ranks().empty());
}

TEST_CASE("drains: modes have flux-core's names") {
    CHECK(Drains::mode_of(std::nullopt) == Mode::fresh);
    CHECK(Drains::mode_of("update") == Mode::update);
    CHECK(Drains::mode_of("overwrite") == Mode::overwrite);
    CHECK(Drains::mode_of("force-overwrite") == Mode::force);
    CHECK_FALSE(Drains::mode_of("other"));
    CHECK_FALSE(Drains::mode_of(""));
}
