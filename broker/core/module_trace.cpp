// SPDX-License-Identifier: LGPL-3.0-only
// Owns: filters of tracers and the answers to them. Must not know how messages are routed.
#include "broker/core/module_trace.hpp"

#include <flux/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "broker/api/message.hpp"

namespace weir::broker {
namespace {

constexpr const char* trace_topic = "module.trace";

bool fits(const Packet& packet, std::int64_t types, const std::string& topic_glob) {
    const bool is_type = types == 0 || (packet.type() & types) != 0;
    return is_type && fits_topic(topic_glob.c_str(), std::string(packet.topic()).c_str());
}

/// What flux-core says of a message. A payload that is no JSON object, or that was not asked for, is null.
Json described(const Packet& packet, bool is_full) {
    const bool is_response = packet.type() == FLUX_MSGTYPE_RESPONSE;
    const std::uint32_t errnum = is_response ? packet.aux1() : 0;
    Json payload = Json::own(json_null());
    if (is_full && errnum == 0) {
        if (auto parsed = Json::parse_with_nuls(packet.text()); parsed && json_is_object(parsed->get())) {
            payload = std::move(*parsed);
        }
    }
    const std::size_t size = errnum == 0 ? packet.payload().value_or(std::string_view()).size() : 0;
    Json told = Json::object();
    told.set("rank", -1).set("type", packet.type()).set("topic", packet.topic()).set("payload_size", size);
    told.set("payload", std::move(payload)).set("errnum", errnum);
    told.set("errstr", is_full && errnum != 0 ? packet.text() : std::string_view());
    return told;
}

}  // namespace

ModuleTrace::ModuleTrace(Router& router, std::function<double()> now) : router_(router), now_(std::move(now)) {
    router.add_method(trace_topic, 0, [this](const Call& call) { begin(call); });
    router.add_method("module.cancel", 0, [this](const Call& cancel) {
        end([&cancel](const Call& trace) {
            const bool is_meant = cancel.cancels(trace);
            if (is_meant) {
                trace.fail(ENODATA);
            }
            return is_meant;
        });
    });
    // Guest: no effect, for only the owner traces.
    router.add_method("module.disconnect", ~0u, [this](const Call& gone) {
        end([&gone](const Call& trace) { return trace.sender() == gone.sender(); });
    });
}

void ModuleTrace::begin(const Call& call) {
    const Json payload = call.payload();
    const auto types = payload.integer_at("typemask");
    const auto topic_glob = payload.string_at("topic_glob");
    const Json names = payload.at("names");
    if (!call.is_streaming() || !types || !topic_glob || !json_is_array(names.get())) {
        call.fail(EPROTO, "module.trace is a streaming request with {names:[s...], typemask:i, topic_glob:s, full?:b}");
        return;
    }
    Tracer tracer{call, *types, *topic_glob, {}, payload.boolean_at("full").value_or(false)};
    std::size_t i = 0;
    json_t* name = nullptr;
    json_array_foreach(names.get(), i, name) {
        tracer.modules.emplace_back(json_is_string(name) ? json_string_value(name) : "");
    }
    tracers_.push_back(std::move(tracer));
    router_.set_tap([this](const Endpoint& module, const char* way, const Packet& p) { tell(module, way, p); });
}

void ModuleTrace::end(const std::function<bool(const Call&)>& is_meant) {
    std::erase_if(tracers_, [&is_meant](const Tracer& tracer) { return is_meant(tracer.call); });
    if (tracers_.empty()) {
        router_.set_tap({});
    }
}

/// The answers to a module that traces are not traced: each would cause the next.
void ModuleTrace::tell(const Endpoint& module, const char* way, const Packet& packet) const {
    if (packet.topic() == trace_topic) {
        return;
    }
    for (const Tracer& tracer : tracers_) {
        const auto& names = tracer.modules;
        const bool is_named =
            names.empty() || std::find(names.begin(), names.end(), module.module_name()) != names.end();
        if (is_named && fits(packet, tracer.types, tracer.topic_glob)) {
            Json told = described(packet, tracer.is_full);
            told.set("timestamp", now_()).set("prefix", way).set("name", module.module_name());
            tracer.call.respond(told);
        }
    }
}

}  // namespace weir::broker
