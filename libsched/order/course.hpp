// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when, as time alone goes on, one of two jobs passes the other under a policy that is no sum of factors. Must
// not know the policies: each gives a Course. Multifactor has crossings().
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "libsched/job.hpp"

namespace weir {

/// Bounds of what a number gains a second.
struct Slope {
    double least = 0;
    double most = 0;
};

/// How a job's number goes on while nothing but time changes. Functions of the instant alone; it is not before `now`.
struct Course {
    std::function<double(Instant)> number;  ///< at most 2^32 - 1 where it is rounded
    /// Bounds between two instants: the narrower the stretch, the tighter.
    std::function<Slope(Instant, Instant)> slope;
    Instant submit{};  ///< of equal numbers the earlier submission goes first, then the smaller id
    JobId id;
    bool is_rounded = true;  ///< what the queue compares: the nearest whole number, or the number itself
};
/// Of a job whose number time does not change.
Course constant_course(double number, Instant submit, JobId id);

struct Passing {
    Instant at;             ///< the first microsecond at which it holds
    bool is_first = false;  ///< whether the first of the two stands before the other from there on
};
struct Passings {
    double first_now = 0, second_now = 0;  ///< what the queue compares
    bool is_first_now = false;
    std::vector<Passing> list;  ///< in order of time
    Instant until;              ///< none but these, so far
};

/// The next changes of two jobs' order after `now`, at most `limit`, until then at the latest. Exact to the microsecond
/// but where two numbers stay nearer than 1e-5 to a tie (or, rounded, to 1 apart) for many steps: they count as tied.
/// REQUIRES: both are rounded or neither is; now < until.
/// O((limit + places where a slope changes) x log(until - now)) evaluations where slopes are known exactly; at most
/// stretches_max stretches are looked at, `until` of the result is where that ended.
Passings passings(const Course& first, const Course& second, Instant now, Instant until, std::size_t limit);

inline constexpr std::size_t stretches_max = 100000;

}  // namespace weir
