// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/config.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace weir::broker;

namespace {

/// A directory of files that goes away with the test.
class Files {
  public:
    Files() : dir_(std::filesystem::temp_directory_path() / ("weir-config-test-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(dir_);
    }
    ~Files() { std::filesystem::remove_all(dir_); }
    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(dir_ / name) << text;
        return (dir_ / name).string();
    }
    std::string dir() const { return dir_.string(); }

  private:
    std::filesystem::path dir_;
};

}  // namespace

TEST_CASE("config: TOML types become JSON types") {
    const auto json = parse_toml("a=1\nb=1.5\nc=true\nd='x'\ne=[1,'y']\n[f.g]\nh=2020-01-02\n", "test");
    REQUIRE(json);
    CHECK(json->dump() == R"({"a":1,"b":1.5,"c":true,"d":"x","e":[1,"y"],"f":{"g":{"h":"2020-01-02"}}})");
}

TEST_CASE("config: a file that cannot be read is told, a folder that is named like one too") {
    Files files;
    std::filesystem::create_directories(files.dir() + "/x.toml");
    for (const std::string& path : {files.dir(), files.dir() + "/nowhere.toml"}) {
        const auto config = load_config({path});
        REQUIRE_FALSE(config);
        CHECK(config.error().message.find("cannot read this configuration file: ") != std::string::npos);
    }
}

TEST_CASE("config: an error names file, line and column") {
    const auto json = parse_toml("a = 1\nb = = 2\n", "weir.toml");
    REQUIRE_FALSE(json);
    CHECK(json.error().message.rfind("weir.toml:2:5: ", 0) == 0);
}

TEST_CASE("config: later files win key by key, tables are merged") {
    Files files;
    const auto first = files.write("a.toml", "[x]\na=1\nb=2\n[y]\nc=3\n");
    const auto second = files.write("b.toml", "[x]\nb=9\n");
    const auto json = load_config({first, second});
    REQUIRE(json);
    CHECK(json->at("x").integer("a") == 1);
    CHECK(json->at("x").integer("b") == 9);
    CHECK(json->at("y").integer("c") == 3);
}

TEST_CASE("config: a directory stands for its TOML files in name order") {
    Files files;
    files.write("2.toml", "a=2");
    files.write("1.toml", "a=1\nb=1");
    files.write("3.txt", "not toml = =");
    const auto json = load_config({files.dir()});
    REQUIRE(json);
    CHECK(json->integer("a") == 2);
    CHECK(json->integer("b") == 1);
}

TEST_CASE("config: a missing file is named") {
    const auto json = load_config({"/nonexistent/weir.toml"});
    REQUIRE_FALSE(json);
    CHECK(json.error().message.find("/nonexistent/weir.toml") != std::string::npos);
}
