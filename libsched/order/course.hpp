// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when one of two jobs passes the other by time alone, under a policy that is no sum of factors. Must not know
// the policies: each provides a Course. Multifactor has crossings().
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "libsched/job.hpp"

namespace weir {

/// Bounds of the gain of a number, a second.
struct Slope {
    double least = 0;
    double most = 0;
};

/// How a job's number changes by time alone. Functions of an instant not before `now`, and of nothing else.
struct Course {
    std::function<double(Instant)> number;  ///< at most 2^32 - 1 where it is rounded
    /// Bounds between two instants: the shorter the span, the tighter.
    std::function<Slope(Instant, Instant)> slope;
    Instant submit{};  ///< of equal numbers the earlier submission goes first, then the smaller id
    JobId id;
    bool is_rounded = true;  ///< what the queue compares: the nearest whole number, or the number itself
};
/// The course of a job whose number does not change by time.
Course constant_course(double number, Instant submit, JobId id);

struct Passing {
    Instant at;             ///< the first microsecond of the new order
    bool is_first = false;  ///< whether the first of the two is ahead from then on
};
struct Passings {
    double first_now = 0, second_now = 0;  ///< what the queue compares
    bool is_first_now = false;
    std::vector<Passing> list;  ///< in order of time
    Instant until;              ///< there are no others until then
};

/// The next changes of two jobs' order in (now, until], at most `limit`. Exact to the microsecond, except where two
/// numbers stay within 1e-5 of a tie (or, rounded, of a difference of 1) for many steps: they count as tied.
/// REQUIRES: both are rounded or neither is; now < until.
/// O((limit + places where a slope changes) x log(until - now)) evaluations where slopes are known exactly; otherwise
/// at most stretches_max stretches are examined, and `until` of the result is the end of the last one.
Passings passings(const Course& first, const Course& second, Instant now, Instant until, std::size_t limit);

inline constexpr std::size_t stretches_max = 100000;

}  // namespace weir
