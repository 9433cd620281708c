// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_figures.hpp.
#include "modules/job-priority/messages/share_figures.hpp"

#include "modules/job-priority/messages/metrics_view.hpp"
#include "modules/job-priority/messages/views.hpp"

namespace weir::priority {

std::string share_figures_text(const VisiblePart& part, const std::vector<std::string>& paths, Json more) {
    const PriorityService& service = part.service();
    const ShareTree& tree = service.accounting().tree();
    const UsageSnapshot& usage = service.ranking().shares().measured().usage;
    const std::size_t known = known_nodes(service);
    const std::vector<long long> pending = pending_by_node(service);
    more.set("revision", static_cast<long long>(service.trees().in_force().revision));
    more.set("of", static_cast<long long>(part.is_all() ? tree.size() - 1 : part.nodes().size()));
    more.set("all_core_s", known > 0 ? core_seconds(usage.usage[root_node.value] + usage.unassociated) : 0.);
    std::string text = more.dump();
    text.back() = ',';
    text += "\"figures\":[";
    for (std::size_t i = 0; i < paths.size(); ++i) {
        text += i == 0 ? "" : ",";
        const auto node = tree.find(paths[i]);
        if (!node || *node == root_node || node->value >= known || !part.has(*node)) {
            text += "null";
            continue;
        }
        const NodeFigures figures = node_figures(service, *node);
        text += "[" + std::to_string(tree.shares(*node));
        for (const double value : {tree.entitled_share(*node), figures.used, figures.usage_core_s,
                                   figures.level_fs.value_or(no_number), figures.factor.value_or(no_number)}) {
            text += ',';
            append_number(text, value);
        }
        text += "," + std::to_string(service.accounting().ledger().rate(*node));
        text += "," + std::to_string(pending[node->value]) + "]";
    }
    return text += "]}";
}

}  // namespace weir::priority
