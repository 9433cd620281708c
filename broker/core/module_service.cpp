// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "module". Must not know how modules are run.
// Source: RFC 5.
#include <flux/core.h>

#include <cerrno>
#include <utility>

#include "broker/core/services.hpp"

namespace weir::broker {
namespace {

void load(ModuleHost& host, const Call& call) {
    const Json payload = call.payload();
    const auto path = payload.string_at("path");
    if (!path) {
        call.fail(EPROTO, "module.load takes {path:s, args:[s...], name?:s}");
        return;
    }
    if (payload.boolean_at("exec").value_or(false) || payload.at("loader")) {
        call.fail(EINVAL, "this broker runs modules in its own process only: leave --exec and --loader out");
        return;
    }
    LoadRequest request{*path, payload.string_at("name").value_or(""), {}};
    const Json args = payload.at("args");
    std::size_t i = 0;
    json_t* arg = nullptr;
    json_array_foreach(args.get(), i, arg) {
        if (!json_is_string(arg)) {
            call.fail(EPROTO, "a module's arguments are strings");
            return;
        }
        request.args.emplace_back(json_string_value(arg));
    }
    host.load(request, [call](const Status& how) { call.answer(how); });
}

void set_status(ModuleHost& host, const Call& call) {
    const Json status = call.payload().at("status");
    const json_int_t value = json_integer_value(status.get());
    if (!json_is_integer(status.get()) || value < 0 || value > 3) {
        call.fail(EPROTO, "module.status takes {status:i} with 0 to 3");
        return;
    }
    if (value < static_cast<int>(ModuleState::exited)) {  // the end of its thread is reported separately
        host.set_state(call.sender(), static_cast<ModuleState>(value));
    }
    call.respond();
}

}  // namespace

void add_module_service(Router& router, ModuleHost& host) {
    router.add_method("module.load", 0, [&host](const Call& call) { load(host, call); });
    router.add_method("module.remove", 0, [&host](const Call& call) {
        const auto name = call.payload().string_at("name");
        if (name) {
            host.remove(*name, [call](const Status& how) { call.answer(how); });
        } else {
            call.fail(EPROTO, "module.remove takes {name:s}");
        }
    });
    // Guest: reads which modules run and where their files are.
    router.add_method("module.list", FLUX_ROLE_USER, [&host](const Call& call) {
        const Json mods = host.list();
        call.respond(Json::own(json_pack("{s:O}", "mods", mods.get())));
    });
    router.add_method("module.status", 0, [&host](const Call& call) { set_status(host, call); });
}

}  // namespace weir::broker
