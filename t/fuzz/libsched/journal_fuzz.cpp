// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as a job journal: strict and lenient; the jobs that are read can be replayed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "libfairshare/base/check.hpp"
#include "libsched/sim/journal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const bool lenient : {false, true}) {
        std::size_t at = 0;
        const auto source = [&](char* into, std::size_t room) -> weir::Result<std::size_t> {
            const std::size_t count = std::min({room, size - at, std::size_t{1000}});
            if (count > 0) {
                std::memcpy(into, data + at, count);
            }
            at += count;
            return count;
        };
        const auto journal = weir::read_journal({source, "fuzz", weir::journal_line_max}, lenient);
        if (!journal) {
            WEIR_CHECK(!journal.error().message.empty());
            continue;
        }
        weir::Instant last = weir::Instant::min();
        for (const weir::SimJob& job : journal->jobs) {
            WEIR_CHECK(weir::replayable(job, last, std::numeric_limits<std::uint32_t>::max()));
            WEIR_CHECK(job.group <= journal->accounts.size());
            last = job.submit;
        }
    }
    return 0;
}
