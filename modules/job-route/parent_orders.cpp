// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ParentRole's orders on their way to the children: what only this side knows is put into them.
#include "modules/job-route/jobspec_edit.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/parent_role.hpp"

namespace weir::route {

void ParentRole::send_orders(std::vector<std::pair<JobId, Order>> orders) {
    std::map<JobId, OrdersText> by_child;
    for (auto& [child, order] : orders) {
        const auto session = sessions_.find(child);
        if (session == sessions_.end()) {
            continue;
        }
        if (order.kind == Order::Kind::submit && order.output.empty()) {
            order.output = output_of(order.id);
        }
        if (order.kind == Order::Kind::submit) {
            order.jobspec = with_ranks(order.jobspec, session->second.resources);
        }
        by_child[child].add(order);
    }
    for (auto& [child, message] : by_child) {
        flux::respond_text(h_, sessions_.at(child).request.get(), message.text());
    }
}

/// The name that the embedded job-exec gives to files, without its suffix.
std::string ParentRole::output_of(JobId id) const {
    char name[64];
    const bool is_named = !output_dir_.empty() && flux_job_id_encode(id.value, "f58plain", name, sizeof(name)) == 0;
    return is_named ? output_dir_ + "/" + name : std::string();
}

}  // namespace weir::route
