// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rules of all partitions, each once, in the order of the configuration, and which of them each job meets, as
// two numbers. Must not know partitions, children or jobs' places.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "modules/job-route/partition_rules.hpp"

namespace weir::route {

class RuleBook {
  public:
    RuleBook() { (void)set({}); }
    /// Of each partition, in the order of the configuration. \return whether the book changed: then earlier ranks and
    /// kinds are invalid. O(rules squared).
    bool set(const std::vector<PartitionRules>& rules);
    /// The place of these rules. Rules that are not in the book count as none, behind all others. O(rules).
    int rank_of(const PartitionRules& rules) const;
    /// The lower, the more partitions with the rules of this rank are preferred. Memory makes no difference, as the
    /// number of cores makes none. REQUIRES: the rank is of this book.
    int preference_of(int rank) const { return preferences_[static_cast<std::size_t>(rank)]; }
    /// Jobs that meet the same rules are of one kind. O(rules).
    int kind_of(const JobFacts& job, std::uint32_t userid);
    /// Whether a job of this kind meets the rules of this rank. REQUIRES: both are of this book.
    bool takes(int kind, int rank) const {
        return met_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(rank)];
    }

  private:
    using Met = std::vector<bool>;  ///< by rank

    std::vector<PartitionRules> rules_;  ///< different ones; among them the empty rules
    std::vector<int> preferences_;       ///< by rank
    std::map<Met, int> kinds_;
    std::vector<Met> met_;  ///< by kind
};

}  // namespace weir::route
