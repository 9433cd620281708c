// SPDX-License-Identifier: LGPL-3.0-only
// The simulated world holds for some seeds under all faults. doc/world.md says after how many seeds
// each planted mistake is found.
#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "modules/world/faults.hpp"
#include "modules/world/world.hpp"

using namespace weir::world;

namespace {

std::vector<std::uint64_t> up_to(std::uint64_t last) {
    std::vector<std::uint64_t> seeds(last);
    std::iota(seeds.begin(), seeds.end(), 1);
    return seeds;
}

void hold_for_seeds(const std::string& named, Options options, const std::vector<std::uint64_t>& seeds) {
    options.kinds = fault_kinds();
    for (const std::uint64_t seed : seeds) {
        options.seed = seed;
        INFO("t/world --instances " << named << " --jobs " << options.jobs << " --seed " << options.seed << " --trace");
        World world(options);
        world.run();
        REQUIRE(world.ground().violations() == std::vector<std::string>{});
    }
}

}  // namespace

// Mutant: modules/world/manager_disk.cpp: use = false; => use = false, disk_.journal.resize(disk_.journal.size() / 2);
// Mutant: modules/job-priority/module/steady_time.hpp: ahead_ + step); => ahead_);
// Mutant: modules/world/manager_alloc.cpp: send([this, id, R] { messages_.free(id, R); });  // canceled meanwhile =>
// Mutant: broker/services/job-manager/tables/job_table.cpp: ms_((last >> 24) + 1) => ms_((last >> 63) + 1)
// Mutant: libfairshare/limits/admission.cpp: known->second.state == State::waiting || => false &&
// Mutant: modules/job-priority/gate/gate_places.cpp: return is_child_ && settings_ => return false && settings_
TEST_CASE("world: forty seeds of two levels hold under all faults") {
    hold_for_seeds("1x3", {.shape = {1, 3}}, up_to(40));
}

// Mutant: modules/world/manager.cpp: send([reply, id] { reply(id); }); => reply(id);
TEST_CASE("world: seeds hold in which a broker dies between a submission and its commit") {
    hold_for_seeds("1x3", {.shape = {1, 3}}, {1320, 1357, 1366, 1405});
}

// Mutant: modules/job-priority/charges/child_reports.cpp: child, record.inside => child, record.job
TEST_CASE("world: forty seeds of three levels hold under all faults") {
    hold_for_seeds("1x3x2", {.shape = {1, 3, 2}}, up_to(40));
}

// Mutant: modules/job-route/hand_down.cpp: return in_children.empty() || => return true ||
TEST_CASE("world: seeds hold in which a partition starts a job while a better one is on the way there") {
    hold_for_seeds("1x4", {.shape = {1, 4}, .jobs = 200}, {11, 17, 43});
}

// Mutant: modules/job-route/hand_down.hpp: std::tie(b.priority, a.submit => std::tie(a.priority, a.submit
TEST_CASE("world: seeds hold in which more jobs wait than a partition gets ahead") {
    hold_for_seeds("1x3", {.shape = {1, 3}, .jobs = 400}, {100, 110, 126});
}
