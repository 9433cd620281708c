// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the associations' fair-share factors as the priorities use them: evaluated from the tree and its usage, or
// those that the parent instance sent. Must not know: jobs, priorities, who measures usage.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "modules/job-priority/ranking/measured.hpp"
#include "modules/job-priority/ranking/parent_factors.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

/// The algorithm by its name, with the site's factors.
Algorithm algorithm_of(const Settings& settings);

class FairShares {
  public:
    /// \param settings  those in force; outlive this   \param is_child  there is a parent instance
    FairShares(const Settings& settings, bool is_child);

    /// The settings changed.
    void configure();
    /// \param is_complete rows that are not among these are forgotten
    void take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete);
    /// Whether the parent's factors are used, not the tree's.
    bool are_parents() const { return is_child_ && settings_.takes_parent_factors && !from_parent_.is_empty(); }

    /// The tree or the way of counting changed: is_stale() from here on.
    void forget() { evaluated_at_.reset(); }
    /// Whether an event needs a new evaluation: after a thirtieth of the update interval, so that a burst of events
    /// costs one evaluation of the tree; or if the tree has grown.
    bool is_stale(const ShareTree& tree, Instant now) const;
    /// When the last evaluation is stale. Nothing: there is none in force, and the next pass evaluates.
    std::optional<Instant> stale_at() const;
    /// Evaluates measured() anew. O(nodes).
    void evaluate(const ShareTree& tree, Instant now);
    /// Fill it before evaluate(); it is kept for its memory.
    Measured& measured() { return measured_; }
    const Measured& measured() const { return measured_; }

    /// The parent's factors, whether they are used or not.
    const ParentFactors& from_parent() const { return from_parent_; }
    /// The index in factors() of a payer's factor. REQUIRES: the factors are not the parent's.
    static std::uint32_t index_of(NodeId payer);
    std::span<const double> factors() const;
    const Algorithm& algorithm() const { return algorithm_; }
    const Standings& standings() const { return standings_; }
    /// Of the whole tree.
    std::uint64_t evaluations() const { return evaluations_; }

  private:
    const Settings& settings_;
    bool is_child_;
    Algorithm algorithm_;
    ParentFactors from_parent_;
    Measured measured_;
    Standings standings_;
    std::optional<Instant> evaluated_at_;
    std::uint32_t evaluated_size_ = 0;  ///< nodes of the tree at that time
    std::uint64_t evaluations_ = 0;
};

}  // namespace weir::priority
