// SPDX-License-Identifier: LGPL-3.0-only
// Real logs and reference starts for tests. They are not part of the project: WEIR_SHARED/traces, or ../shared/traces
// beside the source; else a visible skip.
#pragma once
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "libsched/sim/sim_job.hpp"

namespace weir::test {

inline std::optional<std::filesystem::path> traces() {
    const char* shared = std::getenv("WEIR_SHARED");
    const char* source = std::getenv("WEIR_SOURCE_DIR");
    namespace fs = std::filesystem;
    const fs::path folder = shared != nullptr ? fs::path(shared) / "traces"
                                              : fs::path(source != nullptr ? source : ".") / ".." / "shared" / "traces";
    if (!fs::is_directory(folder / "starts")) {
        std::printf("[skip] no reference schedules in %s (set WEIR_SHARED)\n", folder.c_str());
        return std::nullopt;
    }
    return folder;
}

/// Seconds by job number.
inline std::map<std::int64_t, std::int64_t> reference_starts(const std::filesystem::path& path) {
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

struct TraceFile {
    std::vector<SimJob> jobs;
    std::int64_t cores = 0;
};
inline TraceFile load_trace(const std::filesystem::path& path) {
    auto reader = SwfReader::open(path.string(), {});
    REQUIRE(reader.has_value());
    TraceFile log;
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

}  // namespace weir::test
