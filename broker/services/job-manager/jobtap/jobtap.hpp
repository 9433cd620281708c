// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the stack of job-manager plugins: loading, order, calls with a job's arguments, the effects of their answers.
// Must not know: the functions that plugins call (jobtap_api.cpp), the purpose of any plugin. Source:
// flux-jobtap-plugins(7); flux-core 0.88's semantics.
#pragma once
#include <flux/jobtap.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/services/job-manager/engine/engine.hpp"
#include "broker/services/job-manager/jobtap/job_args.hpp"

namespace weir::broker::jobs {

/// The answer of a plugin that has no priority for a job yet: flux_jobtap_priority_unavail().
inline constexpr std::int64_t priority_unavailable = -2;

/// One loaded plugin. Its service handlers and its items on jobs are removed with it.
class Plugin {
  public:
    Plugin(flux_plugin_t* plugin, std::string name) : plugin_(plugin), name_(std::move(name)) {}
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;
    flux_plugin_t* get() const { return plugin_; }
    /// File name with extension, or ".name" of a builtin.
    const std::string& name() const { return name_; }
    bool handles(const char* topic) const { return flux_plugin_match_handler(plugin_, topic) != nullptr; }

    struct Item {
        std::string key;
        void* value;
        flux_free_f free;
    };
    struct Service {
        Jobtap* host;
        flux_msg_handler_f callback;
        void* arg;
        Handlers handlers;
    };
    std::map<JobId, std::vector<Item>> items;
    std::set<JobId> subscriptions;
    std::vector<std::unique_ptr<Service>> services;
    void drop_items(JobId id);

  private:
    flux_plugin_t* plugin_;
    std::string name_;
};

/// The form of [job-manager] plugins; whether each plugin is there is known when it is loaded.
Status check_plugin_list(const json_t* config);

class Jobtap : public Component {
  public:
    explicit Jobtap(Engine& engine) : Component(engine) {}
    ~Jobtap();
    /// Builtins, then [job-manager] plugins of the configuration. Error: the entry and the reason.
    Status start();
    Status register_handlers();

    /// job.create and job.validate, then dependencies. Error: the plugin's message.
    Status admit(Job& job);
    /// job.new: the job was accepted.
    void on_new(Job& job) { call(job, "job.new"); }
    /// job.create and job.new of a job that is older than this process.
    void on_restored(Job& job);
    void on_rejected(Job& job);
    bool handles_update(const std::string& key) const { return anyone_handles(("job.update." + key).c_str()); }
    /// job.update.KEY. Error: the plugin's message, or that no plugin allows an update of this key.
    Status check_update(Job& job, const std::string& key, json_t* value);
    /// job.validate of the job with another jobspec.
    Status validate_update(Job& job, const Json& jobspec);
    /// Subscribers, job.update, and job.state.* when the state changed.
    void on_event(Job& job, const Event& event, State before);
    /// job.inactive-add, job.destroy; removes the plugins' items.
    void on_inactive(Job& job);
    void on_purge(Job& job) { call(job, "job.inactive-remove"); }
    /// job.priority.get. Negative: unavailable; a job in SCHED then keeps its priority, one in PRIORITY waits.
    std::int64_t priority_of(Job& job);
    /// conf.update to every plugin. Error: the first rejection.
    Status update_config(const json_t* config);
    /// After a restart: calls job.state.<current> again without an event.
    void replay_state(Job& job);
    /// After a restart: job.dependency.* again, for plugins with state of their own.
    /// After a restart: each dependency is registered again. One that can never be fulfilled ends the job; one that a
    /// plugin refuses leaves it in DEPEND, with an exception that says so.
    void recheck_dependencies(Job& job);

    Status load(const std::string& path, const json_t* conf, bool is_at_start);
    /// By name, glob or "all" (which spares builtins). Error: none matched.
    Status remove(const std::string& pattern);

    // ---- for jobtap_api.cpp ----
    Engine& engine() { return engine_; }
    Plugin* find(flux_plugin_t* plugin) const;
    Job* current() const { return current_.empty() ? nullptr : current_.back(); }
    /// For a plugin that keeps them. `job` must outlive them.
    PluginArgs args_of(const Job& job) const { return JobArgs::make(job, more_of(job)); }
    Json& pending_update() { return pending_update_; }
    /// FLUX_JOBTAP_CURRENT_JOB or an id; active or inactive. Null when unknown.
    Job* lookup(JobId id) const;

    /// How often a plugin's arguments needed a jobspec, which is decoded each time.
    std::uint64_t jobspecs() const { return jobspecs_; }

  private:
    friend struct JobtapTable;
    Answer jobtap_request(const Request& request);
    Answer query(const Request& request);
    bool anyone_handles(const char* topic) const;
    /// Calls the stack; sum of the results, negative at the first failure.
    int call_stack(Job& job, const char* topic, flux_plugin_arg_t* args, bool to_subscribers = false);
    /// A call's own arguments, beside those of every call.
    using Extra = std::function<void(Json&)>;
    /// The rest of IN: jobspec, R, end_event, and `extra`, which must outlive the call.
    MoreArgs more_of(const Job& job, const Extra* extra = nullptr) const;
    JobArgs::Lease lease(const Job& job, const Extra* extra = nullptr) { return args_.lease(job, more_of(job, extra)); }
    /// Calls the stack and applies OUT priority, annotations and R.
    void call(Job& job, const char* topic, const Extra& extra = {});
    Status call_early(Job& job, const char* topic, const Extra& extra = {});
    Status check_dependencies(Job& job);
    Status check_dependency(Job& job, json_t* entry);
    void apply_out(Job& job, const char* topic, flux_plugin_arg_t* args);
    Status conf_update_one(const Plugin& plugin, const json_t* config);
    Result<std::unique_ptr<Plugin>> create(const std::string& path, const json_t* conf);
    Status load_file(flux_plugin_t* plugin, const std::string& path);
    void introduce(Plugin& plugin);
    void post_updates(Job& job);

    std::vector<std::unique_ptr<Plugin>> stack_;
    std::vector<Job*> current_;
    Json pending_update_;
    JobArgs args_;
    mutable std::uint64_t jobspecs_ = 0;  ///< a count of work
};

/// The builtin: sets each job's priority to default_priority().
int priority_default_init(flux_plugin_t* plugin);

}  // namespace weir::broker::jobs
