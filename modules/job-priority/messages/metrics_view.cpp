// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the walk over the upper levels of the tree.
#include "modules/job-priority/messages/metrics_view.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weir::priority {
namespace {

Json optional_real(const std::optional<double>& value) {
    return value ? Json::real(*value) : Json::own(json_null());
}

Json metric_node(const PriorityService& service, NodeId node) {
    const ShareTree& tree = service.accounting().tree();
    const FairShares& shares = service.ranking().shares();
    const Measured& measured = shares.measured();
    const CoreMicros all = measured.usage.usage[root_node.value] + measured.usage.unassociated;
    const CoreMicros own = measured.usage.usage[node.value];
    const NodeStanding standing = node_standing(shares.algorithm(), tree, measured.measures(), node);
    const std::optional<double> factor =
        tree.is_association(node) ? std::optional(shares.standings().factor[node.value]) : standing.factor;
    Json view = Json::object();
    view.set("path", tree.path(node)).set("kind", to_string(tree.kind(node)));
    view.set("entitled", tree.entitled_share(node));
    view.set("used", all > 0 ? core_seconds(own) / core_seconds(all) : 0.);
    view.set("usage_core_s", core_seconds(own));
    view.set("level_fs", optional_real(standing.level_fs)).set("factor", optional_real(factor));
    view.set("running_cores", static_cast<long long>(service.accounting().ledger().rate(node)));
    return view;
}

Json waits_view(const WaitHistogram& waits) {
    Json bounds = Json::array(), counts = Json::array();
    for (const double bound : WaitHistogram::bounds_s) {
        bounds.append(Json::real(bound));
    }
    for (const std::uint64_t count : waits.counts) {
        counts.append(Json::integer(static_cast<json_int_t>(count)));
    }
    Json view = Json::object();
    view.set("bounds_s", std::move(bounds)).set("counts", std::move(counts)).set("sum_s", waits.sum_s);
    return view;
}

}  // namespace

Json metrics_view(const PriorityService& service, const MetricsQuery& query) {
    const ShareTree& tree = service.accounting().tree();
    const FairShares& shares = service.ranking().shares();
    // A tree that has grown since the last evaluation has nodes of which that knows nothing.
    const std::size_t known = std::min(shares.measured().usage.usage.size(), shares.standings().factor.size());
    Json nodes = Json::array();
    std::size_t shown = 0, left_out = 0, visited = 0;
    std::vector<NodeId> level{root_node};
    for (std::size_t depth = 1; depth <= query.depth && !level.empty(); ++depth) {
        std::vector<NodeId> below;
        for (const NodeId parent : level) {
            for (const NodeId node : tree.children(parent)) {
                visited += 1;
                const bool is_leaf = tree.is_association(node);
                if (tree.kind(node) == NodeKind::any_member ||
                    (is_leaf && !tree.is_account(node) && !query.with_users) || node.value >= known) {
                    continue;
                }
                if (shown == metric_paths_max) {
                    left_out += 1;
                    continue;
                }
                shown += 1;
                nodes.append(metric_node(service, node));
                below.push_back(node);
            }
        }
        level = std::move(below);
    }
    Json view = Json::object();
    view.set("revision", static_cast<long long>(service.trees().in_force().revision));
    view.set("evaluated_at", known > 0 ? Json::real(to_seconds(shares.measured().usage.at)) : Json::own(json_null()));
    view.set("nodes", std::move(nodes)).set("left_out", static_cast<long long>(left_out));
    view.set("visited", static_cast<long long>(visited)).set("waits", waits_view(service.counts().waits));
    return view;
}

}  // namespace weir::priority
