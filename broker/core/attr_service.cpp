// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "attr". Must not know what any attribute means.
#include <cerrno>

#include "broker/core/services.hpp"

namespace weir::broker {
namespace {

constexpr int flag_fixed = 1;  // clients may cache the value

// Guest: reads every attribute: names, places and versions, no secret.
void get(const Attributes& attributes, const Call& call) {
    const auto name = call.payload().string_at("name");
    if (!name) {
        call.fail(EPROTO);
        return;
    }
    const Attributes::Value* value = attributes.find(*name);
    if (value == nullptr) {
        call.fail(ENOENT);
        return;
    }
    const int flags = value->kind == Attributes::Kind::fixed ? flag_fixed : 0;
    call.respond(Json::own(json_pack("{s:s s:i}", "value", value->text.c_str(), "flags", flags)));
}

// Guest: reads the attributes' names.
void list(const Attributes& attributes, const Call& call) {
    Json names = Json::own(json_array());
    for (const auto& [name, value] : attributes.all()) {
        json_array_append_new(names.get(), json_string(name.c_str()));
    }
    call.respond(Json::own(json_pack("{s:O}", "names", names.get())));
}

}  // namespace

void add_attr_service(Router& router, Attributes& attributes) {
    router.add_method("attr.get", ~0u, [&attributes](const Call& call) { get(attributes, call); });
    router.add_method("attr.list", ~0u, [&attributes](const Call& call) { list(attributes, call); });
    router.add_method("attr.set", 0, [&attributes](const Call& call) {
        const Json payload = call.payload();
        const auto name = payload.string_at("name");
        const auto value = payload.string_at("value");
        call.answer(name && value ? attributes.change(*name, *value)
                                  : Error{std::errc::protocol_error, "attr.set takes {name:s, value:s}"});
    });
    router.add_method("attr.rm", 0, [&attributes](const Call& call) {
        const auto name = call.payload().string_at("name");
        call.answer(name ? attributes.remove(*name) : Error{std::errc::protocol_error, "attr.rm takes {name:s}"});
    });
}

}  // namespace weir::broker
