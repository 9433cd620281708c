// SPDX-License-Identifier: LGPL-3.0-only
// A jobtap plugin with knobs, for the tests of the plugin host in both brokers. Conf {"priority":I} is what it answers,
// -1 nothing at all. Jobs named "reject" are refused; "hold" ones get a dependency; "bypass" ones run without
// resources; "prolog" ones wait in a prolog; "fatal" ones end when they are asked for a priority again. Service
// job-manager.testtap.do {"op":s,"id":I,"priority"?:I}.
#include <flux/jobtap.h>
#include <jansson.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace {

struct Tap {
    json_int_t priority = -1;  // -1: none in the answer, -2: not available yet
    int calls = 0;
    int freed = 0;
};

Tap& tap_of(flux_plugin_t* p) {
    return *static_cast<Tap*>(flux_plugin_aux_get(p, "tap"));
}

std::string name_of(flux_plugin_arg_t* args) {
    const char* name = "";
    flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:{s:{s:{s?{s?s}}}}}", "jobspec", "attributes", "system", "job",
                           "name", &name);
    return name;
}

int on_priority(flux_plugin_t* p, const char* topic, flux_plugin_arg_t* args, void*) {
    Tap& tap = tap_of(p);
    ++tap.calls;
    if (std::strcmp(topic, "job.priority.get") == 0 && name_of(args) == "fatal") {
        return flux_jobtap_raise_exception(p, FLUX_JOBTAP_CURRENT_JOB, "test", 0, "not today");
    }
    if (tap.priority == -1) {
        return 0;
    }
    if (tap.priority == -2) {
        return flux_jobtap_priority_unavail(p, args);
    }
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:I}", "priority", tap.priority);
}

int on_validate(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void*) {
    return name_of(args) == "reject" ? flux_jobtap_reject_job(p, args, "no %s today", "jobs") : 0;
}

int on_new(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void*) {
    if (name_of(args) == "hold") {
        flux_jobtap_dependency_add(p, FLUX_JOBTAP_CURRENT_JOB, "the-test");
    }
    flux_jobtap_job_aux_set(p, FLUX_JOBTAP_CURRENT_JOB, "mark", &tap_of(p),
                            [](void* tap) { ++static_cast<Tap*>(tap)->freed; });
    return 0;
}

int on_sched(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void*) {
    return name_of(args) == "bypass" ? flux_jobtap_job_set_flag(p, FLUX_JOBTAP_CURRENT_JOB, "alloc-bypass") : 0;
}

int on_run(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void*) {
    return name_of(args) == "prolog" || name_of(args) == "bypass" ? flux_jobtap_prolog_start(p, "test") : 0;
}

int on_query(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void*) {
    const Tap& tap = tap_of(p);
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:i s:i}", "calls", tap.calls, "freed", tap.freed);
}

int on_conf(flux_plugin_t* p, const char*, flux_plugin_arg_t* args, void*) {
    const char* mood = "";
    flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:{s?{s?s}}}", "conf", "testtap", "mood", &mood);
    return std::strcmp(mood, "bad") == 0 ? flux_jobtap_error(p, args, "mood must not be %s", mood) : 0;
}

int do_op(flux_plugin_t* p, const std::string& op, flux_jobid_t id, json_int_t priority) {
    if (op == "set") {
        tap_of(p).priority = priority;
        return 0;
    }
    if (op == "all") {
        return flux_jobtap_reprioritize_all(p);
    }
    if (op == "one") {
        return flux_jobtap_reprioritize_job(p, id, static_cast<unsigned int>(priority));
    }
    if (op == "release") {
        return flux_jobtap_dependency_remove(p, id, "the-test");
    }
    if (op == "raise") {
        return flux_jobtap_raise_exception(p, id, "test", 0, "number %d", 7);
    }
    if (op == "alloc") {
        return flux_jobtap_event_post_pack(p, id, "alloc", "{s:b}", "bypass", 1);
    }
    if (op == "finish") {
        return flux_jobtap_event_post_pack(p, id, "finish", "{s:i}", "status", 0) < 0
                   ? -1
                   : flux_jobtap_prolog_finish(p, id, "test", 0);
    }
    if (op == "prolog-finish") {
        return flux_jobtap_prolog_finish(p, id, "test", 0);
    }
    if (op == "marked") {
        return flux_jobtap_job_aux_get(p, id, "mark") ? 0 : -1;
    }
    errno = EINVAL;
    return -1;
}

void on_service(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
    const char* op = "";
    json_int_t id = 0, priority = 0;
    errno = 0;
    if (flux_request_unpack(msg, nullptr, "{s:s s?I s?I}", "op", &op, "id", &id, "priority", &priority) < 0 ||
        do_op(static_cast<flux_plugin_t*>(arg), op, static_cast<flux_jobid_t>(id), priority) < 0) {
        flux_respond_error(h, msg, errno ? errno : EINVAL, nullptr);
    } else {
        flux_respond(h, msg, nullptr);
    }
}

const flux_plugin_handler handlers[] = {
    {"job.state.priority", on_priority, nullptr},
    {"job.priority.get", on_priority, nullptr},
    {"job.validate", on_validate, nullptr},
    {"job.new", on_new, nullptr},
    {"job.state.sched", on_sched, nullptr},
    {"job.state.run", on_run, nullptr},
    {"plugin.query", on_query, nullptr},
    {"conf.update", on_conf, nullptr},
    {nullptr, nullptr, nullptr},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int flux_plugin_init(flux_plugin_t* p) {
    auto* tap = new Tap;
    flux_plugin_conf_unpack(p, "{s?I}", "priority", &tap->priority);
    if (flux_plugin_register(p, "testtap", handlers) < 0 ||
        flux_plugin_aux_set(p, "tap", tap, [](void* gone) { delete static_cast<Tap*>(gone); }) < 0) {
        return -1;
    }
    return flux_jobtap_service_register(p, "do", on_service, p);
}
