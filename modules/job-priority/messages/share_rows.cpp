// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which nodes are shown, in which order.
#include "modules/job-priority/messages/share_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "modules/job-priority/messages/metrics_view.hpp"
#include "modules/job-priority/messages/views.hpp"

namespace weir::priority {
namespace {

constexpr std::array<std::pair<std::string_view, RowOrder>, 6> order_names{{{"tree", RowOrder::listed},
                                                                            {"name", RowOrder::name},
                                                                            {"used", RowOrder::used},
                                                                            {"ratio", RowOrder::ratio},
                                                                            {"running", RowOrder::running},
                                                                            {"waiting", RowOrder::waiting}}};

/// The nodes of one answer, as they are found.
class ShownRows {
  public:
    ShownRows(const VisiblePart& part, const RowsQuery& query)
        : part_(part),
          service_(part.service()),
          tree_(service_.accounting().tree()),
          query_(query),
          pending_(pending_by_node(service_)),
          known_(known_nodes(service_)),
          is_open_(tree_.size(), 0) {}

    void open_levels();
    void match_names();

    Json rows() const;
    std::size_t left_out() const { return left_out_; }

  private:
    bool is_shown(NodeId node) const {
        return tree_.kind(node) != NodeKind::any_member && node.value < known_ && part_.has(node);
    }
    Json sum_row(const VisiblePart::Others& others) const;
    bool has_below(NodeId node) const {
        const auto children = tree_.children(node);
        return std::any_of(children.begin(), children.end(), [&](NodeId child) { return is_shown(child); });
    }
    double key(NodeId node) const;
    /// At most `room` of the nodes, in the requested order.
    void arrange(std::vector<NodeId>& nodes, std::size_t room);
    /// Whether all children of these fit: then they are in `below`.
    bool take_level(const std::vector<NodeId>& parents, std::vector<NodeId>& below) const;
    void take_children(NodeId parent, std::vector<NodeId>& below);

    const VisiblePart& part_;
    const PriorityService& service_;
    const ShareTree& tree_;
    const RowsQuery& query_;
    std::vector<long long> pending_;
    std::size_t known_;
    std::vector<char> is_open_;
    std::vector<NodeId> shown_;
    std::size_t left_out_ = 0;
};

double ShownRows::key(NodeId node) const {
    const double used = core_seconds(service_.ranking().shares().measured().usage.usage[node.value]);
    const double entitled = tree_.entitled_share(node);
    switch (query_.order) {
        case RowOrder::used:
            return used;
        case RowOrder::ratio:
            return entitled > 0 ? used / entitled : used > 0 ? std::numeric_limits<double>::infinity() : 0;
        case RowOrder::running:
            return static_cast<double>(service_.accounting().ledger().rate(node));
        case RowOrder::waiting:
            return static_cast<double>(pending_[node.value]);
        case RowOrder::listed:
        case RowOrder::name:
            break;
    }
    return 0;
}

void ShownRows::arrange(std::vector<NodeId>& nodes, std::size_t room) {
    if (query_.order == RowOrder::name) {
        std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
            return std::pair(tree_.component(a), a.value) < std::pair(tree_.component(b), b.value);
        });
    } else if (query_.order != RowOrder::listed) {
        std::vector<std::pair<double, NodeId>> keyed;
        for (const NodeId node : nodes) {
            keyed.emplace_back(-key(node), node);
        }
        const std::size_t kept = std::min(room, keyed.size());
        std::partial_sort(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(kept), keyed.end(),
                          [](const auto& a, const auto& b) {
                              return std::pair(a.first, a.second.value) < std::pair(b.first, b.second.value);
                          });
        for (std::size_t i = 0; i < kept; ++i) {
            nodes[i] = keyed[i].second;
        }
    }
    left_out_ += nodes.size() - std::min(room, nodes.size());
    nodes.resize(std::min(room, nodes.size()));
}

bool ShownRows::take_level(const std::vector<NodeId>& parents, std::vector<NodeId>& below) const {
    const std::size_t room = query_.limit - shown_.size();
    for (const NodeId parent : parents) {
        for (const NodeId node : tree_.children(parent)) {
            if (is_shown(node)) {
                below.push_back(node);
            }
            if (below.size() > room) {
                return false;
            }
        }
    }
    return true;
}

void ShownRows::take_children(NodeId parent, std::vector<NodeId>& below) {
    std::vector<NodeId> nodes;
    for (const NodeId node : tree_.children(parent)) {
        if (is_shown(node)) {
            nodes.push_back(node);
        }
    }
    arrange(nodes, query_.limit - shown_.size());
    is_open_[parent.value] = 1;
    below.insert(below.end(), nodes.begin(), nodes.end());
    shown_.insert(shown_.end(), nodes.begin(), nodes.end());
}

void ShownRows::open_levels() {
    std::vector<NodeId> level{root_node};
    bool is_whole = true;
    for (bool is_top = true; !level.empty(); is_top = false) {
        std::vector<NodeId> ignored;
        std::vector<NodeId> parents;
        std::copy_if(level.begin(), level.end(), std::back_inserter(parents),
                     [&](NodeId node) { return query_.shut.count(tree_.path(node)) == 0; });
        is_whole = is_whole && take_level(parents, ignored);
        std::vector<NodeId> below;
        for (const NodeId parent : parents) {
            if (is_top || is_whole || query_.open.count(tree_.path(parent)) != 0) {
                take_children(parent, below);
            }
        }
        level = std::move(below);
    }
}

void ShownRows::match_names() {
    std::vector<char> is_wanted(tree_.size(), 0);
    std::size_t wanted = 0;
    for (std::uint32_t index = 1; index < tree_.size(); ++index) {
        const NodeId node{index};
        if (!is_shown(node) || tree_.component(node).find(query_.match) == std::string_view::npos) {
            continue;
        }
        if (wanted >= query_.limit) {
            left_out_ += 1;
            continue;
        }
        for (NodeId above = node; above != root_node && is_wanted[above.value] == 0; above = tree_.parent(above)) {
            is_wanted[above.value] = 1;
            wanted += 1;
        }
    }
    std::vector<NodeId> level{root_node};
    while (!level.empty()) {
        std::vector<NodeId> below;
        for (const NodeId parent : level) {
            std::vector<NodeId> nodes;
            for (const NodeId node : tree_.children(parent)) {
                if (is_wanted[node.value] != 0) {
                    nodes.push_back(node);
                }
            }
            is_open_[parent.value] = nodes.empty() ? 0 : 1;
            arrange(nodes, nodes.size());
            below.insert(below.end(), nodes.begin(), nodes.end());
        }
        shown_.insert(shown_.end(), below.begin(), below.end());
        level = std::move(below);
    }
}

Json ShownRows::sum_row(const VisiblePart::Others& others) const {
    const Measured& measured = service_.ranking().shares().measured();
    const CoreMicros all = measured.usage.usage[root_node.value] + measured.usage.unassociated;
    CoreMicros usage = 0;
    double entitled = 0;
    long long shares = 0, cores = 0, jobs = 0;
    for (const NodeId node : others.nodes) {
        usage += node.value < known_ ? measured.usage.usage[node.value] : 0;
        entitled += tree_.entitled_share(node);
        shares += static_cast<long long>(tree_.shares(node));
        cores += static_cast<long long>(service_.accounting().ledger().rate(node));
        jobs += pending_[node.value];
    }
    Json row = Json::object();
    row.set("path", others.path).set("kind", "sum").set("entitled", entitled);
    row.set("used", all > 0 ? core_seconds(usage) / core_seconds(all) : 0.).set("usage_core_s", core_seconds(usage));
    row.set("level_fs", Json::own(json_null())).set("factor", Json::own(json_null())).set("running_cores", cores);
    row.set("shares", shares).set("pending_jobs", jobs);
    return std::move(row.set("has_below", false).set("is_open", false));
}

Json ShownRows::rows() const {
    Json rows = Json::array();
    for (const NodeId node : shown_) {
        Json row = metric_node(service_, node);
        row.set("shares", static_cast<long long>(tree_.shares(node)));
        row.set("pending_jobs", pending_[node.value]).set("has_below", has_below(node));
        row.set("is_open", is_open_[node.value] != 0);
        rows.append(std::move(row));
    }
    for (const VisiblePart::Others& others : part_.others()) {
        if (is_open_[others.above.value] != 0 && known_ > 0) {
            rows.append(sum_row(others));
        }
    }
    return rows;
}

}  // namespace

std::optional<RowOrder> row_order_of(std::string_view name) {
    const auto found =
        std::find_if(order_names.begin(), order_names.end(), [&](const auto& known) { return known.first == name; });
    return found == order_names.end() ? std::nullopt : std::optional(found->second);
}

Json share_rows_view(const VisiblePart& part, const RowsQuery& query) {
    const PriorityService& service = part.service();
    ShownRows shown(part, query);
    if (query.match.empty()) {
        shown.open_levels();
    } else {
        shown.match_names();
    }
    const FairShares& shares = service.ranking().shares();
    Json view = Json::object();
    view.set("revision", static_cast<long long>(service.trees().in_force().revision));
    view.set("evaluated_at",
             shares.evaluations() > 0 ? Json::real(to_seconds(shares.measured().usage.at)) : Json::own(json_null()));
    const std::size_t of =
        part.is_all() ? service.accounting().tree().size() - 1 : part.nodes().size() + part.others().size();
    view.set("rows", shown.rows()).set("of", static_cast<long long>(of));
    return std::move(view.set("left_out", static_cast<long long>(shown.left_out())));
}

std::string share_rows_version(const PriorityService& service) {
    const ServiceCounts& counts = service.counts();
    return std::to_string(counts.events + service.children().records()) + "." + std::to_string(counts.passes) + "." +
           std::to_string(service.ranking().shares().evaluations()) + "." +
           std::to_string(service.trees().in_force().revision);
}

}  // namespace weir::priority
