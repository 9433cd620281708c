// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the two system clocks and the process's mapping. The mapping is written once before threads start, only
// read afterwards.
#include "broker/api/clock.hpp"

#include <ctime>
#include <mutex>
#include <utility>

#include "libfairshare/base/check.hpp"

namespace weir::broker {
namespace {

struct Mapping {
    double scale = 1;
    double zero = 0;
    bool is_set = false;
};

Mapping& current() {
    static Mapping mapping;
    return mapping;
}

struct Keeper {
    std::mutex mutex;
    std::function<Status(double)> keep;
};

Keeper& keeper() {
    static Keeper one;
    return one;
}

uint64_t read_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void set_clock(double scale, double zero) {
    WEIR_CHECK(scale > 0);
    current() = {scale, zero, true};
}

double clock_now() {
    const Mapping& m = current();
    return m.is_set ? m.zero + m.scale * (static_cast<double>(monotonic_ns()) / 1e9) : wall_now();
}

void keep_clock(std::function<Status(double)> keep) {
    const std::lock_guard lock(keeper().mutex);
    keeper().keep = std::move(keep);
}

Status mark_clock(double until) {
    const std::lock_guard lock(keeper().mutex);
    return keeper().keep ? keeper().keep(until) : Status(Done{});
}

double clock_scale() {
    return current().scale;
}

double wall_now() {
    return static_cast<double>(read_ns(CLOCK_REALTIME)) / 1e9;
}

double real_delay(double scaled_seconds) {
    return scaled_seconds / current().scale;
}

uint64_t monotonic_ns() {
    return read_ns(CLOCK_MONOTONIC);
}

}  // namespace weir::broker
