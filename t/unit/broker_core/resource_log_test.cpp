// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/resource_log.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace weir;
using namespace weir::broker;

namespace {

struct LogHome {
    LogHome() : path(std::filesystem::temp_directory_path() / ("weir-reslog-test-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    ~LogHome() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

}  // namespace

// Kills: events in memory alone.
TEST_CASE("resource log: events are there after a restart, and a torn last line is dropped") {
    LogHome dir;
    {
        ResourceLog log;
        REQUIRE(log.open(dir.path.string()));
        REQUIRE(log.append(1.5, "drain", std::move(Json::object().set("idset", "0"))));
    }
    std::ofstream(dir.path / "resource.eventlog", std::ios::app) << "{\"timestamp\":2,\"na";
    ResourceLog again;
    REQUIRE(again.open(dir.path.string()));
    REQUIRE(again.events().size() == 1);
    CHECK(again.events()[0].string_at("name") == "drain");
    CHECK(again.events()[0].at("context").string_at("idset") == "0");
    REQUIRE(again.append(3, "undrain", Json::object()));
    ResourceLog third;
    REQUIRE(third.open(dir.path.string()));
    CHECK(third.events().size() == 2);
}

TEST_CASE("resource log: a bad line is named by file and number") {
    LogHome dir;
    std::ofstream(dir.path / "resource.eventlog") << "{\"name\":\"a\"}\nnonsense\n";
    ResourceLog log;
    const auto opened = log.open(dir.path.string());
    REQUIRE_FALSE(opened);
    CHECK(opened.error().message.find("resource.eventlog:2: ") != std::string::npos);
}

TEST_CASE("resource log: a folder that is not there refuses the event") {
    ResourceLog log;
    REQUIRE(log.open("/nonexistent-folder"));
    CHECK(log.append(1, "drain", Json::object()).error().code == std::errc::no_such_file_or_directory);
    CHECK(log.events().empty());
}

// Kills: old drains forgotten with the oldest events, and the start refused by a full disk.
TEST_CASE("resource log: however many events, none is lost on disk; notes are in memory alone") {
    LogHome dir;
    {
        std::ofstream file(dir.path / "resource.eventlog");
        for (int i = 0; i < 10001; ++i) {
            file << "{\"timestamp\":" << i << ",\"name\":\"drain\",\"context\":{}}\n";
        }
    }
    ResourceLog log;
    REQUIRE(log.open(dir.path.string()));
    CHECK(log.events().size() == 10001);
    log.note(20000, "restart", Json::object());
    CHECK(log.events().size() == 10000);
    CHECK(log.events().back().string_at("name") == "restart");
    ResourceLog again;
    REQUIRE(again.open(dir.path.string()));
    REQUIRE(again.events().size() == 10001);
    CHECK(again.events()[0].number_at("timestamp") == 0.);
}
