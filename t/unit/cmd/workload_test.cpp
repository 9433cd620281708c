// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/demo/workload.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "libfairshare/toml/share_tree_toml.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

SwfJob line(std::int64_t id, std::int64_t submit, std::int64_t run, std::int64_t processors, std::int64_t requested,
            std::int64_t user, std::int64_t group) {
    SwfJob job;
    job.job = id;
    job.submit = submit;
    job.run = run;
    job.processors = processors;
    job.requested_time = requested;
    job.user = user;
    job.group = group;
    return job;
}
ShareTree tree_of(const Workload& workload) {
    auto parsed = parse_share_tree(workload.share_tree);
    REQUIRE(std::holds_alternative<ShareTree>(parsed));
    return std::get<ShareTree>(parsed);
}

}  // namespace

TEST_CASE("workload: the generated one has what the demo promises") {
    const auto workload = generated_workload(1, 600);
    REQUIRE(workload.has_value());
    CHECK(workload->jobs.size() == 600);
    CHECK(workload->users.size() == 8);
    const ShareTree tree = tree_of(*workload);
    for (const DemoJob& job : workload->jobs) {
        CHECK(tree.find(job.account + "/@" + job.user).has_value());
        CHECK(workload->users.count(job.user) == 1);
        CHECK(job.run <= job.requested);
        CHECK(job.run > Duration(0));
    }
    CHECK(tree.find("physics/lattice/@alice").has_value());
    CHECK(makespan(*workload).has_value());
}

TEST_CASE("workload: everybody asks for what the demand table says, within a large job or two") {
    const auto workload = generated_workload(1, 600);
    REQUIRE(workload.has_value());
    double all = 0, chem = 0, physics = 0;
    for (const DemoJob& job : workload->jobs) {
        const double work = static_cast<double>(job.cores) * to_seconds(job.run);
        all += work;
        chem += job.account == "chem" ? work : 0;
        physics += job.account.find("physics/") == 0 ? work : 0;
    }
    CHECK(std::fabs(chem / all - 0.38) < 0.05);
    CHECK(std::fabs(physics / all - 0.42) < 0.05);
}

TEST_CASE("workload: asked for more than there is while jobs come") {
    const auto workload = generated_workload(1, 600);
    REQUIRE(workload.has_value());
    double all = 0;
    for (const DemoJob& job : workload->jobs) {
        all += static_cast<double>(job.cores) * to_seconds(job.run);
    }
    const double load = all / (160 * to_seconds(workload->jobs.back().submit));
    CHECK(load > 1.35);
    CHECK(load < 1.55);
}

TEST_CASE("workload: a seed gives the same jobs, another seed others") {
    const auto a = generated_workload(3, 50), b = generated_workload(3, 50), c = generated_workload(4, 50);
    REQUIRE((a && b && c));
    const auto same = [](const Workload& x, const Workload& y) {
        for (std::size_t i = 0; i < x.jobs.size(); ++i) {
            if (x.jobs[i].submit != y.jobs[i].submit || x.jobs[i].user != y.jobs[i].user ||
                x.jobs[i].run != y.jobs[i].run) {
                return false;
            }
        }
        return true;
    };
    CHECK(same(*a, *b));
    CHECK_FALSE(same(*a, *c));
}

TEST_CASE("workload: a log's groups become accounts, its users users, its lines jobs") {
    const std::vector<SwfJob> log{line(1, 100, 50, 8, 60, 7, 2), line(2, 110, 5000, 20, 6000, 8, 2),
                                  line(3, 90, 10, 40, 20, 9, 3), line(4, 120, -1, 4, 60, 7, 2),
                                  line(5, 130, 10, 41, 60, 7, 2)};
    const auto workload = workload_of_log(log, 40, "x.swf", 100);
    REQUIRE(workload.has_value());
    CHECK(workload->jobs.size() == 3);
    CHECK(workload->left_out == 2);  // one that never ran, one larger than the machine
    CHECK(workload->jobs[0].account == "g3");
    CHECK(workload->jobs[1].submit == std::chrono::seconds(10));
    CHECK(workload->jobs[1].queue == "batch");  // 8 cores: more than debug has
    CHECK(workload->jobs[2].queue == "batch");
    CHECK(workload->partitions[1].cores() == 40);
    CHECK(workload->nodes * workload->cores_per_node == 44);
    CHECK(tree_of(*workload).find("g2/@u8").has_value());
}

TEST_CASE("workload: short requests that fit go to debug") {
    const auto workload = workload_of_log({line(1, 0, 50, 4, 60, 1, 1), line(2, 0, 50, 4, 901, 1, 1)}, 100, "x", 9);
    REQUIRE(workload.has_value());
    CHECK(workload->jobs[0].queue == "debug");
    CHECK(workload->jobs[1].queue == "batch");
}

TEST_CASE("workload: a log without jobs says so") {
    const auto workload = workload_of_log({line(1, 0, 0, 4, 60, 1, 1)}, 100, "x.swf", 9);
    REQUIRE_FALSE(workload.has_value());
    CHECK(workload.error().message == "x.swf: no job in it ran (run time and processors above 0).");
}

TEST_CASE("workload: the estimate is exact where nothing waits") {
    const auto workload =
        workload_of_log({line(1, 0, 50, 4, 60, 1, 1), line(2, 100, 7000, 4, 9000, 1, 1)}, 100, "x", 9);
    REQUIRE(workload.has_value());
    CHECK(makespan(*workload).value() == Duration(std::chrono::seconds(7100)));
}
