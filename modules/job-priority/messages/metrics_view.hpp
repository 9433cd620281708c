// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the part of job-priority.metrics that is about shares and waits. It reads the last evaluation and evaluates
// nothing, and keeps what did not change, so that it may be asked every second.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// The most paths in an answer: a monitoring system keeps every path for months.
inline constexpr std::size_t metric_paths_max = 2000;

/// The last evaluation has the ids below this; nodes that the tree got since are not in it.
std::size_t known_nodes(const PriorityService& service);
/// What the last evaluation says of a node.
struct NodeFigures {
    double used = 0, usage_core_s = 0;
    std::optional<double> level_fs, factor;
};
/// REQUIRES: node.value < known_nodes(). O(depth).
NodeFigures node_figures(const PriorityService& service, NodeId node);
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
/// Appends the shortest text that reads back as this number, with a point or an exponent as jansson has it; null for
/// no_number.
void append_number(std::string& text, double value);
/// One of the known nodes. O(depth).
Json metric_node(const PriorityService& service, NodeId node);

struct MetricsQuery {
    std::size_t depth = 2;    ///< levels below the root
    bool with_users = false;  ///< leaves, too
    friend bool operator==(const MetricsQuery&, const MetricsQuery&) = default;
};

/// Answers as JSON text. Monitoring systems ask the same each second. The paths are found and written when the tree
/// changes, the figures once for each evaluation, and the cores that jobs have for each answer.
class MetricsView {
  public:
    /// {`more`'s members, revision, evaluated_at, left_out, visited, written, waits: {bounds_s, counts, sum_s}, nodes:
    /// [{path, kind, entitled, used, usage_core_s, level_fs, factor, running_cores}]}. Nodes breadth first, at most
    /// metric_paths_max; `left_out`: those beyond; `visited`: nodes looked at, and `written`: nodes whose figures were
    /// written, for this answer. A level_fs that is infinite is null, as is the factor of an account that has none.
    /// O(paths); when the tree has changed O(children of the accounts above `depth`).
    std::string text(const PriorityService& service, const MetricsQuery& query, Json more = Json::object());

  private:
    struct Paths {
        MetricsQuery query;
        std::uint64_t tree_version = 0, evaluation = 0;
        std::uint32_t tree_size = 0;
        std::vector<NodeId> nodes;
        std::vector<std::string> names;    ///< by node: the members that change with the tree alone
        std::vector<std::string> figures;  ///< by node: those of one evaluation
        std::size_t left_out = 0;
    };
    /// The paths of the query; found again after a change of the tree. Adds to `visited`.
    Paths& paths_of(const PriorityService& service, const MetricsQuery& query, std::size_t& visited);
    static void find_paths(const PriorityService& service, Paths& paths, std::size_t& visited);
    static void write_figures(const PriorityService& service, Paths& paths, std::size_t& written);

    std::vector<Paths> kept_;  ///< at most two, the last one asked for at the end
};

}  // namespace weir::priority
