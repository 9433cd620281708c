// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the C functions that job-manager plugins call (flux/jobtap.h), exported from the broker.
// Must not know: how plugins are loaded. Each function finds its host in the plugin's aux item "flux::jobtap".
// No exception leaves: a plugin is C. Source: flux-jobtap-plugins(7).
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "broker/api/handle.hpp"
#include "broker/services/job-manager/jobtap/jobtap.hpp"

namespace weir::broker::jobs {
namespace {

Jobtap* host_of(flux_plugin_t* p) {
    auto* host = p ? static_cast<Jobtap*>(flux_plugin_aux_get(p, "flux::jobtap")) : nullptr;
    if (!host) {
        errno = EINVAL;
    }
    return host;
}

Job* job_of(flux_plugin_t* p, flux_jobid_t id) {
    Jobtap* host = host_of(p);
    Job* job = host ? host->lookup(id) : nullptr;
    if (host && !job) {
        errno = ENOENT;
    }
    return job;
}

Job* active_job_of(flux_plugin_t* p, flux_jobid_t id) {
    Job* job = job_of(p, id);
    if (job && job->state == State::inactive) {
        errno = ENOENT;
        return nullptr;
    }
    return job;
}

int rc_of(const Status& status) {
    if (status) {
        return 0;
    }
    errno = static_cast<int>(status.error().code);
    return -1;
}

/// Runs `call`; exceptions become errno.
template <typename F>
int guarded(F&& call) noexcept {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
    } catch (...) {
        errno = EIO;
    }
    return -1;
}

std::string short_text(const char* fmt, va_list ap) {
    char text[1024];
    const int n = std::vsnprintf(text, sizeof text, fmt, ap);
    if (n >= static_cast<int>(sizeof text)) {
        text[sizeof text - 2] = '+';
    }
    return text;
}

int post(flux_plugin_t* p, Job& job, const char* name, Json context) {
    return rc_of(host_of(p)->engine().post(job, name, std::move(context)));
}

int dependency_event(flux_plugin_t* p, flux_jobid_t id, const char* name, const char* description) {
    return guarded([&] {
        Job* job = job_of(p, id);
        if (!job || !description || !is_in(job->state, bit(State::created) | bit(State::depend))) {
            errno = job ? EINVAL : errno;
            return -1;
        }
        const bool is_add = std::strcmp(name, "dependency-add") == 0;
        if (is_add && job->dependencies->count(description) > 0) {
            return 0;  // known from before a restart
        }
        Json context = Json::object();
        context.set("description", description);
        return post(p, *job, name, std::move(context));
    });
}

int perilog_event(flux_plugin_t* p, Job* job, const char* name, const char* description, const int* status) {
    return guarded([&] {
        const bool is_prolog = std::strncmp(name, "prolog", 6) == 0;
        const bool is_in_cleanup = job && job->state == State::cleanup;
        if (!job || !description || (is_prolog && job->start_pending) || (is_prolog && !status && is_in_cleanup) ||
            (!is_prolog && !is_in_cleanup)) {
            errno = EINVAL;
            return -1;
        }
        Json context = Json::object();
        context.set("description", description);
        if (status) {
            context.set("status", *status);
        }
        return post(p, *job, name, std::move(context));
    });
}

/// Of the job that a callback is about.
int perilog_start(flux_plugin_t* p, const char* name, const char* description) {
    Jobtap* host = host_of(p);
    return perilog_event(p, host ? host->current() : nullptr, name, description, nullptr);
}

int perilog_finish(flux_plugin_t* p, flux_jobid_t id, const char* name, const char* description, int status) {
    Job* job = active_job_of(p, id);
    return job ? perilog_event(p, job, name, description, &status) : -1;
}

/// The argument of a plugin's service handler. Its messages are sent after the events that it causes are on disk. It is
/// not called while the journal cannot be written.
void run_service(flux_t* h, flux_msg_handler_t* mh, const flux_msg_t* msg, void* arg) noexcept {
    auto& service = *static_cast<Plugin::Service*>(arg);
    Engine& engine = service.host->engine();
    if (auto room = engine.make_room(); !room) {
        answer(h, engine.outbox(), msg, room.error());
        return;
    }
    handle_divert(h, [&engine](const flux_msg_t& sent) { return engine.take_over(sent); });
    service.callback(h, mh, msg, service.arg);
    handle_divert(h, {});
}

int set_error(flux_plugin_arg_t* args, const std::string& message) {
    flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:s}", "errmsg", message.c_str());
    return -1;
}

}  // namespace
}  // namespace weir::broker::jobs

using weir::Json;
using namespace weir::broker::jobs;

extern "C" {

flux_t* flux_jobtap_get_flux(flux_plugin_t* p) {
    Jobtap* host = host_of(p);
    return host ? host->engine().handle() : nullptr;
}

int flux_jobtap_service_register_ex(flux_plugin_t* p, const char* method, uint32_t rolemask, flux_msg_handler_f cb,
                                    void* arg) {
    return guarded([&] {
        Jobtap* host = host_of(p);
        Plugin* plugin = host ? host->find(p) : nullptr;
        const char* given = p ? flux_plugin_get_name(p) : nullptr;
        if (!plugin || !cb || !given || std::strchr(given, '/')) {
            errno = EINVAL;
            return -1;
        }
        const std::string name = *given == '.' ? given + 1 : given;
        const std::string topic = "job-manager." + name + (method ? "." + std::string(method) : "");
        auto service = std::make_unique<Plugin::Service>();
        service->host = host;
        service->callback = cb;
        service->arg = arg;
        const flux_msg_handler_spec table[] = {{FLUX_MSGTYPE_REQUEST, topic.c_str(), run_service, rolemask},
                                               FLUX_MSGHANDLER_TABLE_END};
        if (auto done = service->handlers.add(host->engine().handle(), table, service.get()); !done) {
            return rc_of(done);
        }
        plugin->services.push_back(std::move(service));
        return 0;
    });
}

int flux_jobtap_service_register(flux_plugin_t* p, const char* method, flux_msg_handler_f cb, void* arg) {
    return flux_jobtap_service_register_ex(p, method, 0, cb, arg);
}

int flux_jobtap_reprioritize_all(flux_plugin_t* p) {
    return guarded([&] {
        Jobtap* host = host_of(p);
        return host ? rc_of(host->engine().reprioritize_all()) : -1;
    });
}

int flux_jobtap_reprioritize_job(flux_plugin_t* p, flux_jobid_t id, unsigned int priority) {
    return guarded([&] {
        Jobtap* host = host_of(p);
        if (!host) {
            return -1;
        }
        Job* job = host->engine().jobs().active(id);
        if (!job) {
            errno = ENOENT;
            return -1;
        }
        return rc_of(host->engine().reprioritize(*job, priority, true));
    });
}

int flux_jobtap_priority_unavail(flux_plugin_t* p, flux_plugin_arg_t* args) {
    if (!host_of(p)) {
        return -1;
    }
    return flux_plugin_arg_pack(args, FLUX_PLUGIN_ARG_OUT, "{s:I}", "priority",
                                static_cast<json_int_t>(priority_unavailable));
}

int flux_jobtap_error(flux_plugin_t*, flux_plugin_arg_t* args, const char* fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const std::string message = short_text(fmt, ap);
    va_end(ap);
    return set_error(args, message);
}

int flux_jobtap_reject_job(flux_plugin_t* p, flux_plugin_arg_t* args, const char* fmt, ...) {
    if (!fmt) {
        Jobtap* host = host_of(p);
        const Plugin* plugin = host ? host->find(p) : nullptr;
        return set_error(args, "rejected by job-manager plugin '" + (plugin ? plugin->name() : "unknown") + "'");
    }
    va_list ap;
    va_start(ap, fmt);
    const std::string message = short_text(fmt, ap);
    va_end(ap);
    return set_error(args, message);
}

int flux_jobtap_dependency_add(flux_plugin_t* p, flux_jobid_t id, const char* description) {
    return dependency_event(p, id, "dependency-add", description);
}

int flux_jobtap_dependency_remove(flux_plugin_t* p, flux_jobid_t id, const char* description) {
    return dependency_event(p, id, "dependency-remove", description);
}

int flux_jobtap_job_aux_set(flux_plugin_t* p, flux_jobid_t id, const char* name, void* val, flux_free_f free_fn) {
    return guarded([&] {
        Job* job = job_of(p, id);
        Plugin* plugin = job ? host_of(p)->find(p) : nullptr;
        if (!plugin) {
            errno = job ? EINVAL : errno;
            return -1;
        }
        auto& items = plugin->items[job->id];
        for (auto at = items.begin(); name && at != items.end(); ++at) {
            if (at->key != name) {
                continue;
            }
            if (at->free) {
                at->free(at->value);
            }
            items.erase(at);
            break;
        }
        if (val) {
            items.push_back({name ? name : "", val, free_fn});
        }
        return 0;
    });
}

void* flux_jobtap_job_aux_get(flux_plugin_t* p, flux_jobid_t id, const char* name) {
    Job* job = job_of(p, id);
    Plugin* plugin = job ? host_of(p)->find(p) : nullptr;
    if (!plugin || !name) {
        return nullptr;
    }
    if (const auto at = plugin->items.find(job->id); at != plugin->items.end()) {
        for (const Plugin::Item& item : at->second) {
            if (item.key == name) {
                return item.value;
            }
        }
    }
    errno = ENOENT;
    return nullptr;
}

int flux_jobtap_job_set_flag(flux_plugin_t* p, flux_jobid_t id, const char* flag) {
    return guarded([&] {
        Job* job = flag ? active_job_of(p, id) : nullptr;
        if (!job) {
            return -1;
        }
        const std::string_view name = flag;
        if (name != "alloc-bypass" && name != "debug" && name != "immutable") {
            errno = EINVAL;
            return -1;
        }
        Json flags = Json::array();
        flags.append(name);
        Json context = Json::object();
        context.set("flags", std::move(flags));
        return post(p, *job, "set-flags", std::move(context));
    });
}

int flux_jobtap_raise_exception(flux_plugin_t* p, flux_jobid_t id, const char* type, int severity, const char* fmt,
                                ...) {
    if (!type || !fmt) {
        errno = EINVAL;
        return -1;
    }
    va_list ap;
    va_start(ap, fmt);
    const std::string note = short_text(fmt, ap);
    va_end(ap);
    return guarded([&] {
        Job* job = active_job_of(p, id);
        if (!job) {
            return -1;
        }
        Engine& engine = host_of(p)->engine();
        return rc_of(engine.raise(*job, {type, severity, note, engine.owner()}));
    });
}

int flux_jobtap_event_post_pack(flux_plugin_t* p, flux_jobid_t id, const char* name, const char* fmt, ...) {
    Job* job = name ? active_job_of(p, id) : nullptr;
    if (!job) {
        return -1;
    }
    Json context;
    if (fmt) {
        va_list ap;
        va_start(ap, fmt);
        json_error_t error;
        context = Json::own(json_vpack_ex(&error, 0, fmt, ap));
        va_end(ap);
        if (!context) {
            errno = EINVAL;
            return -1;
        }
    }
    return guarded([&] { return post(p, *job, name, std::move(context)); });
}

flux_plugin_arg_t* flux_jobtap_job_lookup(flux_plugin_t* p, flux_jobid_t id) {
    Job* job = job_of(p, id);
    return job ? host_of(p)->args_of(*job).release() : nullptr;
}

int flux_jobtap_job_event_posted(flux_plugin_t* p, flux_jobid_t id, const char* name) {
    Job* job = name ? job_of(p, id) : nullptr;
    if (!job) {
        return -1;
    }
    std::string_view lines = job->eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        if (name_of_line(lines.substr(0, end)) == name) {
            return 1;
        }
        lines.remove_prefix(end + 1);
    }
    return 0;
}

int flux_jobtap_job_subscribe(flux_plugin_t* p, flux_jobid_t id) {
    return guarded([&] {
        Job* job = active_job_of(p, id);
        Plugin* plugin = job ? host_of(p)->find(p) : nullptr;
        if (!plugin) {
            return -1;
        }
        plugin->subscriptions.insert(job->id);
        return 0;
    });
}

void flux_jobtap_job_unsubscribe(flux_plugin_t* p, flux_jobid_t id) {
    Job* job = active_job_of(p, id);
    if (Plugin* plugin = job ? host_of(p)->find(p) : nullptr) {
        plugin->subscriptions.erase(job->id);
    }
}

int flux_jobtap_jobspec_update_pack(flux_plugin_t* p, const char* fmt, ...) {
    Jobtap* host = host_of(p);
    Job* job = host ? host->current() : nullptr;
    if (!job || !fmt || is_in(job->state, mask_running) || job->is_readonly) {
        errno = EINVAL;
        return -1;
    }
    va_list ap;
    va_start(ap, fmt);
    json_error_t error;
    const Json update = Json::own(json_vpack_ex(&error, 0, fmt, ap));
    va_end(ap);
    return guarded([&] {
        if (!update || !updated_jobspec(*job, update.get())) {
            errno = EINVAL;
            return -1;
        }
        if (!host->pending_update()) {
            host->pending_update() = Json::object();
        }
        return json_object_update(host->pending_update().get(), update.get());
    });
}

int flux_jobtap_prolog_start(flux_plugin_t* p, const char* description) {
    return perilog_start(p, "prolog-start", description);
}

int flux_jobtap_prolog_finish(flux_plugin_t* p, flux_jobid_t id, const char* description, int status) {
    return perilog_finish(p, id, "prolog-finish", description, status);
}

int flux_jobtap_epilog_start(flux_plugin_t* p, const char* description) {
    return perilog_start(p, "epilog-start", description);
}

int flux_jobtap_epilog_finish(flux_plugin_t* p, flux_jobid_t id, const char* description, int status) {
    return perilog_finish(p, id, "epilog-finish", description, status);
}
}
