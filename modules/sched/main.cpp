// SPDX-License-Identifier: LGPL-3.0-only
// Owns: mod_main of sched-fcfs and sched-backfill, and their arguments; WEIR_SCHED_POLICY, set by the build, is their
// only difference. RFC 5.
#include <span>

#include "modules/sched/sched_module.hpp"

namespace weir::sched {
namespace {

Settings settings_of(std::span<char*> arguments) {
    Settings settings{*policy_named(WEIR_SCHED_POLICY), NodeChoice::first};
    for (const std::string_view argument : arguments) {
        const std::size_t equals = argument.find('=');
        const std::string_view key = argument.substr(0, equals);
        const std::string_view value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
        if (key == "policy") {
            auto policy = policy_named(value);
            if (!policy) {
                throw flux::Failure(EINVAL, "\"" + std::string(argument) + "\": " + policy.error().message);
            }
            settings.policy = *policy;
            continue;
        }
        if (key != "node-choice") {
            throw flux::Failure(EINVAL, "unknown argument \"" + std::string(argument) +
                                            "\": this module takes policy= and node-choice=");
        }
        const auto choice = node_choice_named(value);
        if (!choice) {
            throw flux::Failure(EINVAL,
                                "\"" + std::string(argument) + "\": node-choice is first, best-fit or least-loaded");
        }
        settings.node_choice = *choice;
    }
    return settings;
}

}  // namespace
}  // namespace weir::sched

extern "C" __attribute__((visibility("default"))) int mod_main(flux_t* h, int argc, char** argv) {
    return weir::flux::guard(h, "mod_main", [&] {
        weir::sched::SchedModule module(h, weir::sched::settings_of({argv, static_cast<std::size_t>(argc)}));
        if (flux_reactor_run(flux_get_reactor(h), 0) < 0) {
            weir::flux::fail_errno("the reactor was stopped");
        }
    });
}
