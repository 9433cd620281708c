// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the walk over the upper levels of the tree, and the text of its nodes.
#include "modules/job-priority/messages/metrics_view.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/json/text_writer.hpp"

namespace weir::priority {
namespace {

Json optional_real(const std::optional<double>& value) {
    return value ? Json::real(*value) : Json::own(json_null());
}

constexpr std::size_t queries_kept = 2;

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

NodeFigures node_figures(const PriorityService& service, NodeId node) {
    const ShareTree& tree = service.accounting().tree();
    const FairShares& shares = service.ranking().shares();
    const Measured& measured = shares.measured();
    const CoreMicros all = measured.usage.usage[root_node.value] + measured.usage.unassociated;
    const CoreMicros own = measured.usage.usage[node.value];
    const NodeStanding standing = node_standing(shares.algorithm(), tree, measured.measures(), node);
    return {all > 0 ? core_seconds(own) / core_seconds(all) : 0., core_seconds(own), standing.level_fs,
            tree.is_association(node) ? std::optional(shares.standings().factor[node.value]) : standing.factor};
}

void append_number(std::string& text, double value) {
    if (!std::isfinite(value)) {
        text += "null";
        return;
    }
    std::array<char, 32> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view number(digits.data(), static_cast<std::size_t>(end - digits.data()));
    text += number;
    text += number.find_first_of(".e") == std::string_view::npos ? ".0" : "";
}

std::size_t known_nodes(const PriorityService& service) {
    const FairShares& shares = service.ranking().shares();
    return std::min(shares.measured().usage.usage.size(), shares.standings().factor.size());
}

Json metric_node(const PriorityService& service, NodeId node) {
    const ShareTree& tree = service.accounting().tree();
    const NodeFigures figures = node_figures(service, node);
    Json view = Json::object();
    view.set("path", tree.path(node)).set("kind", to_string(tree.kind(node)));
    view.set("entitled", tree.entitled_share(node)).set("used", figures.used);
    view.set("usage_core_s", figures.usage_core_s);
    view.set("level_fs", optional_real(figures.level_fs)).set("factor", optional_real(figures.factor));
    view.set("running_cores", static_cast<long long>(service.accounting().ledger().rate(node)));
    return view;
}

namespace {

/// The beginning of a node's object, which its figures follow.
std::string head_of(const ShareTree& tree, NodeId node) {
    std::string entitled;
    append_number(entitled, tree.entitled_share(node));
    ObjectText whole;
    whole.set("path", tree.path(node)).set("kind", to_string(tree.kind(node))).splice("entitled", entitled);
    std::string head = whole.text();
    head.pop_back();
    return head;
}

}  // namespace

void MetricsView::find_paths(const PriorityService& service, Paths& paths, std::size_t& visited) {
    const ShareTree& tree = service.accounting().tree();
    const std::size_t known = known_nodes(service);
    std::vector<NodeId> level{root_node};
    for (std::size_t depth = 1; depth <= paths.query.depth && !level.empty(); ++depth) {
        std::vector<NodeId> below;
        for (const NodeId parent : level) {
            for (const NodeId node : tree.children(parent)) {
                visited += 1;
                const bool is_user = tree.is_association(node) && !tree.is_account(node);
                if (tree.kind(node) == NodeKind::any_member || (is_user && !paths.query.with_users) ||
                    node.value >= known) {
                    continue;
                }
                if (paths.nodes.size() == metric_paths_max) {
                    paths.left_out += 1;
                    continue;
                }
                paths.nodes.push_back(node);
                paths.names.push_back(head_of(tree, node));
                below.push_back(node);
            }
        }
        level = std::move(below);
    }
}

MetricsView::Paths& MetricsView::paths_of(const PriorityService& service, const MetricsQuery& query,
                                          std::size_t& visited) {
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const Paths& paths) { return paths.query == query; });
    Paths paths;
    if (found != kept_.end()) {
        paths = std::move(*found);
        kept_.erase(found);
    } else if (kept_.size() == queries_kept) {
        kept_.erase(kept_.begin());
    }
    const std::uint64_t version = service.accounts_version();
    const auto size = static_cast<std::uint32_t>(known_nodes(service));
    if (paths.names.empty() || paths.tree_version != version || paths.tree_size != size) {
        paths = {query, version, 0, size, {}, {}, {}, 0};
        find_paths(service, paths, visited);
    }
    kept_.push_back(std::move(paths));
    return kept_.back();
}

void MetricsView::write_figures(const PriorityService& service, Paths& paths, std::size_t& written) {
    const FairShares& shares = service.ranking().shares();
    if (paths.figures.size() == paths.nodes.size() && paths.evaluation == shares.evaluations()) {
        return;
    }
    paths.evaluation = shares.evaluations();
    paths.figures.resize(paths.nodes.size());
    for (std::size_t i = 0; i < paths.nodes.size(); ++i) {
        const NodeFigures figures = node_figures(service, paths.nodes[i]);
        std::string& text = paths.figures[i];
        text = ",\"used\":";
        append_number(text, figures.used);
        text += ",\"usage_core_s\":";
        append_number(text, figures.usage_core_s);
        text += ",\"level_fs\":";
        append_number(text, figures.level_fs.value_or(no_number));
        text += ",\"factor\":";
        append_number(text, figures.factor.value_or(no_number));
        text += ",\"running_cores\":";
        written += 1;
    }
}

std::string MetricsView::text(const PriorityService& service, const MetricsQuery& query, Json more) {
    std::size_t visited = 0, written = 0;
    Paths& paths = paths_of(service, query, visited);
    write_figures(service, paths, written);
    const FairShares& shares = service.ranking().shares();
    more.set("revision", static_cast<long long>(service.trees().in_force().revision));
    more.set("evaluated_at",
             known_nodes(service) > 0 ? Json::real(to_seconds(shares.measured().usage.at)) : Json::own(json_null()));
    more.set("left_out", static_cast<long long>(paths.left_out)).set("waits", waits_view(service.charges().waits()));
    more.set("visited", static_cast<long long>(visited)).set("written", static_cast<long long>(written));
    std::string text = more.dump();
    text.back() = ',';
    text += "\"nodes\":[";
    const UsageLedger& ledger = service.accounting().ledger();
    for (std::size_t i = 0; i < paths.nodes.size(); ++i) {
        text += i == 0 ? "" : ",";
        text += paths.names[i];
        text += paths.figures[i];
        text += std::to_string(ledger.rate(paths.nodes[i]));
        text += '}';
    }
    return text += "]}";
}

}  // namespace weir::priority
