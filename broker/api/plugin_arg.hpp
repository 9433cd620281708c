// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_plugin_arg_t for the caller of plugins: IN values that are computed only when a plugin reads them, and
//   arguments that serve one call after another.
// Must not know keys or plugins.
#pragma once
#include <flux/jobtap.h>
#include <jansson.h>

#include <functional>

namespace weir::broker {

/// Adds an IN value to `args` that is expensive to compute. `make` is called at most once: before the first access that
/// may need it, which is any whose plain IN values do not suffice, whose format has optional keys, or that takes IN as
/// a whole. It returns a new reference to a JSON object, which is merged into IN; nullptr adds nothing. What `make`
/// refers to must outlive `args`.
void plugin_arg_defer(flux_plugin_arg_t* args, std::function<json_t*()> make);
/// The output of the plugins: an object, or null. Borrowed.
const json_t* plugin_arg_out(const flux_plugin_arg_t* args);
/// Resets `args` for another call: OUT is an empty object, nothing is deferred, IN is as it was packed. \return false
/// if a call added to IN or kept a reference to it; then the caller destroys `args`.
bool plugin_arg_renew(flux_plugin_arg_t* args);
/// From here on, what is packed into IN counts as an addition. Returns IN, borrowed; null when it is empty.
json_t* plugin_arg_seal(flux_plugin_arg_t* args);

}  // namespace weir::broker
