// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the constraint of job-list.list: one-key objects over a job's facts, with and, or, not.
// Must not know: how jobs are stored or listed, flux_t.
// RFC 43 (job list constraints), RFC 31 (syntax).
#pragma once
#include <cstdint>
#include <functional>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// A compiled constraint.
using JobFilter = std::function<bool(const Job&)>;

/// How many comparisons a query may still make: its constraint and the jobs are multiplied. As in flux-core's job-list.
class Comparisons {
  public:
    static constexpr std::uint64_t guest_max = 1'000'000;
    explicit Comparisons(std::uint64_t max) : left_(max) {}
    /// False if too many were made: then nothing matches any more.
    bool spend(std::uint64_t count) {
        is_exhausted_ = is_exhausted_ || count > left_;
        left_ -= is_exhausted_ ? 0 : count;
        return !is_exhausted_;
    }
    bool is_exhausted() const { return is_exhausted_; }

  private:
    std::uint64_t left_;
    bool is_exhausted_ = false;
};

/// Null or {} matches every job. Error: the operator and what its values must be, or more than 65,536 host names.
/// \param comparisons  is charged 100 for each operator and 1 for each of its values while it is compiled, and for what
/// the filter compares: each operator of it, each value, each node of the job. It outlives the filter. Once they
/// are exhausted what it says is void; if so while compiling, an error. Null: nothing is counted.
Result<JobFilter> compile_constraint(const json_t* constraint, Comparisons* comparisons = nullptr);

/// States in which a job could match, as a mask: lets a list skip whole groups. Never excludes a matching state.
int states_of_constraint(const json_t* constraint);

}  // namespace weir::broker::jobs
