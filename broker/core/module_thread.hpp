// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a module's thread from its first to its last instruction: handle, default methods, mod_main, the final message
// to the router. Must not know the module host; talks to the router by messages alone. Source: RFC 5.
#pragma once
#include <flux/core.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker/api/connector.hpp"

namespace weir::broker {

/// The arguments of a module's start.
struct ModuleStart {
    std::string name;
    std::string uuid;
    std::unique_ptr<Connector> connector;  // the module's end of its channel
    int (*mod_main)(flux_t*, int, char**) = nullptr;
    std::vector<std::string> args;                  // argv[0] is the first argument (RFC 5)
    std::string config;                             // JSON object
    std::map<std::string, std::string> attributes;  // those that never change
};

/// How mod_main ended. `errnum` 0 means success.
struct ModuleEnd {
    int errnum = 0;
    std::string message;
};

/// Runs the module in the calling thread. No exception leaves it, not even one out of mod_main.
ModuleEnd run_module(ModuleStart start);

}  // namespace weir::broker
