// SPDX-License-Identifier: LGPL-3.0-only
// Real logs replayed through the production policies against the starts of an independent implementation, job by job.
#include "libsched/sim/simulate.hpp"
#include "t/unit/libsched/trace_files.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
namespace fs = std::filesystem;

namespace {

void compare(const test::TraceFile& log, const std::vector<Instant>& starts, const fs::path& expected_path) {
    const auto expected = test::reference_starts(expected_path);
    REQUIRE(expected.size() == log.jobs.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < starts.size(); i++) {
        const auto start = starts[i].time_since_epoch().count();
        const bool same = expected.at(log.jobs[i].number) * 1'000'000 == start;
        if (!same && different++ == 0) {
            UNSCOPED_INFO("first difference: job " << log.jobs[i].number << " starts at " << start / 1'000'000
                                                   << ", not " << expected.at(log.jobs[i].number));
        }
    }
    CHECK(different == 0);
    std::printf("[ok] %s: %zu starts equal\n", expected_path.stem().c_str(), starts.size() - different);
}

}  // namespace

TEST_CASE("replay: every reference schedule is reproduced job by job") {
    const auto folder = test::traces();
    if (!folder) {
        return;
    }
    const std::vector<std::pair<std::string, std::string>> policies{{"fcfs", "fcfs"},
                                                                    {"easy", "easy"},
                                                                    {"easy-sjf", "easy-sjf"},
                                                                    {"cons", "conservative"},
                                                                    {"consfw", "conservative-fw"}};
    for (const auto& entry : fs::directory_iterator(*folder)) {
        const std::string file = entry.path().filename().string();
        if (file.find(".swf.gz") == std::string::npos) {
            continue;
        }
        const std::string name = file.substr(0, file.find('.'));
        const test::TraceFile log = test::load_trace(entry.path());
        for (const auto& [suffix, policy] : policies) {
            const fs::path expected = *folder / "starts" / (name + "." + suffix + ".csv.gz");
            if (fs::exists(expected)) {
                compare(log, *simulate(log.jobs, log.cores, *policy_named(policy)), expected);
            }
        }
    }
}

TEST_CASE("replay: on nodes KTH-SP2-1996 starts the same as on a count") {
    const auto folder = test::traces();
    if (!folder || !fs::exists(*folder / "KTH-SP2-1996.swf.gz")) {
        return;
    }
    const test::TraceFile log = test::load_trace(*folder / "KTH-SP2-1996.swf.gz");
    compare(log, *simulate(log.jobs, test::machine(25, 4), Easy{}), *folder / "starts" / "KTH-SP2-1996.easy.csv.gz");
}
