// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the declarations of the broker's own small services, each a set of methods added to the router.
// Must not know the methods' insides.
#pragma once
#include <functional>

#include "broker/core/attributes.hpp"
#include "broker/core/module_host.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

/// attr.get, attr.list, attr.set, attr.rm.
void add_attr_service(Router& router, Attributes& attributes);
/// event.publish, event.subscribe, event.unsubscribe, service.add, service.remove.
void add_event_service(Router& router);
/// module.load, module.remove, module.list, module.status. ModuleTrace has the others.
void add_module_service(Router& router, ModuleHost& host);

struct BrokerHooks {
    std::function<double()> now;                                   // seconds since the epoch, instance's clock
    std::function<double()> run_time;                              // seconds since the instance has been up
    std::function<const char*()> state;                            // "init", "run", "shutdown"
    std::function<void(std::function<void()> stopped)> shut_down;  // calls back, if it can, when the modules have ended
    std::function<void()> waiter_left;                             // a client that asked for the end
    std::function<void(std::function<void()> running)> when_running;  // calls back when all modules are loaded
    std::function<Json()> stats;
};
/// broker.ping, .stats-get, .rusage, .shutdown, .wait-read; shutdown.start; state-machine.get, .wait; groups.get;
/// overlay.health, .topology.
void add_broker_service(Router& router, BrokerHooks hooks);

}  // namespace weir::broker
