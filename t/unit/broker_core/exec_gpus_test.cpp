// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/exec_gpus.hpp"

#include <catch2/catch.hpp>

namespace {

using weir::IdSet;
using weir::broker::gpus_of_task;
using weir::broker::gpus_of_tasks;
using weir::broker::NodeShare;
using weir::broker::visible_gpus;

NodeShare node(const char* gpus, std::uint32_t tasks) {
    return {tasks, *IdSet::parse(gpus), tasks};
}

/// The tasks that each of these nodes gets.
std::vector<std::uint32_t> placed(const std::vector<std::uint64_t>& cores, std::uint32_t tasks) {
    std::vector<NodeShare> nodes;
    for (const std::uint64_t count : cores) {
        nodes.push_back({count, {}, 0});
    }
    place_tasks(nodes, tasks);
    std::vector<std::uint32_t> counts;
    for (const NodeShare& one : nodes) {
        counts.push_back(one.tasks);
    }
    return counts;
}

using Counts = std::vector<std::uint32_t>;

// Mutant: broker/services/exec_gpus.cpp: nodes[a].cores > nodes[b].cores => nodes[a].cores < nodes[b].cores
// Mutant: broker/services/exec_gpus.cpp: used[i] + each <= nodes[i].cores => used[i] <= nodes[i].cores
TEST_CASE("gpus of tasks: a node has as many tasks as its cores are enough for, the largest first") {
    CHECK(placed({4}, 3) == Counts{3});
    CHECK(placed({4, 4}, 5) == Counts{3, 2});
    CHECK(placed({1, 3}, 4) == Counts{1, 3});
    CHECK(placed({1, 2}, 2) == Counts{1, 1});
    CHECK(placed({1, 2}, 1) == Counts{0, 1});
    CHECK(placed({1, 1}, 5) == Counts{3, 2});
    CHECK(placed({0, 2}, 4) == Counts{2, 2});
    CHECK(placed({}, 4).empty());
}

// Mutant: broker/services/exec_gpus.cpp: id < names.size() ? names[id] => false ? names[id]
TEST_CASE("gpus of tasks: by their numbers, or by the names that the instance was told") {
    const IdSet gpus = *IdSet::parse("0-1,3");
    CHECK(visible_gpus(gpus, "") == "0,1,3");
    CHECK(visible_gpus(gpus, "4,5,6,GPU-7") == "4,5,GPU-7");
    CHECK(visible_gpus(gpus, "4") == "4,1,3");
    CHECK(visible_gpus({}, "4,5") == "-1");
}

// Mutant: broker/services/exec_gpus.cpp: n < each * tasks => true
// Mutant: broker/services/exec_gpus.cpp: groups.back().second == list => true
TEST_CASE("gpus of tasks: those of the task's node, or the task's part of them") {
    CHECK(gpus_of_tasks({node("0-1,3", 3)}, "", false) == "3*0,1,3");
    CHECK(gpus_of_tasks({node("1,3", 2), node("0", 1), node("0", 2)}, "", false) == "2*1,3;3*0");
    CHECK(gpus_of_tasks({node("0-1,3", 3)}, "", true) == "1*0;1*1;1*3");
    CHECK(gpus_of_tasks({node("0-1,3", 2)}, "", true) == "1*0;1*1");
    CHECK(gpus_of_tasks({node("0-3", 2)}, "4,5,6,7", true) == "1*4,5;1*6,7");
    CHECK(gpus_of_tasks({node("0-2", 4), node("0", 0), node("1", 1)}, "", true) == "4*-1;1*1");
}

// Mutant: broker/services/exec_gpus.cpp: rank < 0 && => rank <= 0 &&
TEST_CASE("gpus of tasks: a task finds its own") {
    const std::string text = "2*0,1;1*-1;3*2";
    CHECK(gpus_of_task(text, 0) == "0,1");
    CHECK(gpus_of_task(text, 1) == "0,1");
    CHECK(gpus_of_task(text, 2) == "-1");
    CHECK(gpus_of_task(text, 5) == "2");
    CHECK(gpus_of_task("", 0).empty());
}

}  // namespace
