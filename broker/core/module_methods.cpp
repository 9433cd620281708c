// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the callbacks of the default methods. They run in the module's thread. Must not know the module host.
#include "broker/core/module_methods.hpp"

#include <jansson.h>
#include <sys/resource.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "libfairshare/base/json/json.hpp"

namespace weir::broker {
namespace {

double cpu_seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

json_t* one_way(const MessageCounts::OneWay& n) {
    return json_pack("{s:I s:I s:I s:I}", "request", static_cast<json_int_t>(n.request), "response",
                     static_cast<json_int_t>(n.response), "event", static_cast<json_int_t>(n.event), "control",
                     static_cast<json_int_t>(n.control));
}

int rusage_of(std::string_view who) {
    return who == "self" ? RUSAGE_SELF : who == "children" ? RUSAGE_CHILDREN : who == "thread" ? RUSAGE_THREAD : -1000;
}

}  // namespace

/// The C callbacks; `arg` is the ModuleMethods.
struct MethodCallbacks {
    static ModuleMethods& self(void* arg) { return *static_cast<ModuleMethods*>(arg); }

    static void shutdown(flux_t* h, flux_msg_handler_t*, const flux_msg_t*, void*) {
        flux_reactor_stop(flux_get_reactor(h));
    }

    // Guest: gets his own payload back and eight characters of two connections' names.
    static void ping(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
        const char* text = nullptr;
        flux_msg_cred cred{};
        if (flux_request_decode(msg, nullptr, &text) < 0 || flux_msg_get_cred(msg, &cred) < 0) {
            flux_respond_error(h, msg, errno, nullptr);
            return;
        }
        const Json answer = Json::parse_payload(text != nullptr ? text : "");
        if (!json_is_object(answer.get())) {
            flux_respond_error(h, msg, EPROTO, nullptr);
            return;
        }
        const char* first = flux_msg_route_first(msg);
        const std::string route =
            std::string(first != nullptr ? first : "").substr(0, 8) + "!" + self(arg).uuid_.substr(0, 8);
        json_object_set_new(answer.get(), "route", json_string(route.c_str()));
        json_object_set_new(answer.get(), "userid", json_integer(cred.userid));
        json_object_set_new(answer.get(), "rolemask", json_integer(cred.rolemask));
        json_object_set_new(answer.get(), "rank", json_integer(0));
        flux_respond(h, msg, answer.dump().c_str());
    }

    // Guest: reads counts of messages.
    static void stats_get(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
        const MessageCounts& n = self(arg).counts_;
        flux_respond_pack(h, msg, "{s:o s:o}", "tx", one_way(n.tx), "rx", one_way(n.rx));
    }

    static void stats_clear(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
        self(arg).counts_ = {};
        flux_respond(h, msg, nullptr);
    }

    static void stats_clear_event(flux_t*, flux_msg_handler_t*, const flux_msg_t*, void* arg) {
        self(arg).counts_ = {};
    }

    // Guest: reads the process's use of time and memory.
    static void rusage(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
        const char* who = "self";
        const char* text = nullptr;
        if (flux_request_decode(msg, nullptr, &text) == 0 && text != nullptr) {
            flux_request_unpack(msg, nullptr, "{s?s}", "who", &who);
        }
        struct rusage usage {};
        if (rusage_of(who) == -1000 || getrusage(rusage_of(who), &usage) < 0) {
            flux_respond_error(h, msg, EINVAL, "who must be self, children or thread");
            return;
        }
        flux_respond_pack(h, msg, "{s:f s:f s:I s:I s:I s:I s:I}", "utime", cpu_seconds(usage.ru_utime), "stime",
                          cpu_seconds(usage.ru_stime), "maxrss", static_cast<json_int_t>(usage.ru_maxrss), "minflt",
                          static_cast<json_int_t>(usage.ru_minflt), "majflt", static_cast<json_int_t>(usage.ru_majflt),
                          "nvcsw", static_cast<json_int_t>(usage.ru_nvcsw), "nivcsw",
                          static_cast<json_int_t>(usage.ru_nivcsw));
    }

    static void debug(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
        const char* op = nullptr;
        int flags = 0;
        if (flux_request_unpack(msg, nullptr, "{s:s s:i}", "op", &op, "flags", &flags) < 0) {
            flux_respond_error(h, msg, errno, nullptr);
            return;
        }
        int& now = self(arg).debug_flags_;
        const std::string_view what = op;
        if (what == "setbit") {
            now |= flags;
        } else if (what == "clrbit") {
            now &= ~flags;
        } else if (what == "set") {
            now = flags;
        } else if (what == "clr") {
            now = 0;
        } else {
            flux_respond_error(h, msg, EPROTO, "op must be setbit, clrbit, set or clr");
            return;
        }
        flux_respond_pack(h, msg, "{s:i}", "flags", now);
    }

    static void config(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
        flux_conf_t* conf = nullptr;
        if (flux_module_config_request_decode(msg, &conf) < 0) {
            flux_respond_error(h, msg, errno, "the configuration cannot be read");
            return;
        }
        if (flux_set_conf_new(h, conf) < 0) {
            flux_conf_decref(conf);
            flux_respond_error(h, msg, errno, "the configuration cannot be set");
            return;
        }
        flux_respond(h, msg, nullptr);
    }
};

ModuleMethods::ModuleMethods(flux_t* h, std::string name, std::string uuid, MessageCounts& counts)
    : h_(h), name_(std::move(name)), uuid_(std::move(uuid)), counts_(counts) {
    using C = MethodCallbacks;
    const flux_msg_handler_spec table[] = {
        {FLUX_MSGTYPE_REQUEST, "shutdown", C::shutdown, 0},
        {FLUX_MSGTYPE_REQUEST, "ping", C::ping, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "stats-get", C::stats_get, FLUX_ROLE_ALL},
        {FLUX_MSGTYPE_REQUEST, "stats-clear", C::stats_clear, 0},
        {FLUX_MSGTYPE_EVENT, "stats-clear", C::stats_clear_event, 0},
        {FLUX_MSGTYPE_REQUEST, "rusage", C::rusage, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "debug", C::debug, 0},
        {FLUX_MSGTYPE_REQUEST, "config-reload", C::config, 0},
        {FLUX_MSGTYPE_REQUEST, "config-update", C::config, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
    flux_msg_handler_addvec_ex(h_, name_.c_str(), table, this, &handlers_);
    const std::string topic = name_ + ".stats-clear";
    flux_event_subscribe(h_, topic.c_str());
}

ModuleMethods::~ModuleMethods() {
    flux_msg_handler_delvec(handlers_);
}

}  // namespace weir::broker
