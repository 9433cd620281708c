// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/hierarchical_drf.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

using Tasks = std::vector<std::pair<std::string, std::uint64_t>>;
struct Asked {
    std::string path;
    TaskDemand demand;
};
constexpr std::uint64_t many = 1000000;

Tasks tasks_of(const Lines& lines, const std::vector<Asked>& asked, const std::vector<std::uint64_t>& capacity) {
    const ShareTree tree = tree_of(lines);
    std::vector<TaskDemand> demand(tree.size());
    for (const Asked& one : asked) {
        demand[at(tree, one.path).value] = one.demand;
    }
    const auto tasks = hierarchical_drf(tree, demand, capacity);
    Tasks found;
    for (const Asked& one : asked) {
        found.emplace_back(one.path, tasks[at(tree, one.path).value]);
    }
    return found;
}

}  // namespace

TEST_CASE("hierarchical DRF: two users on a flat tree get equal dominant shares") {
    // Ghodsi et al., 9 CPUs and 18 GB: 3 tasks of <1 CPU, 4 GB> and 2 of <3 CPU, 1 GB>, two thirds each.
    CHECK(tasks_of({{"@a", 1}, {"@b", 1}}, {{"@a", {{1, 4}, many}}, {"@b", {{3, 1}, many}}}, {9, 18}) ==
          Tasks{{"@a", 3}, {"@b", 2}});
}

TEST_CASE("hierarchical DRF: what only one child wants does not count against its siblings") {
    // The other organisation's GPUs are free: its GPU user takes them all, and its CPU user still gets half of the
    // CPUs.
    CHECK(tasks_of({{"n1", 1}, {"n2", 1}, {"n1/@a", 1}, {"n2/@cpu", 1}, {"n2/@gpu", 1}},
                   {{"n1/@a", {{1, 0}, many}}, {"n2/@cpu", {{1, 0}, many}}, {"n2/@gpu", {{0, 1}, many}}},
                   {10, 10}) == Tasks{{"n1/@a", 5}, {"n2/@cpu", 5}, {"n2/@gpu", 10}});
}

TEST_CASE("hierarchical DRF: a child far ahead in a resource of its own does not starve its siblings") {
    // One task of @gpu has all GPUs. Unscaled, n2's dominant share would be 1 and all CPUs would go to n1.
    CHECK(tasks_of({{"n1", 1}, {"n2", 1}, {"n1/@a", 1}, {"n2/@gpu", 1}, {"n2/@cpu", 1}},
                   {{"n1/@a", {{1, 0}, many}}, {"n2/@gpu", {{0, 10}, many}}, {"n2/@cpu", {{1, 0}, many}}},
                   {10, 10}) == Tasks{{"n1/@a", 5}, {"n2/@gpu", 1}, {"n2/@cpu", 5}});
}

TEST_CASE("hierarchical DRF: shares weigh, idle siblings' parts flow on, no shares get nothing") {
    CHECK(tasks_of({{"x", 3}, {"y", 1}, {"x/@a", 1}, {"x/@idle", 1}, {"y/@b", 1}, {"@none", 0}},
                   {{"x/@a", {{1}, many}}, {"x/@idle", {}}, {"y/@b", {{1}, many}}, {"@none", {{1}, many}}},
                   {40}) == Tasks{{"x/@a", 30}, {"x/@idle", 0}, {"y/@b", 10}, {"@none", 0}});
    CHECK(tasks_of({{"x", 3}, {"y", 1}, {"x/@a", 1}, {"y/@b", 1}}, {{"x/@a", {{1}, 4}}, {"y/@b", {{1}, many}}}, {40}) ==
          Tasks{{"x/@a", 4}, {"y/@b", 36}});
}
