// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that the site's own script set for jobs, until the jobs are removed.
// Must not know: what a value is worth (the engine's weights).
#pragma once
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

/// New values of the site's own factor.
struct SiteEdit {
    std::map<FluxJobId, std::optional<SiteRow>> rows;
    std::vector<FluxJobId> unknown;  ///< not active here: their values are not kept
};

class SiteValues {
  public:
    /// \param log  takes the rows that are forgotten; outlives this
    explicit SiteValues(StateLog& log) : log_(log) {}
    void restore(const SavedState& saved) { rows_.insert(saved.site.begin(), saved.site.end()); }

    /// Prepares new values for jobs of the book; an empty one withdraws the job's value. Changes nothing: the caller
    /// writes the rows, then accepts them. REQUIRES: the values are finite.
    static SiteEdit propose(const JobBook& book, std::span<const std::pair<FluxJobId, std::optional<double>>> values);
    void accept(const SiteEdit& edit);

    /// 0 where the site set none.
    double of(FluxJobId id) const { return find(id).value_or(0.); }
    std::optional<double> find(FluxJobId id) const;
    void forget(FluxJobId id);
    /// Forgets those of jobs that the book does not have, or has with another submission.
    void forget_vanished(const JobBook& book);

  private:
    StateLog& log_;
    std::map<FluxJobId, SiteRow> rows_;
};

}  // namespace weir::priority
