// SPDX-License-Identifier: LGPL-3.0-only
// Real logs: one partition that has the whole machine starts every job when the single pool does.
#include <cstdio>

#include "t/unit/libsched/trace_files.hpp"
#include "t/unit/replay/trees.hpp"

using namespace weir;

TEST_CASE("tree on logs: one partition of the whole machine starts all jobs of the logs as one pool does") {
    const auto folder = test::traces();
    if (!folder) {
        return;
    }
    for (const std::string name : {"KTH-SP2-1996", "CTC-SP2-1996", "SDSC-BLUE-2000"}) {
        const auto path = *folder / (name + ".swf.gz");
        if (!std::filesystem::exists(path)) {
            continue;
        }
        const test::TraceFile log = test::load_trace(path);
        for (const Policy& policy : {Policy{Fcfs{}}, Policy{Easy{}}}) {
            const auto result = test::replay_tree(test::tree_of({log.cores}, policy), log.jobs);
            CHECK(test::tree_starts(result, log.jobs.size()) == *simulate(log.jobs, log.cores, policy));
            std::printf("[ok] %s under %s: %zu starts compared\n", name.c_str(), name_of(policy).c_str(),
                        log.jobs.size());
        }
    }
}
