// SPDX-License-Identifier: LGPL-3.0-only
// What the scheduler modules take at load time: Flux's own arguments and Weir's.
#include "modules/sched/arguments.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using weir::Easy;
using weir::NodeChoice;
using weir::sched::settings_of;

namespace {

weir::Result<weir::sched::Settings> read_all(const std::vector<std::string_view>& arguments) {
    return settings_of(Easy{}, arguments);
}

}  // namespace

TEST_CASE("arguments: without any, the policy of the module's name over the whole queue") {
    const auto settings = read_all({});
    REQUIRE(settings);
    CHECK(weir::name_of(settings->policy) == "easy");
    CHECK(settings->node_choice == NodeChoice::first);
    CHECK_FALSE(settings->queue_depth);
    CHECK(settings->log_level == 7);
}

TEST_CASE("arguments: those of Flux's own schedulers are taken") {
    const auto settings =
        read_all({"queue-depth=8", "log-level=warning", "policy=hybrid:depth=2", "node-choice=best-fit"});
    REQUIRE(settings);
    CHECK(settings->queue_depth == 8U);
    CHECK(settings->log_level == 4);
    CHECK(weir::name_of(settings->policy) == "hybrid:depth=2");
    CHECK(settings->node_choice == NodeChoice::best_fit);
    CHECK(read_all({"mode=limited=16"})->queue_depth == 16U);
    CHECK_FALSE(read_all({"queue-depth=8", "mode=unlimited"})->queue_depth);
    CHECK_FALSE(read_all({"queue-depth=8", "queue-depth=unlimited"})->queue_depth);
    CHECK(read_all({"log-level=INFO"})->log_level == 6);
    CHECK_FALSE(read_all({"log-level=info"})->has_pool_class);
    CHECK(read_all({"pool-class=flux.resource.TreePool"})->has_pool_class);
}

TEST_CASE("arguments: a wrong one is named with what would be right") {
    for (const std::string_view argument :
         {"queue-depth=0", "queue-depth=", "queue-depth=-1", "queue-depth=8x", "queue-depth=4294967296", "mode=8",
          "mode=limited=", "log-level=loud", "policy=conservativ", "node-choice=worst", "queue_depth=8", "",
          "pool_class=a"}) {
        const auto settings = read_all({argument});
        INFO(argument);
        REQUIRE_FALSE(settings);
        CHECK(settings.error().message.starts_with("\"" + std::string(argument) + "\": "));
    }
    CHECK(read_all({"queue-depth=0"}).error().message ==
          "\"queue-depth=0\": write \"unlimited\" or \"N\", N from 1 to 4294967295");
    CHECK(read_all({"pool_class=a"}).error().message ==
          "\"pool_class=a\": unknown argument; this module takes policy=, node-choice=, queue-depth=, mode= and "
          "log-level=");
}
