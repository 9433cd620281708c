// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the services "broker", "shutdown", "state-machine", "groups" and "overlay" as far as one broker of one rank has
// them.
// Must not know how the broker is run.
#include <flux/core.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "broker/core/services.hpp"

namespace weir::broker {
namespace {

// Guest: gets his own payload back and eight characters of his connection's name.
void ping(const Call& call) {
    const Json payload = call.payload();
    if (!json_is_object(payload.get())) {
        call.fail(EPROTO);
        return;
    }
    const Cred cred = call.request().cred();
    json_t* answer = payload.get();  // parsed for this call alone
    const std::string route = std::string(call.request().route_first().substr(0, 8)) + "!broker";
    json_object_set_new(answer, "route", json_string(route.c_str()));
    json_object_set_new(answer, "userid", json_integer(cred.userid));
    json_object_set_new(answer, "rolemask", json_integer(cred.rolemask));
    json_object_set_new(answer, "rank", json_integer(0));
    call.respond(payload);
}

/// Answers {client:s, ...} with the same, when that client has read most of what it was sent: who streams much to a
/// client sends the next part then, for more than a client may leave unread would disconnect it.
void wait_read(const Router& router, const Call& call) {
    const auto uuid = call.payload().string_at("client");
    Endpoint* const client = uuid ? router.find(*uuid) : nullptr;
    if (client == nullptr) {
        call.fail(uuid ? ENOENT : EPROTO, uuid ? "that client has left" : "broker.wait-read takes {client:s}");
        return;
    }
    client->when_read([call] { call.respond_text(call.request().text()); });
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Guest: reads the broker's use of time and memory.
void respond_rusage(const Call& call) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    call.respond(Json::own(
        json_pack("{s:f s:f s:I s:I s:I s:I s:I}", "utime", seconds(usage.ru_utime), "stime", seconds(usage.ru_stime),
                  "maxrss", static_cast<json_int_t>(usage.ru_maxrss), "minflt",
                  static_cast<json_int_t>(usage.ru_minflt), "majflt", static_cast<json_int_t>(usage.ru_majflt), "nvcsw",
                  static_cast<json_int_t>(usage.ru_nvcsw), "nivcsw", static_cast<json_int_t>(usage.ru_nivcsw))));
}

/// `flux shutdown` waits for the end of the stream, which comes when all jobs and modules have ended.
void start_shutdown(const BrokerHooks& hooks, const Call& call) {
    if (call.request().has(FLUX_MSGFLAG_STREAMING)) {
        hooks.shut_down([call] { call.fail(ENODATA); });
    } else {
        call.respond();
        hooks.shut_down(nullptr);
    }
}

// Guest: reads that rank 0 is there.
void groups_get(const Call& call) {
    const auto name = call.payload().string_at("name");
    if (!name) {
        call.fail(EPROTO, "groups.get takes {name:s}");
    } else if (*name == "broker.online" || *name == "broker.torpid") {
        call.respond(Json::own(json_pack("{s:s}", "members", *name == "broker.online" ? "0" : "")));
    } else {
        call.fail(ENOENT, "there is no group " + *name + "; this broker knows broker.online and broker.torpid");
    }
}

}  // namespace

void add_broker_service(Router& router, BrokerHooks given) {
    const auto hooks = std::make_shared<const BrokerHooks>(std::move(given));
    const auto respond_state = [hooks](const Call& call) {
        call.respond(Json::own(json_pack("{s:s s:f}", "state", hooks->state(), "duration", hooks->run_time())));
    };
    router.add_method("broker.ping", FLUX_ROLE_USER, ping);
    router.add_method("broker.rusage", FLUX_ROLE_USER, respond_rusage);
    // Guest: reads counts of messages.
    router.add_method("broker.stats-get", ~0u, [hooks](const Call& call) { call.respond(hooks->stats()); });
    router.add_method("broker.wait-read", 0, [&router](const Call& call) { wait_read(router, call); });
    router.add_method("broker.shutdown", 0, [hooks](const Call& call) {
        call.respond();
        hooks->shut_down(nullptr);
    });
    router.add_method("shutdown.start", 0, [hooks](const Call& call) { start_shutdown(*hooks, call); });
    // Guest: no effect.
    router.add_method("broker.disconnect", ~0u, [](const Call&) {});
    // Guest: reads the broker's state and age.
    router.add_method("state-machine.get", FLUX_ROLE_USER, respond_state);
    // Guest: reads the broker's state and age. Only modules can ask before the broker runs.
    router.add_method("state-machine.wait", FLUX_ROLE_USER, [hooks, respond_state](const Call& call) {
        hooks->when_running([call, respond_state] { respond_state(call); });
    });
    // Guest: no effect.
    router.add_method("state-machine.disconnect", ~0u, [](const Call&) {});
    // Guest: reads that rank 0 is there, and the broker's age.
    router.add_method("overlay.health", FLUX_ROLE_USER, [hooks](const Call& call) {
        call.respond(Json::own(
            json_pack("{s:i s:s s:f s:[]}", "rank", 0, "status", "full", "duration", hooks->run_time(), "children")));
    });
    // Guest: reads that rank 0 is alone.
    router.add_method("overlay.topology", FLUX_ROLE_USER, [](const Call& call) {
        call.respond(Json::own(json_pack("{s:i s:i s:[]}", "rank", 0, "size", 1, "children")));
    });
    // Guest: no effect.
    router.add_method("overlay.disconnect", ~0u, [](const Call&) {});
    // Guest: no effect: only the owner's clients have used this service.
    router.add_method("shutdown.disconnect", 0, [hooks](const Call&) { hooks->waiter_left(); });
    router.add_method("groups.get", FLUX_ROLE_USER, groups_get);
    // Guest: no effect.
    router.add_method("groups.disconnect", ~0u, [](const Call&) {});
}

}  // namespace weir::broker
