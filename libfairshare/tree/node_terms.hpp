// SPDX-License-Identifier: LGPL-3.0-only
// Owns: rare properties of nodes: shares in one partition, fair-share targets, limits, projects. Must not know: trees,
// text formats, what enforces a limit.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir {

/// Shares of a node in one partition, which replace its own there. Source: Moab's `SHARES=10,20@p1`.
struct PartitionShares {
    std::string partition;
    std::uint32_t shares = 0;
    friend bool operator==(const PartitionShares&, const PartitionShares&) = default;
};

/// Moab's suffixes: 16.5 to be met, 16.5+ a floor (only raises), 16.5- a ceiling (only lowers), 10% a cap in percent of
/// what is delivered, 16500^ a cap in units of usage over the whole history.
enum class TargetKind : std::uint8_t { target, floor, ceiling, relative_cap, absolute_cap };

/// One of a node's targets. `value`: percent, 0 to 100, but for absolute_cap; never negative, never NaN.
struct FairShareTarget {
    TargetKind kind = TargetKind::target;
    double value = 0;
    friend bool operator==(const FairShareTarget&, const FairShareTarget&) = default;
};
/// "16.5+"; to_target() of it is the same target to the last bit.
std::string to_string(const FairShareTarget& target);
/// None unless the text is a number of at least 0 (at most 100 in percent) with at most one suffix.
std::optional<FairShareTarget> to_target(std::string_view text);

/// What a limit counts, over the node and all below it.
enum class LimitKind : std::uint8_t {
    running_jobs,  ///< jobs that run
    active_jobs,   ///< jobs that wait or run
    nodes,         ///< nodes in use
    cores,         ///< cores in use
    wall_time,     ///< of each job, seconds
    usage,         ///< decayed usage, core-seconds
    usage_part,    ///< decayed usage, in millionths of the root's
    charged,       ///< usage that does not decay, core-seconds
    charged_part,  ///< usage that does not decay, in millionths of the root's
};
inline constexpr std::size_t limit_kinds = 9;

/// A job may exceed a soft limit while no other job waits. It never exceeds a hard limit.
struct Limit {
    LimitKind kind = LimitKind::running_jobs;
    std::uint64_t hard = 0;
    std::optional<std::uint64_t> soft;  ///< at most `hard`
    friend bool operator==(const Limit&, const Limit&) = default;
};

/// The projects that jobs of the node and of those below it may name; it replaces such a list further up. `names`: at
/// least one, no two equal, each a project_error() without error. Source: flux-accounting's association_table.
struct Projects {
    std::vector<std::string> names;
    friend bool operator==(const Projects&, const Projects&) = default;
};
/// The project of a job that names none, where it is not the first of the list: one of the node's Projects.
struct DefaultProject {
    std::string name;
    friend bool operator==(const DefaultProject&, const DefaultProject&) = default;
};
/// Among projects: that of a job without one.
inline constexpr std::string_view no_project = "*";
/// Why the text cannot name a project; empty: it can. 1 to 255 bytes without commas, quotes and control characters.
std::string project_error(std::string_view name);

using NodeTerm = std::variant<PartitionShares, FairShareTarget, Limit, Projects, DefaultProject>;
/// The first of that alternative; null: none.
template <typename Term>
const Term* term_of(std::span<const NodeTerm> terms) {
    for (const NodeTerm& term : terms) {
        if (const auto* found = std::get_if<Term>(&term)) {
            return found;
        }
    }
    return nullptr;
}
/// The order of a node's terms: partitions by name, targets by kind, limits by kind, projects, their default. Two terms
/// that are equal in this order exclude one another.
bool comes_before(const NodeTerm& a, const NodeTerm& b);

/// The key of a limit in text: "running_jobs_max", …, "usage_max" for usage and usage_part.
std::string_view limit_key(LimitKind kind);
/// One value of a limit as text has it: a number, a time ("36h", "90s"), a core-time ("1000h"), a part ("2.5%").
std::string limit_text(LimitKind kind, std::uint64_t value);
/// The inverse for one key: kind and value. A time or core-time is a whole number of s, m, h or d.
std::optional<std::pair<LimitKind, std::uint64_t>> to_limit(std::string_view key, std::string_view text);

}  // namespace weir
