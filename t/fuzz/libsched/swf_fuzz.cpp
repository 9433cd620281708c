// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as a workload log: strict and lenient, in small pieces; a job that is read can be written and read again.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "libfairshare/base/check.hpp"
#include "libsched/sim/simulate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const bool lenient : {false, true}) {
        std::size_t at = 0;
        weir::SwfReader reader(
            [&](char* into, std::size_t room) -> weir::Result<std::size_t> {
                const std::size_t count = std::min({room, size - at, std::size_t{1000}});
                if (count > 0) {
                    std::memcpy(into, data + at, count);
                }
                at += count;
                return count;
            },
            "fuzz", {lenient});
        while (true) {
            const auto job = reader.next();
            if (!job || !*job) {
                WEIR_CHECK(job.has_value() || !job.error().message.empty());
                break;
            }
            WEIR_CHECK(*weir::parse_swf_line(weir::write_swf_line(**job)) == **job);
            (void)weir::sim_job(**job);
        }
    }
    return 0;
}
