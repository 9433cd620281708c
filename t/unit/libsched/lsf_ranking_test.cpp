// SPDX-License-Identifier: LGPL-3.0-only
// LSF's order of waiting jobs: queues before users, users by their dynamic priority, and who has no shares.
#include "libsched/order/lsf_ranking.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

/// Two accounts of one share each, a user in each; nobody uses anything.
struct LsfScene {
    ShareTree tree = std::get<ShareTree>(parse_share_tree("\"a\" = 1\n\"a/@x\" = 1\n\"b\" = 1\n\"b/@y\" = 1\n"));
    NodeId x = tree.find("a/@x").value();
    NodeId y = tree.find("b/@y").value();
    std::vector<std::pair<JobId, std::uint32_t>> values;  ///< what was told, the newest of each job

    void tell(LsfRanking& ranking) {
        std::vector<std::pair<JobId, std::uint32_t>> changed;
        ranking.prioritize({tree, {}}, at(100), changed);
        for (const auto& [id, value] : changed) {
            const auto known =
                std::find_if(values.begin(), values.end(), [id = id](const auto& other) { return other.first == id; });
            known == values.end() ? values.emplace_back(id, value) : * known = {id, value};
        }
    }
    /// All ids, in the order told.
    std::vector<std::uint64_t> order(LsfRanking& ranking) {
        tell(ranking);
        std::stable_sort(values.begin(), values.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        std::vector<std::uint64_t> ids;
        for (const auto& [id, value] : values) {
            ids.push_back(id.value);
        }
        return ids;
    }
};

using Ids = std::vector<std::uint64_t>;

}  // namespace

// Kills: groups by the queue's name or number alone, so that queues of one priority do not go as one; a queue with
// factors of its own among the common ones, or before them; a higher priority last.
TEST_CASE("lsf: queues go by priority, those of one priority as one, and one with factors of its own behind them") {
    LsfScene world;
    PolicySettings settings;
    settings.queues = {{"own", 10}, {"normal", 10}, {"night", 10}, {"high", 20}, {"idle", 5}};
    settings.lsf.queue_factors["own"]["run-time-factor"] = 10;
    LsfRanking ranking(settings);
    std::uint64_t id = 0;
    for (const char* name : {"idle", "own", "normal", "night", "normal", "high"}) {
        LsfRanking::Job job;
        job.place = id;
        job.payer = world.x;
        job.queue = ranking.queue(name);
        ranking.put(JobId{id++}, job);
    }
    CHECK(world.order(ranking) == Ids{5, 2, 3, 4, 1, 0});
}

// Kills: jobs without shares before those who have, or behind those of lower queues, or left out.
TEST_CASE("lsf: who has no shares goes behind all of its queue who have, before lower queues") {
    LsfScene world;
    PolicySettings settings;
    settings.queues = {{"normal", 10}, {"idle", 5}};
    LsfRanking ranking(settings);
    const auto put = [&](std::uint64_t id, NodeId payer, const char* queue) {
        LsfRanking::Job job;
        job.place = id;
        job.payer = payer;
        job.queue = ranking.queue(queue);
        ranking.put(JobId{id}, job);
    };
    put(0, world.x, "idle");
    put(1, unassociated, "normal");
    put(2, world.x, "normal");
    put(3, unassociated, "normal");
    put(4, world.y, "normal");
    CHECK(world.order(ranking) == Ids{2, 4, 1, 3, 0});
}

// Kills: a job without a limit that commits the longest there is, so that its user goes last for good.
TEST_CASE("lsf: a job without a limit commits nothing") {
    LsfScene world;
    PolicySettings settings;
    settings.lsf.factors.committed_run_time = 1;
    LsfRanking ranking(settings);
    for (std::uint64_t id = 0; id < 4; id++) {
        LsfRanking::Job job;
        job.place = id;
        job.payer = id % 2 == 0 ? world.x : world.y;
        job.queue = ranking.queue("normal");
        job.limit = id % 2 == 0 ? Duration::max() : std::chrono::hours(1);
        ranking.put(JobId{id}, job);
    }
    CHECK(world.order(ranking) == Ids{0, 1, 2, 3});
    // Those of x are long: once one of each has gone, all of y's go first.
    LsfRanking other(settings);
    for (std::uint64_t id = 0; id < 6; id++) {
        LsfRanking::Job job;
        job.place = id;
        job.payer = id < 3 ? world.x : world.y;
        job.queue = other.queue("normal");
        job.limit = id < 3 ? Duration(std::chrono::hours(100)) : Duration::max();
        other.put(JobId{id}, job);
    }
    world.values.clear();
    CHECK(world.order(other) == Ids{0, 3, 4, 5, 1, 2});
}

// Mutant: libsched/order/lsf_ranking.cpp: aps_value(open, alone, waited) => aps_value(*policy_.aps, alone, waited)
TEST_CASE("lsf: the terms of an absolute priority add up to it where the limit of a sum holds") {
    LsfScene world;
    PolicySettings settings;
    settings.queues = {{"normal", 40}};
    settings.lsf.aps.emplace();
    auto& parts = settings.lsf.aps->parts;
    parts[static_cast<std::size_t>(ApsPart::jprio)].weight = 1;
    parts[static_cast<std::size_t>(ApsPart::qprio)].weight = 1;
    parts[static_cast<std::size_t>(ApsPart::work)] = {1, 25, {}};
    LsfRanking ranking(settings);
    LsfRanking::Job job;
    job.payer = world.x;
    job.queue = ranking.queue("normal");
    job.job_priority = 30;
    ranking.put(JobId{0}, job);
    const OrderTerms told = ranking.explain(JobId{0}, {world.tree, {}}, at(100));
    std::map<std::string, double> terms;
    double sum = 0;
    for (const OrderTerm& term : told.terms) {
        terms[term.name] = term.contribution;
        sum += term.contribution;
    }
    CHECK(terms == std::map<std::string, double>{{"jprio", 30}, {"qprio", 40}, {"work cap", -45}, {"admin", 0}});
    CHECK(told.sum == 25);
    CHECK(sum == told.sum);
}

// Kills: remove() that does not take the job out, or forgets what was said of it; one that fails for who never waited.
TEST_CASE("lsf: a job that went is not ranked; its id is another job's the next time") {
    LsfScene world;
    LsfRanking ranking(PolicySettings{});
    const auto put = [&](std::uint64_t id, std::uint64_t place) {
        LsfRanking::Job job;
        job.place = place;
        job.payer = world.x;
        job.queue = ranking.queue("normal");
        ranking.put(JobId{id}, job);
    };
    put(0, 0);
    put(1, 1);
    CHECK(world.order(ranking) == Ids{0, 1});
    ranking.remove(JobId{0});
    ranking.remove(JobId{0});
    ranking.remove(JobId{7});
    put(0, 2);
    CHECK(world.order(ranking) == Ids{1, 0});
    // The newcomer stands where the one stood whose id it has, and is told of all the same, once.
    ranking.remove(JobId{0});
    put(0, 3);
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    ranking.prioritize({world.tree, {}}, at(100), changed);
    REQUIRE(changed.size() == 1);
    CHECK(changed.front().first == JobId{0});
    ranking.remove(JobId{1});
    changed.clear();
    ranking.prioritize({world.tree, {}}, at(100), changed);
    CHECK(changed.empty());
}
