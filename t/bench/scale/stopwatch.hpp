// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the CPU time of the thread that some work takes.
#pragma once
#include <time.h>

#include <cstdint>

namespace weir::scale {

inline double thread_cpu_s() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Adds the CPU time of its life.
class Stopwatch {
  public:
    explicit Stopwatch(double& sum) : sum_(sum), begin_(thread_cpu_s()) {}
    ~Stopwatch() { sum_ += thread_cpu_s() - begin_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    double& sum_;
    double begin_;
};

/// Of work that is short and done often: a look at the clock takes a microsecond, so one time in many is measured.
struct SampledTime {
    static constexpr std::uint64_t times = 61;
    double cpu_s = 0;
    std::uint64_t calls = 0;
    SampledTime& operator+=(const SampledTime& other) {
        cpu_s += other.cpu_s;
        calls += other.calls;
        return *this;
    }
};

/// The same for a SampledTime.
class SampledWatch {
  public:
    explicit SampledWatch(SampledTime& sum)
        : sum_(sum), is_measured_(sum.calls++ % SampledTime::times == 0), begin_(is_measured_ ? thread_cpu_s() : 0) {}
    ~SampledWatch() {
        sum_.cpu_s += is_measured_ ? (thread_cpu_s() - begin_) * static_cast<double>(SampledTime::times) : 0;
    }
    SampledWatch(const SampledWatch&) = delete;
    SampledWatch& operator=(const SampledWatch&) = delete;

  private:
    SampledTime& sum_;
    bool is_measured_;
    double begin_;
};

}  // namespace weir::scale
