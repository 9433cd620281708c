// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the past and the forecast of decayed usage, as parts of all usage, computed from the present ledger and the
// jobs that ran. Pure. Must not know how they are drawn. Times are seconds from now: the past is negative.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::cmd {

/// Cores of one job, for an association and all accounts above it.
struct UsageCharge {
    std::string path;  ///< "physics/@alice"; empty: charged to nobody
    double cores = 0;
    double begin_s = 0, end_s = 0;  ///< `end_s` is at most 0; a job that runs ends now
};
struct NodeUsage {
    std::string path;
    double entitled = 0;      ///< part of the machine
    double usage_core_s = 0;  ///< decayed, now
};
struct UsageInputs {
    std::vector<NodeUsage> nodes;  ///< those that are drawn
    double all_core_s = 0;         ///< decayed, now: of the whole tree and of unassociated
    std::vector<UsageCharge> charges;
    double half_life_s = 0;    ///< 0: usage does not decay
    double known_since_s = 0;  ///< `charges` has all jobs that ran since
};

/// A line: time, part of all usage.
using UsageLine = std::vector<std::pair<double, double>>;

class UsageLines {
  public:
    explicit UsageLines(UsageInputs inputs);

    /// Where the past begins: four half-lives ago (28 days without decay), or where the jobs no longer explain the
    /// usage. 0: unknown.
    double since_s() const { return since_s_; }
    /// Two half-lives; 14 days without decay.
    double until_s() const;
    /// `points` + 1 points at equal distances until now; empty if nothing is known. The last point is the ledger's.
    UsageLine past(std::size_t node, std::size_t points) const;
    /// The forecast of several nodes, none of them above another: one that is above its entitlement runs nothing from
    /// now on, the others and the rest of the tree keep the pace of the last half-life.
    std::vector<UsageLine> ahead(const std::vector<std::size_t>& nodes, std::size_t points) const;

  private:
    double before(std::size_t node, double at_s) const;
    double usage(std::size_t node) const;
    double pace(std::size_t node) const;

    UsageInputs inputs_;
    std::vector<std::vector<UsageCharge>> charges_;  ///< by node, that of all usage last
    double since_s_ = 0;
};

/// "4d 19h", without the sign.
std::string span_text(double seconds);
/// Where a line first meets `level`, between its points; nothing if it does not.
std::optional<double> meeting(const UsageLine& line, double level);

}  // namespace weir::cmd
