// SPDX-License-Identifier: LGPL-3.0-only
// Owns: mod_main of sched-fcfs and sched-backfill; WEIR_SCHED_POLICY, set by the build, is their only difference.
// RFC 5.
#include "modules/sched/sched_module.hpp"

extern "C" __attribute__((visibility("default"))) int mod_main(flux_t* h, int argc, char** argv) {
    return weir::flux::guard(h, "mod_main", [&] {
        if (argc > 0) {
            throw weir::flux::Failure(EINVAL,
                                      std::string("unknown argument \"") + argv[0] + "\": this module takes none");
        }
        weir::sched::SchedModule module(h, *weir::policy_named(WEIR_SCHED_POLICY));
        if (flux_reactor_run(flux_get_reactor(h), 0) < 0) {
            weir::flux::fail_errno("the reactor was stopped");
        }
    });
}
