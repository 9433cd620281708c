// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the same layer for jobtap plugins, whose callbacks get a plugin and arguments. Apart from flux_cpp.hpp because
// the flux_jobtap_* symbols exist inside a job-manager only. flux-jobtap-plugins(7).
#pragma once
#include <flux/jobtap.h>

#include "modules/common/flux_cpp.hpp"

namespace weir::flux {

/// A plugin callback: `int T::method(flux_plugin_t*, flux_plugin_arg_t*)`. The object was given as the handler's data.
/// An exception is logged and returns -1 with errno; for job.validate use flux_jobtap_reject_job with a sentence
/// instead.
template <auto Method>
int on_plugin(flux_plugin_t* p, const char* topic, flux_plugin_arg_t* args, void* data) {
    using T = typename detail::member<decltype(Method)>::object;
    int result = -1;
    if (guard(flux_jobtap_get_flux(p), topic, [&] { result = (static_cast<T*>(data)->*Method)(p, args); }) < 0) {
        return -1;
    }
    return result;
}

}  // namespace weir::flux
