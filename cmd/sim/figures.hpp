// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one list of figures that a comparison shows: key, name, unit, which way is better, and what it means.
// Table, JSON and HTML read it, so that they cannot disagree. Must not know where figures go.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cmd/sim/comparison.hpp"

namespace weir::cmd {

enum class Unit { seconds, number, part, count };
enum class Better { lower, higher, neither };

struct Figure {
    const char* key;      ///< in JSON, with its unit
    const char* name;     ///< in tables
    const char* meaning;  ///< one line
    Unit unit;
    Better better;
    bool is_main;  ///< shown where there is room for a few only
    std::optional<double> (*of)(const Measured&);
    /// The 95 % interval of the figure of all jobs, for one that may be of a sample; nullptr: it never is.
    std::optional<Interval> (*interval)(const Measured&) = nullptr;
};

const std::vector<Figure>& figures();
/// "6h 12m", "2.35", "41.2 %", "1 204"; "-" for none; with its interval, where it is of a sample:
/// "9.0 % (4.8 % to 16.2 %)".
std::string figure_text(const Figure& figure, const Measured& policy);
/// The policy that is best in a figure; none where it has no better, not exactly one is best, the best one's interval
/// and another's overlap, or not all policies have the figure of a whole replay of as many jobs.
std::optional<std::size_t> best(const Figure& figure, const std::vector<Measured>& policies);

}  // namespace weir::cmd
