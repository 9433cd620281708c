// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/attributes.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/base/json/json.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

std::string with(const std::string& word) {
    const Json jobspec = *Json::parse(R"({"attributes":{"system":{"duration":60,"queue":"batch"}}})");
    const Status done = set_attribute(jobspec.get(), word);
    return done ? Json::ref(json_object_get(jobspec.get(), "attributes")).dump() : done.error().message;
}

}  // namespace

TEST_CASE("attributes: below system unless the key says otherwise") {
    CHECK(with("bank=physics") == R"({"system":{"duration":60,"queue":"batch","bank":"physics"}})");
    CHECK(with("system.queue=debug") == R"({"system":{"duration":60,"queue":"debug"}})");
    CHECK(with("weir.memory_per_slot=4GiB") ==
          R"({"system":{"duration":60,"queue":"batch","weir":{"memory_per_slot":"4GiB"}}})");
    CHECK(with("user.x=1") == R"({"system":{"duration":60,"queue":"batch"},"user":{"x":1}})");
    CHECK(with(".a.b=1") == R"({"system":{"duration":60,"queue":"batch"},"a":{"b":1}})");
}

TEST_CASE("attributes: values are JSON where they are such, else text; without one 1") {
    CHECK(with("x=[1,2]") == R"({"system":{"duration":60,"queue":"batch","x":[1,2]}})");
    CHECK(with("x=a=b") == R"({"system":{"duration":60,"queue":"batch","x":"a=b"}})");
    CHECK(with("x=") == R"({"system":{"duration":60,"queue":"batch","x":""}})");
    CHECK(with("x") == R"({"system":{"duration":60,"queue":"batch","x":1}})");
}

TEST_CASE("attributes: what has no place is refused with what is right") {
    for (const char* word : {"=1", "", ".", "a.=1", "a..b=1", "queue.x=1"}) {
        CAPTURE(word);
        CHECK(with(word).find("Write KEY=VALUE") != std::string::npos);
    }
}
