// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/options.hpp"

#include <catch2/catch.hpp>

using weir::broker::parse_options;

TEST_CASE("options: values stand behind their option, with or without space or equals sign") {
    const auto options = parse_options({"-c", "a.toml", "-cb.toml", "--inherit", "site.toml", "--config=c.toml", "-S",
                                        "x=1", "--setattr=y=a=b", "--rundir", "/r", "--ready-fd=7"});
    REQUIRE(options);
    std::string configs;
    for (const auto& source : options->configs) {
        configs += source.path + (source.is_inherited ? " inherited, " : ", ");
    }
    CHECK(configs == "a.toml, b.toml, site.toml inherited, c.toml, ");
    CHECK(options->attributes == std::vector<std::pair<std::string, std::string>>{{"x", "1"}, {"y", "a=b"}});
    CHECK(options->rundir == "/r");
    CHECK(options->ready_fd == 7);
}

TEST_CASE("options: a bad argument is named") {
    CHECK(parse_options({"--bogus"}).error().message.find("--bogus") != std::string::npos);
    CHECK(parse_options({"-c"}).error().message.find("-c") != std::string::npos);
    CHECK(parse_options({"-S", "novalue"}).error().message.find("novalue") != std::string::npos);
    CHECK(parse_options({"-S", "=1"}).error().message.find("attribute=value") != std::string::npos);
    CHECK(parse_options({"--ready-fd", "x"}).error().message.find("--ready-fd x") != std::string::npos);
}
