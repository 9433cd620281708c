// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the services "event" and "service": publishing, subscriptions and dynamic service names of the asking endpoint.
// Must not know what any event or service means.
#include <flux/core.h>

#include <cerrno>
#include <functional>
#include <utility>

#include "broker/core/local_client.hpp"
#include "broker/core/services.hpp"
#include "libfairshare/base/base64.hpp"

namespace weir::broker {
namespace {

/// Of one endpoint: subscriptions, services.
constexpr std::size_t names_max = 256;
constexpr std::size_t name_bytes_max = 256;
constexpr const char* too_many = "a connection may have 256 subscriptions and 256 services, of 256 bytes each";

// Guest: sends events under his own name to all subscribers; modules use only those of the owner. Charged to him until
// every module has read them.
void publish(Router& router, const Call& call) {
    const Json payload = call.payload();
    const auto topic = payload.string_at("topic");
    const json_int_t flags = json_integer_value(payload.at("flags").get());
    const auto encoded = payload.string_at("payload");
    const auto bytes = base64_decode(encoded.value_or(""));
    if (!topic || (flags & ~FLUX_MSGFLAG_PRIVATE) != 0 || !bytes) {
        call.fail(EPROTO, "event.publish takes {topic:s, flags:i, payload?:base64}");
        return;
    }
    Packet event = Packet::make({FLUX_MSGTYPE_EVENT, static_cast<std::uint8_t>(flags), call.request().cred(), 0, 0},
                                *topic, encoded ? std::optional<std::string_view>(*bytes) : std::nullopt);
    event.set_charge(call.request().charge());
    const std::uint32_t sequence = router.publish(std::move(event));
    call.respond(Json::own(json_pack("{s:I}", "seq", static_cast<json_int_t>(sequence))));
}

// Guest: receives public events and his own private ones; 256 subscriptions a connection.
void subscribe(Router& router, const Call& call, bool is_on) {
    const auto topic = call.payload().string_at("topic");
    Endpoint* sender = router.find(call.sender());
    if (!topic || sender == nullptr) {
        call.fail(EPROTO, "event.subscribe and .unsubscribe take {topic:s}");
    } else if (is_on && (topic->size() > name_bytes_max || sender->subscriptions.size() >= names_max)) {
        call.fail(ENOSPC, too_many);
    } else if (is_on) {
        sender->subscriptions.add(*topic);
        call.respond();
    } else if (sender->subscriptions.remove(*topic)) {
        call.respond();
    } else {
        call.fail(ENOENT, "there is no subscription to '" + *topic + "'");
    }
}

/// A guest may offer services of its own only under names that begin with its user id and a dash.
bool may_register(const Cred& cred, const std::string& name) {
    return (cred.rolemask & FLUX_ROLE_OWNER) != 0 || name.rfind(std::to_string(cred.userid) + "-", 0) == 0;
}

// Guest: offers services named by his user id, 256 a connection, and takes back his own.
void change_service(Router& router, const Call& call, bool is_on) {
    const auto name = call.payload().string_at("service");
    if (!name || call.sender().empty()) {
        call.fail(EPROTO, "service.add and .remove take {service:s}");
        return;
    }
    if (!may_register(call.request().cred(), *name)) {
        call.fail(EPERM, "your services must be named " + std::to_string(call.request().cred().userid) + "-NAME");
        return;
    }
    if (is_on && (name->size() > name_bytes_max || router.services().names(call.sender()).size() >= names_max)) {
        call.fail(ENOSPC, too_many);
        return;
    }
    const Status how =
        is_on ? router.services().add(*name, call.sender()) : router.services().remove(*name, call.sender());
    if (how) {
        call.respond();
    } else {
        call.fail(how.error());
    }
}

}  // namespace

void add_event_service(Router& router) {
    router.add_method("event.publish", FLUX_ROLE_USER, std::bind_front(publish, std::ref(router)),
                      LocalClient::guest_message_bytes_max);
    router.add_method("event.subscribe", FLUX_ROLE_USER,
                      [&router](const Call& call) { subscribe(router, call, true); });
    router.add_method("event.unsubscribe", FLUX_ROLE_USER,
                      [&router](const Call& call) { subscribe(router, call, false); });
    router.add_method("service.add", FLUX_ROLE_USER,
                      [&router](const Call& call) { change_service(router, call, true); });
    router.add_method("service.remove", FLUX_ROLE_USER,
                      [&router](const Call& call) { change_service(router, call, false); });
    for (const char* topic : {"event.disconnect", "service.disconnect"}) {
        // Guest: no effect.
        router.add_method(topic, ~0u, [](const Call&) {});  // subscriptions and services end with their endpoint
    }
}

}  // namespace weir::broker
