// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a jobtap plugin that has a job's priority from its jobspec (attributes.user.place: 0 is the first), and does
// nothing else. burst.py loads it to see what an order of starts costs Flux itself.
#include <flux/core.h>
#include <flux/jobtap.h>
#include <jansson.h>

namespace {

constexpr json_int_t priority_of_the_first = 4294967294;  // FLUX_JOB_PRIORITY_MAX is for expedited jobs

int priority_cb(flux_plugin_t* /*p*/, const char* /*topic*/, flux_plugin_arg_t* args, void* /*arg*/) noexcept {
    json_int_t place = 0;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:{s:{s:{s:I}}}}", "jobspec", "attributes", "user", "place",
                               &place) < 0) {
        return -1;
    }
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:I}", "priority", priority_of_the_first - place);
}

}  // namespace

extern "C" int flux_plugin_init(flux_plugin_t* p) {
    return flux_plugin_set_name(p, "given-order") < 0 ||
                   flux_plugin_add_handler(p, "job.state.priority", priority_cb, nullptr) < 0 ||
                   flux_plugin_add_handler(p, "job.priority.get", priority_cb, nullptr) < 0
               ? -1
               : 0;
}
