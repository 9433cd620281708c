// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/broker_config.hpp"

#include <catch2/catch.hpp>

#include "broker/core/config.hpp"

using namespace weir::broker;

namespace {

weir::Result<BrokerConfig> read(const char* toml) {
    return read_broker_config(*parse_toml(toml, "test"));
}

}  // namespace

TEST_CASE("broker config: without keys the builtin services are loaded in dependency order") {
    const auto config = read("");
    REQUIRE(config);
    std::vector<std::string> names;
    for (const auto& module : config->modules) {
        names.push_back(module.target);
    }
    CHECK(names == std::vector<std::string>{"kvs", "resource", "job-manager", "job-exec"});
    CHECK_FALSE(config->access.allow_guests);
}

TEST_CASE("broker config: modules are names or tables with path and arguments") {
    const auto config = read("weir-broker.modules = ['kvs', {name='x', path='/p/y.so', args=['a=1','b']}]");
    REQUIRE(config);
    REQUIRE(config->modules.size() == 2);
    CHECK(config->modules[1].target == "/p/y.so");
    CHECK(config->modules[1].name == "x");
    CHECK(config->modules[1].args == std::vector<std::string>{"a=1", "b"});
}

TEST_CASE("broker config: a wrong value is named with its key") {
    CHECK(read("weir-broker.modules = 'kvs'").error().message.find("weir-broker.modules") != std::string::npos);
    CHECK(read("weir-broker.modules = [1]").error().message.find("weir-broker.modules") != std::string::npos);
    CHECK(read("access.allow-guest-user = 1").error().message.find("access.allow-guest-user") != std::string::npos);
    CHECK(read("clock.scale = 0").error().message.find("clock.scale") != std::string::npos);
    CHECK(read("clock.scale = -2.5").error().message.find("clock.scale") != std::string::npos);
    CHECK(read("clock.origin = 'now'").error().message.find("clock.origin") != std::string::npos);
}
