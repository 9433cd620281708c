// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/config.hpp"
#include "broker/core/config_keys.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace weir::broker;
using Texts = std::vector<std::string>;

namespace {

LoadedConfig loaded(const char* toml, const std::string& name = "site.toml") {
    LoadedConfig config;
    config.config = *parse_toml(toml, name, &config.places);
    return config;
}

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
        const auto config = load_config({{path}});
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
    const auto json = load_config({{first}, {second}});
    REQUIRE(json);
    CHECK(json->config.at("x").integer_at("a") == 1);
    CHECK(json->config.at("x").integer_at("b") == 9);
    CHECK(json->config.at("y").integer_at("c") == 3);
}

TEST_CASE("config: the share tree that a later file names is beside that file") {
    Files files;
    std::filesystem::create_directories(files.dir() + "/site");
    const auto first = files.write("first.toml", "[weir]\nshare-tree='first'\n");
    const auto site = files.write("site/site.toml", "[weir]\nshare-tree='shares.toml'\n");
    const auto absolute = files.write("site/absolute.toml", "[weir]\nshare-tree='/etc/shares.toml'\n");
    const auto without = files.write("site/without.toml", "[weir]\nhalf-life='1d'\n[queues.a]\n");
    const auto tree = [](const std::vector<ConfigSource>& sources) {
        const auto config = load_config(sources);
        return config ? config->config.at("weir").string_at("share-tree").value_or("") : config.error().message;
    };
    CHECK(tree({{first}}) == "first");
    CHECK(tree({{first}, {without}}) == "first");
    CHECK(tree({{first}, {site}}) == files.dir() + "/site/shares.toml");
    CHECK(tree({{first}, {files.dir() + "/site"}}) == files.dir() + "/site/shares.toml");
    CHECK(tree({{first}, {site, true}}) == files.dir() + "/site/shares.toml");
    CHECK(tree({{first}, {site}, {absolute}}) == "/etc/shares.toml");
}

TEST_CASE("config: a directory stands for its TOML files in name order") {
    Files files;
    files.write("2.toml", "a=2");
    files.write("1.toml", "a=1\nb=1");
    files.write("3.txt", "not toml = =");
    const auto json = load_config({{files.dir()}});
    REQUIRE(json);
    CHECK(json->config.integer_at("a") == 2);
    CHECK(json->config.integer_at("b") == 1);
}

TEST_CASE("config: a missing file is named") {
    const auto json = load_config({{"/nonexistent/weir.toml"}});
    REQUIRE_FALSE(json);
    CHECK(json.error().message.find("/nonexistent/weir.toml") != std::string::npos);
}

// Mutant: broker/core/config.cpp: "state", "parent-factors"} => "state"}
TEST_CASE("config: a partition inherits [weir] without route, state and parent-factors, and [exec]") {
    Files files;
    const auto site =
        files.write("site.toml",
                    "[weir]\nstate='s'\nhalf-life='1d'\nparent-factors=false\n[weir.route]\nqueues=['a']\n"
                    "[weir.weights]\nwait=5\n[exec]\nkill-timeout='9s'\n[queues.a]\n"
                    "[[resource.config]]\nhosts='x'\n[access]\nallow-guest-user=true\n");
    const auto own = files.write("own.toml", "[weir]\nhalf-life='9d'\n[clock]\nscale=2\n");
    const auto config = load_config({{own}, {site, true}});
    REQUIRE(config);
    CHECK(config->config.dump() ==
          R"({"clock":{"scale":2},"weir":{"half-life":"1d","weights":{"wait":5}},"exec":{"kill-timeout":"9s"}})");
}

TEST_CASE("config: a complaint gets the file, the line and the value of its key") {
    LoadedConfig config =
        loaded("[access]\n\nallow-guest-user = 1\n[weir]\nhalf-life = 3\n[queues.q]\nrequires = 'a'\n");
    CHECK(explained("access.allow-guest-user must be true or false", config) ==
          "site.toml:3: [access] allow-guest-user = 1: must be true or false");
    CHECK(explained("configuration key access.allow-guest-user: no", config) ==
          "site.toml:3: [access] allow-guest-user = 1: no");
    CHECK(explained("[weir] half-life = 3: must be a duration\n[weir] new = 1: unknown", config) ==
          "site.toml:5: [weir] half-life = 3: must be a duration\nsite.toml:4: [weir] new = 1: unknown");
    CHECK(explained("queues.q.requires: must be a list", config) ==
          "site.toml:7: [queues] q.requires = \"a\": must be a list");
    CHECK(explained("no key at all", config) == "no key at all");
    CHECK(explained("weird: not a table", config) == "weird: not a table");
    CHECK(explained("", config).empty());
}

TEST_CASE("config: the place of a key is that of the last file that has it") {
    Files files;
    const auto first = files.write("a.toml", "[x]\na=1\nb=2\n");
    const auto second = files.write("b.toml", "[x]\n\n\nb=9\n");
    const auto config = load_config({{first}, {second}});
    REQUIRE(config);
    CHECK(config->places.of("x.a") == first + ":2: ");
    CHECK(config->places.of("x.b") == second + ":4: ");
}

TEST_CASE("config keys: what nothing reads is told with its place and the nearest name") {
    CHECK(unknown_keys(loaded("[acces]\nallow-guest-user = true\n")) ==
          Texts{"site.toml:1: [acces] has no effect: unknown here; did you mean [access]?"});
    CHECK(unknown_keys(loaded("[access]\nallow-guest-users = true\n")) ==
          Texts{"site.toml:2: [access] allow-guest-users has no effect: unknown here; did you mean allow-guest-user?"});
    CHECK(unknown_keys(loaded("[exec]\nimp = '/x'\n")) ==
          Texts{"site.toml:2: [exec] imp has no effect: unknown here; the keys are kill-timeout"});
    CHECK(unknown_keys(loaded("access = 5\n")) == Texts{"site.toml:1: [access] = 5 has no effect: it must be a table"});
    CHECK(unknown_keys(loaded("[queues.q]\nrequire = ['a']\n")) ==
          Texts{"site.toml:2: [queues] q.require has no effect: unknown here; did you mean requires?"});
    CHECK(unknown_keys(loaded("[weir]\nanything = 1\n[sim]\nx = 1\n[queues.q]\n[[resource.config]]\nhosts='a'\n"
                              "[policy.jobspec.defaults.system]\nqueue='q'\n[weir-broker]\nmodules=[]\n"))
              .empty());
}

TEST_CASE("config keys: a change of what is read at the start is told") {
    const auto before = loaded("[clock]\nscale=1\n[weir]\nx=1\n");
    CHECK(kept_until_restart(before.config, loaded("[clock]\nscale=2\n[weir]\nx=2\n")) ==
          Texts{"site.toml:1: [clock] is read only at the start: the change takes effect at the next start"});
    CHECK(kept_until_restart(before.config, before).empty());
}
