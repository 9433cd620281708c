// SPDX-License-Identifier: LGPL-3.0-only
// Jobs that request whole nodes, against limits of cores: what they may get counts, then what they have.
#include <catch2/catch.hpp>

#include "libfairshare/base/flat_json.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/resource_map.hpp"
#include "t/unit/job_route/route_scene.hpp"

using weir::FlatJson;
using namespace weir::route;
using namespace weir::route::test;

namespace {

constexpr JobId second{101};

/// Three nodes of four cores.
constexpr const char* three_nodes =
    R"({"version":1,"execution":{"R_lite":[{"rank":"0-2","children":{"core":"0-3"}}],"nodelist":["n[0-2]"]}})";

JournalEntry read_entry(const std::string& text) {
    FlatJson reader;
    auto entry = decode_journal(reader.read(text));
    REQUIRE(entry);
    return std::move(*entry);
}

std::int64_t whole_nodes_of(const std::string& resources) {
    return read_entry(R"({"id":1,"events":[],"jobspec":{"resources":)" + resources + R"(,"attributes":{"system":{}}}})")
        .facts.whole_nodes;
}

std::int64_t cores_at_alloc(const std::string& R) {
    const JournalEntry entry =
        read_entry(R"({"id":1,"events":[{"timestamp":1,"name":"alloc","context":{}}],"R":)" + R + "}");
    REQUIRE(entry.events.size() == 1);
    return entry.events[0].cores;
}

/// A partition of this instance, whose nodes have at most `node_cores` as its table says.
KeptPartition of_nodes(PartitionLimits limits, std::int64_t node_cores) {
    KeptPartition partition;
    partition.name = "wide";
    partition.job = host;
    partition.queues = {"batch"};
    partition.cores = 12;
    partition.limits = limits;
    partition.node_cores = node_cores;
    return partition;
}

RouteTable with_the_partition(const KeptPartition& partition, std::int64_t node_cores_of_R) {
    RouteTable table(false);
    table.synced();
    table.set_partitions({partition});
    run_host(table, host);
    Attach attach = an_attach(host);
    attach.cores = 12;
    attach.node_cores = node_cores_of_R;
    REQUIRE(table.attach(attach, {0, true}));
    (void)table.take();
    return table;
}

void enter_whole(RouteTable& table, JobId id, std::int64_t nodes, std::uint32_t userid = 7) {
    JournalEvent submit = an_event(Kind::submit);
    submit.userid = userid;
    JobFacts facts;
    facts.queue = "batch";
    facts.whole_nodes = nodes;
    table.submitted(id, submit, facts);
    table.event(id, an_event(Kind::bypass));
    table.event(id, an_event(Kind::priority));
}

/// The jobs that the next actions give to a child.
std::vector<JobId> given(RouteTable& table) {
    std::vector<JobId> ids;
    for (const TapOp& op : table.take().tap) {
        if (op.kind == TapOp::Kind::give) {
            ids.push_back(op.id);
            record_route(table, op.id, op.child);
            table.jobspec_ready(op.id, "{}");
        }
    }
    return ids;
}

const PartitionLimits four_for_a_user{{}, {}, {}, 4};

}  // namespace

TEST_CASE("whole nodes: of a jobspec, and cores of R") {
    CHECK(whole_nodes_of(R"([{"type":"node","count":2,"exclusive":true,"with":[{"type":"slot","count":1,
        "with":[{"type":"core","count":1}]}]}])") == 2);
    CHECK(whole_nodes_of(R"([{"type":"rack","count":3,"with":[{"type":"node","count":2,"exclusive":true}]}])") == 6);
    CHECK(whole_nodes_of(R"([{"type":"node","count":2,"exclusive":false}])") == 0);
    CHECK(whole_nodes_of(R"([{"type":"node","count":2,"exclusive":"yes"}])") == 0);
    CHECK(whole_nodes_of(R"([{"type":"slot","count":2,"exclusive":true}])") == 0);
    CHECK(cores_at_alloc(three_nodes) == 12);
    CHECK(cores_at_alloc(R"({"execution":{"R_lite":[{"rank":"0","children":{"core":"0,2"}},
        {"rank":"5-6","children":{"core":"7"}}]}})") == 4);
    CHECK(cores_at_alloc(R"({"execution":{"R_lite":[{"rank":"0-4294967290","children":{"core":"0-4294967290"}}]}})") ==
          cores_max);
    CHECK(cores_at_alloc(R"({"execution":{"R_lite":[{"rank":"x","children":{"core":"0"}}]}})") == 0);
    CHECK(cores_at_alloc("7") == 0);
}

TEST_CASE("whole nodes: the parent reads the cores of the largest node in a child's R") {
    const auto node_cores = [](const std::string& R) { return ResourceMap::make(R, "")->node_cores(); };
    CHECK(node_cores(three_nodes) == 4);
    CHECK(node_cores(R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1"}},
        {"rank":"1","children":{"core":"0-6"}}]}})") == 7);
    CHECK(node_cores("") == 0);
}

// Kills: a job of a whole node counts as one core, so a limit of four lets four of them run on sixteen.
TEST_CASE("whole nodes: a limit counts each with the cores of the largest node") {
    const auto count = [](std::int64_t of_table, std::int64_t of_R) {
        RouteTable table = with_the_partition(of_nodes(four_for_a_user, of_table), of_R);
        for (const JobId id : {job, second, JobId{102}}) {
            enter_whole(table, id, 1);
        }
        return given(table).size();
    };
    CHECK(count(4, 4) == 1);
    CHECK(count(4, 0) == 1);   // a child that does not say what it has
    CHECK(count(12, 4) == 1);  // cores on any nodes: R has the size of one
    CHECK(count(12, 2) == 2);
    CHECK(count(12, 0) == 0);
}

TEST_CASE("whole nodes: another user's job goes, and the next one of the same at the end of the first") {
    RouteTable table = with_the_partition(of_nodes(four_for_a_user, 4), 4);
    enter_whole(table, job, 1);
    enter_whole(table, second, 1);
    CHECK(given(table) == std::vector<JobId>{job});
    CHECK(table.words_of(second).at(0).limit ==
          "runs jobs of a user on at most 4 cores; 0 are in use, and 4 are for jobs that start before it");
    enter_whole(table, JobId{103}, 1, 8);
    CHECK(given(table) == std::vector<JobId>{JobId{103}});
    record_alloc(table);
    CHECK(given(table).empty());
    CHECK(table.words_of(second).at(0).limit == "runs jobs of a user on at most 4 cores; 4 are in use");
    table.event(job, an_event(Kind::finish));
    table.event(job, an_event(Kind::clean));
    CHECK(given(table) == std::vector<JobId>{second});
}

TEST_CASE("whole nodes: with its allocation on record a job counts as what it has") {
    RouteTable table = with_the_partition(of_nodes(four_for_a_user, 4), 4);
    enter_whole(table, job, 1);
    enter_whole(table, second, 0);
    CHECK(given(table) == std::vector<JobId>{job});
    JournalEvent alloc = an_event(Kind::alloc);
    alloc.child = host.value;
    SECTION("fewer than the largest node has") {
        alloc.cores = 3;
        table.event(job, alloc);
        CHECK(given(table) == std::vector<JobId>{second});
    }
    SECTION("more than it asked for, of a scheduler that gives no parts of nodes") {
        table.event(job, an_event(Kind::finish));
        table.event(job, an_event(Kind::clean));
        CHECK(given(table) == std::vector<JobId>{second});
        alloc.cores = 4;
        table.event(second, alloc);
        enter_whole(table, JobId{103}, 0);
        CHECK(given(table).empty());
    }
}
