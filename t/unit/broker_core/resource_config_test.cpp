// SPDX-License-Identifier: LGPL-3.0-only
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "broker/services/resource_source.hpp"

using weir::IdSet;
using weir::Json;
using namespace weir::broker;

namespace {

weir::Result<Inventory> read_resources(const char* json) {
    return configured_inventory(Json::parse_payload(json));
}

}  // namespace

TEST_CASE("resource config: entries add hosts, and cores, GPUs and properties to hosts that are there") {
    const auto found = read_resources(
        R"({"config":[{"hosts":"n[0-1]","cores":"0-3"},{"hosts":"n1","gpus":"0-1","properties":["gpu"]}]})");
    REQUIRE(found);
    REQUIRE(found->nodes.size() == 2);
    CHECK(found->nodes[0].cores == *IdSet::parse("0-3"));
    CHECK(found->nodes[0].gpus.empty());
    CHECK(found->nodes[1].gpus == *IdSet::parse("0-1"));
    CHECK(found->properties.at("gpu") == *IdSet::parse("1"));
    CHECK(found->core_count() == 8);
}

TEST_CASE("resource config: an imagined cluster of equal nodes") {
    const auto found = read_resources(R"({"imagined":{"nodes":4,"cores":16,"hostlist":"w[01-04]"}})");
    REQUIRE(found);
    CHECK(found->nodes.size() == 4);
    CHECK(found->core_count() == 64);
    CHECK(found->nodes[3].host == "w04");
    CHECK(read_resources(R"({"imagined":{"nodes":2,"cores":1}})")->nodes[1].host == "node1");
}

TEST_CASE("resource config: what is wrong is named by its key") {
    const auto why = [](const char* json) { return read_resources(json).error().message; };
    CHECK(why(R"({"config":[{"cores":"0"}]})").find("resource.config.hosts") != std::string::npos);
    CHECK(why(R"({"config":[{"hosts":"a","cores":"x"}]})").find("resource.config.cores") != std::string::npos);
    CHECK(why(R"({"config":[{"hosts":"a"}]})").find("host a has no cores") != std::string::npos);
    CHECK(why(R"({"imagined":{"nodes":0,"cores":1}})").find("resource.imagined") != std::string::npos);
    CHECK(why(R"({"imagined":{"nodes":3,"cores":1,"hostlist":"a,b"}})").find("names 2 hosts") != std::string::npos);
    CHECK(why(R"({"path":"/nonexistent/R"})").find("/nonexistent/R: No such file or directory") != std::string::npos);
}

TEST_CASE("resource config: memory stands in a file of its own, as Flux has it; what is wrong there is named") {
    const std::string path = "weir-memory-test-" + std::to_string(getpid());
    const std::string table = R"({"config":[{"hosts":"n[0-2]","cores":"0"}],"scheduling":")" + path + R"("})";
    const auto found = [&](const char* text) {
        std::ofstream(path) << text;
        return read_resources(table.c_str());
    };
    const auto good = found(R"({"weir":{"memory_mib":[{"hosts":"n[1-2]","value":8192},{"ranks":"2","value":9}]}})");
    REQUIRE(good);
    CHECK(good->nodes[0].memory_mib == 0);
    CHECK(good->nodes[1].memory_mib == 8192);
    CHECK(good->nodes[2].memory_mib == 9);
    CHECK(found(R"({"graph":{}})").has_value());
    for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
             {"{", ":1:"},
             {R"({"weir":{"memory_mib":{}}})", "memory_mib: must be an array"},
             {R"({"weir":{"memory_mib":[{"value":1}]}})", "memory_mib[0]: \"hosts\" is missing"},
             {R"({"weir":{"memory_mib":[{"ranks":"0","value":-1}]}})",
              "memory_mib[0].value: must be an integer from 0 to"},
             {R"({"weir":{"memory_mib":[{"ranks":"x","value":1}]}})", "memory_mib[0].ranks: "}}) {
        CAPTURE(text);
        const std::string message = found(text).error().message;
        CHECK(message.find("resource.scheduling: " + path) != std::string::npos);
        CHECK(message.find(why) != std::string::npos);
    }
    std::remove(path.c_str());
}

TEST_CASE("resource config: R is read from a file, errors name its line") {
    const std::string path = "weir-r-test-" + std::to_string(getpid());
    std::ofstream(path) << "{\n  \"version\": oops\n}\n";
    const std::string table = R"({"path":")" + path + R"("})";
    CHECK(read_resources(table.c_str()).error().message.find(path + ":2:") != std::string::npos);
    std::ofstream(path)
        << R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-7"}}],"nodelist":["x"]}})";
    CHECK(read_resources(table.c_str())->core_count() == 8);
    std::remove(path.c_str());
}

TEST_CASE("resource: this machine has at least one core") {
    const auto found = machine_inventory("here");
    REQUIRE(found);
    REQUIRE(found->nodes.size() == 1);
    CHECK(found->nodes[0].host == "here");
    CHECK(found->core_count() >= 1);
}

// Kills: the memory of one NUMA node for that of all; bytes or KiB for MiB; hardware threads for cores; a machine that
// is not the one hwloc was told of.
TEST_CASE("resource: of a machine with two NUMA nodes hwloc's cores count, and the memory of both") {
    REQUIRE(setenv("HWLOC_SYNTHETIC", "numa:2(memory=3221225472) core:4 pu:2", 1) == 0);
    const auto found = machine_inventory("there");
    REQUIRE(unsetenv("HWLOC_SYNTHETIC") == 0);
    REQUIRE(found);
    REQUIRE(found->nodes.size() == 1);
    CHECK(found->nodes[0].cores == *IdSet::parse("0-7"));
    CHECK(found->nodes[0].gpus.empty());
    CHECK(found->nodes[0].memory_mib == 6 * 1024);
}
