// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the two system clocks and the process's scale. Written once before threads start, only read afterwards.
#include "broker/api/clock.hpp"

#include <ctime>

#include "libfairshare/base/check.hpp"

namespace weir::broker {
namespace {

struct Scale {
    double scale = 1;
    double origin = 0;
    double base_real = 0;  ///< wall clock when base_ns was read
    uint64_t base_ns = 0;
};

Scale& current() {
    static Scale scale;
    return scale;
}

uint64_t read_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

double wall() {
    return static_cast<double>(read_ns(CLOCK_REALTIME)) / 1e9;
}

}  // namespace

void set_clock(double scale, double origin) {
    WEIR_CHECK(scale > 0);
    current() = {scale, origin, wall(), monotonic_ns()};
}

double clock_now() {
    const Scale& s = current();
    if (s.scale == 1) {
        return wall();
    }
    const double real = s.base_real + static_cast<double>(monotonic_ns() - s.base_ns) / 1e9;
    return s.origin + (real - s.origin) * s.scale;
}

double clock_scale() {
    return current().scale;
}

double clock_origin() {
    return current().origin;
}

double real_delay(double scaled_seconds) {
    return scaled_seconds / current().scale;
}

uint64_t monotonic_ns() {
    return read_ns(CLOCK_MONOTONIC);
}

}  // namespace weir::broker
