// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which lines of a log can be replayed.
#include "libsched/sim/sim_job.hpp"

#include <algorithm>

namespace weir {
namespace {

struct Range {
    const char* name;
    std::int64_t value, low, high;
};

}  // namespace

Result<SimJob> sim_job(const SwfJob& job) {
    const std::int64_t cores = job.processors > 0 ? job.processors : job.requested_processors;
    constexpr std::int64_t seconds_max = 4'000'000'000'000;
    const Range ranges[] = {{"number of processors", cores, 1, 0xFFFFFFFFLL},
                            {"run time", job.run, 0, seconds_max},
                            {"submit time", job.submit, 0, seconds_max},
                            {"requested time", std::max<std::int64_t>(job.requested_time, 0), 0, seconds_max},
                            {"user", std::max<std::int64_t>(job.user, 0), 0, 0xFFFFFFFFLL},
                            {"group", std::max<std::int64_t>(job.group, 0), 0, 0xFFFFFFFFLL},
                            {"queue", std::max<std::int64_t>(job.queue, 0), 0, 0xFFFF},
                            {"partition", std::max<std::int64_t>(job.partition, 0), 0, 0xFFFF}};
    for (const Range& range : ranges) {
        if (range.value < range.low || range.value > range.high) {
            return Error{std::errc::invalid_argument, "job " + std::to_string(job.job) + " cannot be replayed: its " +
                                                          range.name + " is " + std::to_string(range.value) +
                                                          "; it must be from " + std::to_string(range.low) + " to " +
                                                          std::to_string(range.high)};
        }
    }
    const auto seconds = [](std::int64_t s) { return Duration{s * 1'000'000}; };
    const auto number = []<typename To>(std::int64_t value, To) {
        return static_cast<To>(std::max<std::int64_t>(value, 0));
    };
    return SimJob{job.job,
                  Instant{seconds(job.submit)},
                  seconds(job.run),
                  job.requested_time > 0 ? seconds(job.requested_time) : Duration::max(),
                  static_cast<std::uint32_t>(cores),
                  number(job.user, std::uint32_t{}),
                  number(job.group, std::uint32_t{}),
                  number(job.queue, std::uint16_t{}),
                  number(job.partition, std::uint16_t{})};
}

Error about(const SimJob& job, const std::string& what) {
    return Error{std::errc::invalid_argument, "job " + std::to_string(job.number) + " " + what};
}

Status replayable(const SimJob& job, Instant previous, std::uint64_t cores) {
    if (job.cores == 0) {
        return about(job, "asks for no cores");
    }
    if (job.cores > cores) {
        return about(job, "wants " + std::to_string(job.cores) + " cores; the machine has " + std::to_string(cores));
    }
    if (job.run < Duration{} || job.limit < Duration{}) {
        return about(job, "has a negative run time or time limit");
    }
    if (job.submit < previous) {
        return about(job, "was submitted before the job that precedes it");
    }
    if (job.run > never - job.submit) {
        return about(job, "would end after the end of time");
    }
    return Done{};
}

}  // namespace weir
