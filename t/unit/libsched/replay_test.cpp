// SPDX-License-Identifier: LGPL-3.0-only
// Real logs replayed through the production policies against the starts of an independent implementation, job by job.
// The logs are not part of the project: WEIR_SHARED/traces, or ../shared/traces beside the source; else a visible skip.
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "libsched/sim/simulate.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
namespace fs = std::filesystem;

namespace {

std::optional<fs::path> traces() {
    const char* shared = std::getenv("WEIR_SHARED");
    const char* source = std::getenv("WEIR_SOURCE_DIR");
    const fs::path folder = shared != nullptr ? fs::path(shared) / "traces"
                                              : fs::path(source != nullptr ? source : ".") / ".." / "shared" / "traces";
    if (!fs::is_directory(folder / "starts")) {
        std::printf("[skip] no reference schedules in %s (set WEIR_SHARED)\n", folder.c_str());
        return std::nullopt;
    }
    return folder;
}

std::map<std::int64_t, std::int64_t> reference(const fs::path& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    REQUIRE(file != nullptr);
    std::map<std::int64_t, std::int64_t> starts;
    char line[128];
    while (gzgets(file, line, sizeof line) != nullptr) {
        long long job = 0;
        long long start = 0;
        if (std::sscanf(line, "%lld,%lld", &job, &start) == 2) {
            starts[job] = start;
        }
    }
    gzclose(file);
    return starts;
}

struct Log {
    std::vector<SimJob> jobs;
    std::int64_t cores = 0;
};
Log load(const fs::path& path) {
    auto reader = SwfReader::open(path.string(), {});
    REQUIRE(reader.has_value());
    Log log;
    while (true) {
        const auto job = reader->next();
        REQUIRE(job.has_value());
        if (!*job) {
            break;
        }
        log.jobs.push_back(sim_job(**job).value());
    }
    log.cores = reader->max_processors();
    return log;
}

void compare(const Log& log, const std::vector<Instant>& starts, const fs::path& expected_path) {
    const auto expected = reference(expected_path);
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

TEST_CASE("replay: every reference schedule under fcfs and easy is reproduced job by job") {
    const auto folder = traces();
    if (!folder) {
        return;
    }
    for (const auto& entry : fs::directory_iterator(*folder)) {
        const std::string file = entry.path().filename().string();
        if (file.find(".swf.gz") == std::string::npos) {
            continue;
        }
        const std::string name = file.substr(0, file.find('.'));
        const Log log = load(entry.path());
        for (const Policy& policy : {Policy(Fcfs{}), Policy(Easy{})}) {
            const fs::path expected = *folder / "starts" / (name + "." + std::string(name_of(policy)) + ".csv.gz");
            if (fs::exists(expected)) {
                compare(log, *simulate(log.jobs, log.cores, policy), expected);
            }
        }
    }
}

TEST_CASE("replay: on nodes KTH-SP2-1996 starts the same as on a count") {
    const auto folder = traces();
    if (!folder || !fs::exists(*folder / "KTH-SP2-1996.swf.gz")) {
        return;
    }
    const Log log = load(*folder / "KTH-SP2-1996.swf.gz");
    compare(log, *simulate(log.jobs, test::machine(25, 4), Easy{}), *folder / "starts" / "KTH-SP2-1996.easy.csv.gz");
}
