// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the builtin plugin ".priority-default": a job keeps the priority it was created with, the first job of the
//   instance the highest, each later one one less.
// Must not know: other plugins. Held and expedited jobs are the manager's business (RFC 30).
#include "broker/services/job-manager/jobtap/priority_default.hpp"

#include "broker/services/job-manager/jobtap/jobtap.hpp"

namespace weir::broker::jobs {
namespace {

int give_priority(flux_plugin_t* plugin, const char*, flux_plugin_arg_t* args, void*) {
    auto* host = static_cast<Jobtap*>(flux_plugin_aux_get(plugin, "flux::jobtap"));
    const Job* job = host != nullptr ? host->current() : nullptr;
    if (job == nullptr) {
        return -1;
    }
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:I}", "priority",
                                static_cast<json_int_t>(default_priority(job->sequence)));
}

}  // namespace

int priority_default_init(flux_plugin_t* plugin) {
    return flux_plugin_add_handler(plugin, "job.state.priority", give_priority, nullptr) < 0 ||
                   flux_plugin_add_handler(plugin, "job.priority.get", give_priority, nullptr) < 0
               ? -1
               : 0;
}

}  // namespace weir::broker::jobs
