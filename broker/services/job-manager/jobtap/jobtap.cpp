// SPDX-License-Identifier: LGPL-3.0-only
// Owns: calls into the plugin stack and what the answers do.
// Must not know: how plugins are found and loaded (jobtap_load.cpp), the functions that plugins call (jobtap_api.cpp).
#include "broker/services/job-manager/jobtap/jobtap.hpp"

#include <syslog.h>

#include <algorithm>
#include <cerrno>

#include "broker/api/plugin_arg.hpp"
#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/dependencies/dependencies.hpp"

namespace weir::broker::jobs {
namespace {

const char* state_topic(State state) {
    static constexpr const char* topics[] = {"job.state.new",     "job.state.depend", "job.state.priority",
                                             "job.state.sched",   "job.state.run",    "job.state.cleanup",
                                             "job.state.inactive"};
    return topics[state_index(state)];
}

/// A value that a plugin left in OUT; empty when absent.
Json out_value(const flux_plugin_arg_t* args, const char* key) {
    return Json::ref(json_object_get(plugin_arg_out(args), key));
}

std::string error_of(flux_plugin_arg_t* args, const std::string& otherwise) {
    const char* message = nullptr;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_OUT, "{s:s}", "errmsg", &message) < 0) {
        return otherwise;
    }
    return message;
}

}  // namespace

Plugin::~Plugin() {
    services.clear();
    for (auto& [id, list] : items) {
        for (const Item& item : list) {
            if (item.free) {
                item.free(item.value);
            }
        }
    }
    flux_plugin_destroy(plugin_);
}

void Plugin::drop_items(JobId id) {
    subscriptions.erase(id);
    const auto at = items.find(id);
    if (at == items.end()) {
        return;
    }
    for (const Item& item : at->second) {
        if (item.free) {
            item.free(item.value);
        }
    }
    items.erase(at);
}

Jobtap::~Jobtap() = default;

Plugin* Jobtap::find(flux_plugin_t* plugin) const {
    for (const auto& loaded : stack_) {
        if (loaded->get() == plugin) {
            return loaded.get();
        }
    }
    return nullptr;
}

Job* Jobtap::lookup(JobId id) const {
    Job* job = current();
    if (id == FLUX_JOBTAP_CURRENT_JOB || (job && job->id == id)) {
        return job;
    }
    return engine_.jobs().find(id);
}

bool Jobtap::anyone_handles(const char* topic) const {
    return std::any_of(stack_.begin(), stack_.end(), [topic](const auto& p) { return p->handles(topic); });
}

MoreArgs Jobtap::more_of(const Job& job, const Extra* extra) const {
    return [this, &job, extra] {
        ++jobspecs_;
        Json in = Json::object();
        in.set("jobspec", jobspec_tree(job));
        if (const Json& r = job.r->tree) {
            in.set("R", r.share());
        }
        if (job.end_event) {
            in.set("end_event", job.end_event.share());
        }
        if (extra != nullptr && *extra) {
            (*extra)(in);
        }
        return in.release();
    };
}

int Jobtap::call_stack(Job& job, const char* topic, flux_plugin_arg_t* args, bool to_subscribers) {
    std::vector<Plugin*> plugins;  // a copy: a plugin may cause another round of calls
    for (const auto& plugin : stack_) {
        if (plugin->handles(topic) && (!to_subscribers || plugin->subscriptions.count(job.id) > 0)) {
            plugins.push_back(plugin.get());
        }
    }
    current_.push_back(&job);
    int sum = 0;
    for (const Plugin* plugin : plugins) {
        const int rc = flux_plugin_call(plugin->get(), topic, args);
        if (rc < 0) {
            flux_log(engine_.handle(), LOG_DEBUG, "jobtap: %s: %s: rc=%d", plugin->name().c_str(), topic, rc);
            sum = -1;
            break;
        }
        post_updates(job);
        sum += rc;
    }
    current_.pop_back();
    return sum;
}

void Jobtap::post_updates(Job& job) {
    if (!pending_update_) {
        return;
    }
    Json update = std::exchange(pending_update_, Json());
    (void)engine_.post(job, "jobspec-update", std::move(update));
}

std::int64_t Jobtap::priority_of(Job& job) {
    if (!anyone_handles("job.priority.get")) {
        return priority_unavailable;
    }
    const JobArgs::Lease args = lease(job);
    if (call_stack(job, "job.priority.get", args.get()) < 0) {
        flux_log(engine_.handle(), LOG_ERR, "jobtap: job.priority.get: callback failed");
        return job.priority;
    }
    json_int_t priority = priority_unavailable;
    if (flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s?I}", "priority", &priority) < 0) {
        flux_log(engine_.handle(), LOG_ERR, "jobtap: job.priority.get: arg_unpack: %s",
                 flux_plugin_arg_strerror(args.get()));
        return job.priority;
    }
    if (priority == priority_unavailable) {
        if (job.state != State::sched) {
            return priority;
        }
        flux_log(engine_.handle(), LOG_ERR, "jobtap: %s: BUG: plugin didn't return priority", f58(job.id).c_str());
        return job.priority;
    }
    return priority;
}

void Jobtap::call(Job& job, const char* topic, const Extra& extra) {
    if (!anyone_handles(topic)) {
        return;
    }
    const JobArgs::Lease args = lease(job, &extra);
    if (call_stack(job, topic, args.get()) < 0) {
        flux_log(engine_.handle(), LOG_ERR, "jobtap: %s: callback returned error", topic);
    }
    apply_out(job, topic, args.get());
}

void Jobtap::apply_out(Job& job, const char* topic_text, flux_plugin_arg_t* args) {
    if (json_object_size(plugin_arg_out(args)) == 0) {
        return;
    }
    const std::string topic = topic_text;
    if (const Json r = out_value(args, "R")) {
        if (topic != "job.state.sched" || !job.r->text.empty()) {
            flux_log(engine_.handle(), LOG_ERR, "jobtap: %s: %s: R may only be set once, in SCHED state", topic.c_str(),
                     f58(job.id).c_str());
        } else {
            job.r = allocation_of(r.share());
        }
    }
    if (const Json note = out_value(args, "annotations"); json_is_object(note.get())) {
        if (topic == "job.new") {  // no event may come before the first state
            job.annotations = note.deep_copy();
        } else {
            engine_.annotate(job, note.get());
        }
    }
    const Json priority = out_value(args, "priority");
    if (!priority) {
        return;
    }
    if (!json_is_integer(priority.get())) {
        (void)engine_.raise(
            job, {topic, 4, "priority must be an integer (job may be stuck in PRIORITY state)", engine_.owner()});
        return;
    }
    // Negative: unavailable; a job in PRIORITY then waits for flux_jobtap_reprioritize_job().
    if (const std::int64_t value = json_integer_value(priority.get()); value >= priority_min) {
        if (auto done = engine_.reprioritize(job, value, true); !done) {
            flux_log(engine_.handle(), LOG_ERR, "jobtap: %s", done.error().message.c_str());
        }
    }
}

Status Jobtap::call_early(Job& job, const char* topic, const Extra& extra) {
    if (!anyone_handles(topic)) {
        return Done{};
    }
    const JobArgs::Lease args = lease(job, &extra);
    if (call_stack(job, topic, args.get()) >= 0) {
        return Done{};
    }
    return Error{std::errc::invalid_argument, error_of(args.get(), "rejected by job-manager plugin")};
}

Status Jobtap::check_dependencies(Job& job) {
    const Json jobspec = jobspec_tree(job);
    const json_t* list = read_path(jobspec.get(), "attributes.system.dependencies");
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        if (auto done = check_dependency(job, json_array_get(list, i)); !done) {
            return done;
        }
    }
    return Done{};
}

Status Jobtap::check_dependency(Job& job, json_t* entry) {
    const std::string scheme(read_string(entry, "scheme").value_or(""));
    const std::string topic = "job.dependency." + scheme;
    const bool is_builtin = Dependencies::is_scheme(scheme);
    if (is_builtin) {
        if (auto done = engine_.dependencies().add(job, entry); !done) {
            return done;
        }
    }
    if (!is_builtin && !anyone_handles(topic.c_str())) {
        return Error{std::errc::invalid_argument, "dependency scheme \"" + scheme + "\" not supported"};
    }
    const Extra dependency = [entry](Json& in) { in.set("dependency", Json::ref(entry)); };
    const JobArgs::Lease args = lease(job, &dependency);
    if (call_stack(job, topic.c_str(), args.get()) < 0) {
        return Error{std::errc::invalid_argument, error_of(args.get(), "rejected by job-manager dependency plugin")};
    }
    return Done{};
}

void Jobtap::recheck_dependencies(Job& job) {
    const Json jobspec = jobspec_tree(job);
    const json_t* list = read_path(jobspec.get(), "attributes.system.dependencies");
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        json_t* entry = json_array_get(list, i);
        const Status checked = check_dependency(job, entry);
        if (checked || job.state != State::depend) {
            continue;
        }
        // Nothing that can still happen fulfils a scheme of ours: the job that it names has ended otherwise.
        const bool is_hopeless = Dependencies::is_scheme(read_string(entry, "scheme").value_or(""));
        const std::string what = checked.error().message;
        (void)engine_.raise(job, is_hopeless
                                     ? Engine::Exception{"dependency", 0, what, engine_.owner()}
                                     : Engine::Exception{"dependency", 4, what + " (job may be stuck in DEPEND state)",
                                                         engine_.owner()});
    }
}

Status Jobtap::check_update(Job& job, const std::string& key, json_t* value) {
    const std::string topic = "job.update." + key;
    if (!anyone_handles(topic.c_str())) {
        return Error{std::errc::invalid_argument, "update of " + key + " not supported"};
    }
    const Extra update = [&key, value](Json& in) { in.set("key", key).set("value", Json::ref(value)); };
    const JobArgs::Lease args = lease(job, &update);
    if (call_stack(job, topic.c_str(), args.get()) < 0) {
        return Error{std::errc::invalid_argument, error_of(args.get(), "update of " + key + " rejected by a plugin")};
    }
    return Done{};
}

Status Jobtap::validate_update(Job& job, const Json& jobspec) {
    return call_early(job, "job.validate", [&jobspec](Json& in) { in.set("jobspec", jobspec.share()); });
}

Status Jobtap::admit(Job& job) {
    for (const char* topic : {"job.create", "job.validate"}) {
        if (auto done = call_early(job, topic); !done) {
            return done;
        }
    }
    return check_dependencies(job);
}

void Jobtap::on_restored(Job& job) {
    call(job, "job.create");
    call(job, "job.new");
}

void Jobtap::on_rejected(Job& job) {
    call(job, "job.destroy");
    for (const auto& plugin : stack_) {
        plugin->drop_items(job.id);
    }
}

void Jobtap::on_event(Job& job, const Event& event, State before) {
    const bool has_subscriber =
        std::any_of(stack_.begin(), stack_.end(), [&](const auto& p) { return p->subscriptions.count(job.id) > 0; });
    if (has_subscriber) {
        const std::string topic = "job.event." + event.name;
        const Extra entry = [&event](Json& in) { in.set("entry", entry_json(event)); };
        const JobArgs::Lease args = lease(job, &entry);
        if (call_stack(job, topic.c_str(), args.get(), true) < 0) {
            flux_log(engine_.handle(), LOG_ERR, "jobtap: %s callback failed for job %s", topic.c_str(),
                     f58(job.id).c_str());
        }
    }
    if (event.name == "jobspec-update" && anyone_handles("job.update")) {
        call(job, "job.update", [&event](Json& in) { in.set("updates", event.context.share()); });
    }
    if (job.state == before || !anyone_handles(state_topic(job.state))) {
        return;
    }
    call(job, state_topic(job.state),
         [&event, before](Json& in) { in.set("entry", entry_json(event)).set("prev_state", bit(before)); });
}

void Jobtap::replay_state(Job& job) {
    call(job, state_topic(job.state));
}

void Jobtap::on_inactive(Job& job) {
    call(job, "job.inactive-add");
    call(job, "job.destroy");
    for (const auto& plugin : stack_) {
        plugin->drop_items(job.id);
    }
}

}  // namespace weir::broker::jobs
