// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the broker's functions on a Flux handle beyond <flux/core.h>: making one from a connector and preparing it for
// a module. Must not know transports or services. A handle, its reactor, futures and watchers belong to one thread.
#pragma once
#include <flux/core.h>
#include <jansson.h>

#include <functional>
#include <memory>
#include <string>

#include "broker/api/connector.hpp"

namespace weir::broker {

/// A handle on a connector; flags are FLUX_O_*. End it with flux_close. nullptr with errno.
flux_t* handle_create(std::unique_ptr<Connector> connector, int flags);
/// Sets what flux-core's module loader sets: aux "flux::name", "flux::uuid", and the log's application name.
void handle_set_identity(flux_t* h, const std::string& name, const std::string& uuid);
/// Puts an immutable broker attribute into the cache, so that flux_attr_get needs no RPC.
void handle_prime_attr(flux_t* h, const std::string& name, const std::string& value);
/// Sets the configuration flux_get_conf returns, from a JSON object (borrowed, copied deeply: handles live in different
/// threads). nullptr: an empty object. Returns 0, or -1 with errno.
int handle_set_conf(flux_t* h, const json_t* conf);
/// A configuration object for flux_set_conf_new; same rules. The caller owns one reference.
flux_conf_t* conf_create(const json_t* conf);
/// From now on `take` sees every message that is sent on the handle before it is sent. True: it has handled the
/// message, which is not sent. Empty: no function.
void handle_divert(flux_t* h, std::function<bool(const flux_msg_t&)> take);

}  // namespace weir::broker
