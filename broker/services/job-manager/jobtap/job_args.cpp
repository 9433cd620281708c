// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see job_args.hpp.
#include "broker/services/job-manager/jobtap/job_args.hpp"

#include <jansson.h>

#include <new>
#include <utility>

#include "broker/api/plugin_arg.hpp"

namespace weir::broker::jobs {

/// Whether a plugin holds one of the values, which may therefore not change.
bool JobArgs::Set::is_kept() const {
    for (const json_t* value : {id, userid, urgency, state, priority, t_submit}) {
        if (value->refcount != 1) {
            return true;
        }
    }
    return false;
}

void JobArgs::Set::put(const Job& job) {
    json_integer_set(id, static_cast<json_int_t>(job.id));
    json_integer_set(userid, static_cast<json_int_t>(job.userid));
    json_integer_set(urgency, job.urgency);
    json_integer_set(state, bit(job.state));
    json_integer_set(priority, job.priority);
    json_real_set(t_submit, static_cast<double>(job.t_submit_us()) / 1e6);
}

JobArgs::Set JobArgs::fresh() {
    PluginArgs args(flux_plugin_arg_create());
    if (!args ||
        flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:i s:i s:i s:i s:i s:f}", "id", 0, "userid", 0,
                             "urgency", 0, "state", 0, "priority", 0, "t_submit", 0.) < 0 ||
        flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_OUT, "{}") < 0) {
        throw std::bad_alloc();
    }
    json_t* in = plugin_arg_seal(args.get());
    const auto value = [in](const char* key) { return json_object_get(in, key); };
    return {std::move(args), value("id"),       value("userid"),  value("urgency"),
            value("state"),  value("priority"), value("t_submit")};
}

JobArgs::Lease JobArgs::lease(const Job& job, MoreArgs more) {
    Set set;
    if (free_.empty()) {
        set = fresh();
    } else {
        set = std::move(free_.back());
        free_.pop_back();
    }
    set.put(job);
    plugin_arg_defer(set.args.get(), std::move(more));
    return Lease(*this, std::move(set));
}

JobArgs::Lease::~Lease() {
    if (plugin_arg_renew(set_.args.get()) && !set_.is_kept()) {
        pool_.free_.push_back(std::move(set_));
    }
}

PluginArgs JobArgs::make(const Job& job, MoreArgs more) {
    Set set = fresh();
    set.put(job);
    plugin_arg_defer(set.args.get(), std::move(more));
    return std::move(set.args);
}

}  // namespace weir::broker::jobs
