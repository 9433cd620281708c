// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the priorities that the parent instance gives to its jobs whose copies wait here, so that their order is
// decided once. Must not know: how they arrive, how the parent computed them.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "modules/job-priority/jobs/job_book.hpp"

namespace weir::priority {

/// A job of the parent and its priority there; none: it has no copy here, or none any more.
using GivenPriority = std::pair<FluxJobId, std::optional<std::int64_t>>;

class GivenPriorities {
  public:
    /// \param is_all  priorities that are not in `rows` are forgotten
    /// \return the copies here whose priority changed: those of the rows in their order, then forgotten ones by the
    /// parent's id. O(rows) expected, with `is_all` O(jobs log jobs).
    std::vector<FluxJobId> take(const std::vector<GivenPriority>& rows, bool is_all);

    /// The priority of a job of this instance, at least 1; none unless it is a copy with one. Its id here is kept until
    /// forget(). O(1) expected.
    std::optional<std::uint32_t> of(const BookJob& job);
    /// Whether the job is a copy with one. O(1) expected.
    bool has(const BookJob& job) const;
    /// Whether every job with a priority was seen here. O(jobs).
    bool are_all_here() const;
    /// The copy ended. The priority stays: it may be that of the next copy already. O(1) expected.
    void forget(const BookJob& job);
    /// A new backlog: the ids here are forgotten.
    void forget_copies();

  private:
    struct Given {
        std::optional<std::int64_t> priority;
        FluxJobId copy = 0;  ///< 0: not seen here
    };
    static bool is_empty(const Given& given) { return !given.priority && given.copy == 0; }
    void set(FluxJobId id, std::optional<std::int64_t> priority, std::vector<FluxJobId>& changed);
    std::unordered_map<FluxJobId, Given> jobs_;  ///< by the parent's id
};

}  // namespace weir::priority
