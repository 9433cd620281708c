// SPDX-License-Identifier: LGPL-3.0-only
// R and jobspec: what is read, what is written, what is refused and how.
#include <catch2/catch.hpp>

#include "libfairshare/base/json/r.hpp"
#include "libsched/json/constraint.hpp"
#include "libsched/json/jobspec.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;

namespace {
std::string edited(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}
const std::string r_text = R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3","gpu":"0"}},)"
                           R"({"rank":"2","children":{"core":"0"}}],"nodelist":["n[0-1]","login"],"starttime":12.5,)"
                           R"("expiration":0,"properties":{"debug":"0-1"}}})";
const std::string spec_text =
    R"({"version":1,"resources":[{"type":"node","count":2,"with":[{"type":"slot","count":3,"label":"task",)"
    R"("with":[{"type":"core","count":4}]}]}],"tasks":[{"command":["sleep","5"],"slot":"task","count":{"per_slot":1}}],)"
    R"("attributes":{"system":{"duration":60.5,"queue":"batch","bank":"physics","exec":{"test":{"run_duration":"1.5s"}},)"
    R"("weir":{"userid":5001,"jobid":77,"serves":["debug"]}}}})";
}  // namespace

TEST_CASE("R: a document is read") {
    const auto r = decode_r(r_text);
    REQUIRE(r.has_value());
    REQUIRE(r->resources.nodes.size() == 3);
    CHECK(core_count(r->resources) == 9);
    CHECK(r->hosts == std::vector<std::string>{"n0", "n1", "login"});
    CHECK(r->starttime == 12.5);
    CHECK(*decode_r(encode_r(*r).dump()) == *r);
}

TEST_CASE("R: errors carry the path") {
    const auto message = [](const std::string& text) { return decode_r(text).error().message; };
    CHECK(message("{").find("R: 1:1: ") == 0);
    CHECK(message(edited(r_text, "\"version\":1", "\"version\":2")).find("R: version:") == 0);
    CHECK(message(edited(r_text, "\"rank\":\"2\"", "\"rank\":\"1\"")) ==
          "R: execution.R_lite[1].rank: a rank is listed twice");
    CHECK(message(edited(r_text, "\"0-3\"", "\"3-0\"")).find("R: execution.R_lite[0].children.core: ") == 0);
    CHECK(message(edited(r_text, "n[0-1]", "n[0-2]")) == "R: execution.nodelist[1]: more host names than ranks");
    CHECK(message(edited(r_text, ",\"login\"", "")) == "R: execution.nodelist: 2 host names for 3 ranks");
    CHECK(message(edited(r_text, "12.5", "-1")) == "R: execution.starttime: must not be negative");
    CHECK(message(edited(r_text, "\"0-1\",", "\"0-4000000000\",")).find("more than 1048576 ranks") !=
          std::string::npos);
    CHECK(message(edited(edited(r_text, "\"0-1\",", "\"0-1000000\","), "\"rank\":\"2\"",
                         "\"rank\":\"2000000-2100000\"")) == "R: execution.R_lite[1].rank: more than 1048576 ranks");
    CHECK(message(edited(r_text, "\"rank\":\"2\"", "\"rank\":\"\"")) == "R: execution.R_lite[1].rank: names no rank");
}

TEST_CASE("R: what a few bytes name is not expanded") {
    const auto message = [](const std::string& core, const std::string& gpu, const std::string& rank = "0") {
        return decode_r(R"({"version": 1, "execution": {"R_lite": [{"rank": ")" + rank +
                        R"(", "children": {"core": ")" + core + R"(", "gpu": ")" + gpu + R"("}}]}})")
            .error()
            .message;
    };
    CHECK(message("0-4294967293", "0") == "R: execution.R_lite[0].children.core: more than 1048576 ids");
    CHECK(message("0", "0-4294967293") == "R: execution.R_lite[0].children.gpu: more than 1048576 ids");
    CHECK(message("0,2,4,6,8", "0", "0-1048575") ==
          "R: execution.R_lite[0]: more than 4194304 ranges of cores and gpus");
    CHECK(decode_r(r_text, 3).has_value());
    CHECK(decode_r(r_text, 2).error().message.find("more than 2 ranks") != std::string::npos);
}

TEST_CASE("R: the sizes of memory name no more hosts than the sender can have nodes") {
    const auto read = [](const std::string& hosts, std::uint64_t nodes_max) {
        return decode_r(R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],)"
                        R"("nodelist":["n1"]},"scheduling":{"weir":{"memory_mib":[)" +
                            hosts + "]}}}",
                        nodes_max);
    };
    const std::string two = R"({"hosts":"n[1-2]","value":5})";
    CHECK(read(two + "," + two, 4)->resources.nodes[0].memory_mib == 5);
    CHECK(read(two + "," + two, 3).error().message.find("memory_mib[1].hosts") != std::string::npos);
    CHECK_FALSE(read(R"({"hosts":"n[0-999999]","value":5})", 1U << 16));
}

TEST_CASE("R: where no memory is known none is written") {
    CHECK(encode_r(decode_r(r_text).value()).dump().find("memory_mib") == std::string::npos);
}

// Kills: an encoder that groups ranks with equal cores but different gpus; hosts in the order of groups; memory by name
// where several nodes have the same.
TEST_CASE("R: decoding what was encoded gives the same value") {
    draw::property("round trip", [] {
        R r;
        const bool alike = draw::arbitrary<bool>();
        std::uint32_t rank = 0;
        for (std::size_t nodes = draw::length(); nodes > 0; nodes--) {
            const auto gap = draw::in_range(1U, 3U);
            const bool has_gpu = draw::arbitrary<bool>();
            rank += gap;
            r.resources.nodes.push_back(
                {rank, IdSet::range(1, draw::in_range(1U, 4U)), has_gpu ? IdSet::range(0, 0) : IdSet{}});
            r.resources.nodes.back().memory_mib = has_gpu ? 0U : 1000U * gap;
            r.hosts.push_back((alike ? "node" : "node" + std::to_string(rank)));
        }
        r.expiration = draw::in_range(0, 1000) / 4.;
        RC_ASSERT(*decode_r(encode_r(r).dump()) == r);
    });
}

TEST_CASE("jobspec: a document is read") {
    const auto spec = decode_jobspec(spec_text);
    REQUIRE(spec.has_value());
    CHECK(spec->request == Request{2, 3, 4, false});
    CHECK(cores_of(spec->request) == 24);
    CHECK(spec->limit == Duration{60'500'000});
    CHECK(spec->account == "physics");
    CHECK(*spec->run_duration == Duration{1'500'000});
    CHECK(spec->weir_jobid == JobId{77});
    CHECK(spec->command == std::vector<std::string>{"sleep", "5"});
    CHECK(*decode_jobspec(encode_jobspec(*spec).dump()) == *spec);
}

TEST_CASE("jobspec: a job without tasks has no command") {
    CHECK(decode_jobspec(R"({"version":1,"resources":[{"type":"slot","count":1,"with":[{"type":"core","count":1}]}],)"
                         R"("tasks":[]})")
              ->command.empty());
}

TEST_CASE("jobspec: no duration and duration 0 mean no limit") {
    CHECK(decode_jobspec(edited(spec_text, "60.5", "0"))->limit == Duration::max());
    CHECK(decode_jobspec(edited(spec_text, "60.5", "\"2m\""))->limit == test::secs(120));
}

TEST_CASE("jobspec: errors carry the path") {
    const auto message = [](const std::string& from, const std::string& to) {
        const auto result = decode_jobspec(edited(spec_text, from, to));
        REQUIRE_FALSE(result.has_value());
        return result.error().message;
    };
    CHECK(message("\"version\":1", "\"version\":9999") == "jobspec: version: must be 1");
    CHECK(message("\"count\":4", "\"count\":0") ==
          "jobspec: resources[0].with[0].with[0].count: must be an integer from 1 to 16777216");
    CHECK(message("\"count\":4", "\"count\":{\"min\":1}").find("ranges of counts") != std::string::npos);
    CHECK(message("\"type\":\"core\"", "\"type\":\"memory\"").find("not \"memory\"") != std::string::npos);
    CHECK(message("60.5", "-3") ==
          "jobspec: attributes.system.duration: a duration is a number of seconds that is not negative");
    CHECK(message("\"1.5s\"", "\"soon\"").find("jobspec: attributes.system.exec.test.run_duration: ") == 0);
    CHECK(message("\"batch\"", "7") == "jobspec: attributes.system.queue: must be a string");
    CHECK(message("\"resources\":[", "\"resources\":[{},").find("must hold exactly one entry") != std::string::npos);
    const std::string core = R"({"type":"core","count":4})";
    const std::string gpu = R"({"type":"gpu","count":1})";
    CHECK(message(core, core + "," + core).find("not \"core\"") != std::string::npos);
    CHECK(message(core, core + "," + gpu + "," + gpu).find("not \"gpu\"") != std::string::npos);
    CHECK(message(core, gpu).find("a slot must hold cores") != std::string::npos);
    CHECK(message("[{\"type\":\"slot\"", "[{},{\"type\":\"slot\"").find("a node must hold exactly one slot entry") !=
          std::string::npos);
    CHECK(message("\"type\":\"slot\"", "\"type\":\"socket\"").find("must be \"slot\"") != std::string::npos);
    CHECK(message("\"userid\":5001", "\"userid\":4294967295").find("attributes.system.weir.userid") !=
          std::string::npos);
    const std::string slots = R"("count":2,"with":[{"type":"slot","count":3,"label":"task","with":[{"type":"core",)";
    const std::string many = R"("count":16777216,"with":[{"type":"slot","count":100,"with":[{"type":"core",)";
    const char* const too_many = "asks for more than 4294967295 cores or gpus";
    CHECK(message(slots, many).find(too_many) != std::string::npos);
    CHECK(message(slots + R"("count":4})", many + R"("count":1},{"type":"gpu","count":4})").find(too_many) !=
          std::string::npos);
}

// Kills: an encoder that drops exclusive, qos or an unset limit.
TEST_CASE("jobspec: decoding what was encoded gives the same value") {
    draw::property("round trip", [] {
        Jobspec spec;
        spec.request = {draw::in_range<std::uint32_t>(0, 4), draw::in_range<std::uint32_t>(1, 9),
                        draw::in_range<std::uint32_t>(1, 9), false};
        spec.request.exclusive = spec.request.nodes > 0 && draw::arbitrary<bool>();
        spec.request.gpus_per_slot = draw::in_range<std::uint32_t>(0, 2);
        spec.request.memory_per_slot_mib = draw::element<std::uint32_t>(0, 1, 1536, 4096);
        const auto limit = draw::in_range(0, 10000);
        spec.limit = limit == 0 ? Duration::max() : test::secs(limit);
        spec.queue = draw::element<std::string>("", "debug");
        spec.account = draw::element<std::string>("", "bio");
        spec.qos = draw::element<std::string>("", "high");
        spec.name = draw::element<std::string>("", "a job");
        spec.constraints = draw::element<std::string>("", R"({"properties":["fast"]})");
        if (draw::arbitrary<bool>()) {
            spec.run_duration = Duration{draw::in_range(0, 10'000'000)};
        }
        if (draw::arbitrary<bool>()) {
            spec.weir_userid = draw::in_range<std::uint32_t>(0, 70000);
            spec.weir_submit = Instant{Duration{draw::in_range<std::int64_t>(0, 2'000'000'000'000'000)}};
        }
        spec.command = draw::several([] { return draw::element<std::string>("a", "-n", ""); });
        spec.environment = {{"PATH", "/bin"}};
        RC_ASSERT(*decode_jobspec(encode_jobspec(spec).dump()) == spec);
    });
}

TEST_CASE("jobspec: memory a slot stands in attributes.system.weir") {
    CHECK(decode_jobspec(edited(spec_text, "\"jobid\":77", "\"memory_per_slot\":\"4GiB\""))
              ->request.memory_per_slot_mib == 4096);
    CHECK(decode_jobspec(edited(spec_text, "\"jobid\":77", "\"memory_per_slot\":\"lots\"")).error().message ==
          "jobspec: attributes.system.weir.memory_per_slot: \"lots\" is no amount of memory; write a whole number with "
          "MiB, GiB or TiB");
}

TEST_CASE("constraints: the operators of RFC 31 are read, others are named") {
    using Kind = Constraint::Kind;
    CHECK(decode_constraint("")->is_empty());
    CHECK(decode_constraint("{}")->is_empty());
    const auto c = decode_constraint(
        R"({"and":[{"properties":["fast","^gpu"]},{"or":[{"hostlist":["n[0-1]"]},{"ranks":["0","4-5"]}]},{"not":[{}]}]})");
    REQUIRE(c.has_value());
    REQUIRE(c->parts.size() == 3);
    CHECK(c->parts[0].names == std::vector<std::string>{"fast", "^gpu"});
    CHECK(c->parts[1].kind == Kind::any_of);
    CHECK(c->parts[1].parts[0].names == std::vector<std::string>{"n0", "n1"});
    CHECK(c->parts[1].parts[1].ranks.encode() == "0,4-5");
    CHECK(c->parts[2].kind == Kind::not_all);
    const auto message = [](const char* text) { return decode_constraint(text).error().message; };
    CHECK(message(R"({"xor":[]})") ==
          "constraints: the document: unknown operator \"xor\" (there are properties, hostlist, ranks, and, or, not)");
    CHECK(message(R"({"and":[{"properties":[7]}]})") == "constraints: and[0].properties[0]: must be a string");
    CHECK(message(R"({"properties":["^"]})") == "constraints: properties[0]: names no property");
    CHECK(message(R"({"properties":["a|b"]})").find("\"a|b\" is no property") != std::string::npos);
    CHECK(message(R"({"ranks":["x"]})").find("constraints: ranks[0]: ") == 0);
    CHECK(message(R"({"ranks":["0"],"and":[]})").find("an object with one operator") != std::string::npos);
    CHECK(message(R"({"properties":["!a"]})").find("\"!a\" is no property") != std::string::npos);
    CHECK(decode_constraint(R"({"or":[{"hostlist":["n[0-32767]"]},{"hostlist":["m[0-32767]"]}]})").has_value());
    CHECK(
        message(R"({"or":[{"hostlist":["n[0-32767]"]},{"hostlist":["m[0-32768]"]}]})").find("more than 32768 names") !=
        std::string::npos);
    const auto repeated = [](const std::string& element, int times) {
        std::string list = element;
        for (int i = 1; i < times; i++) {
            list += "," + element;
        }
        return list;
    };
    CHECK(decode_constraint(R"({"properties":[)" + repeated("\"a\"", 10'000) + "]}").has_value());
    const std::string pairs = R"({"or":[)" + repeated(R"({"ranks":["0"]})", 5'001) + "]}";
    CHECK(message(pairs.c_str()).find("at most 10000 elements in all its lists") != std::string::npos);
    std::string deep = "{}";
    for (int i = 1; i < 64; i++) {
        deep = R"({"not":[)" + deep + "]}";
    }
    CHECK(decode_constraint(deep).has_value());
    deep = R"({"not":[)" + deep + "]}";
    CHECK(message(deep.c_str()).find("more than 64 levels deep") != std::string::npos);
}
