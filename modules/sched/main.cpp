// SPDX-License-Identifier: LGPL-3.0-only
// Owns: mod_main of sched-weir-fcfs and sched-weir-easy; WEIR_SCHED_POLICY, set by the build, is their only difference.
// RFC 5.
#include <vector>

#include "modules/sched/sched_module.hpp"

extern "C" __attribute__((visibility("default"))) int mod_main(flux_t* h, int argc, char** argv) {
    return weir::flux::guard(h, "mod_main", [&] {
        using namespace weir::sched;
        const std::vector<std::string_view> arguments(argv, argv + argc);
        SchedModule module(h,
                           weir::flux::value_or_throw(settings_of(*weir::policy_named(WEIR_SCHED_POLICY), arguments)));
        if (flux_reactor_run(flux_get_reactor(h), 0) < 0) {
            weir::flux::fail_errno("the reactor was stopped");
        }
    });
}
