// SPDX-License-Identifier: LGPL-3.0-only
// Owns: finding, loading, introducing and removing plugins; the requests jobtap and jobtap-query.
// Must not know: what the answers of plugins do (jobtap.cpp).
// Source: flux-jobtap(1); a file without flux_plugin_init is refused here (stock Flux loads it and does nothing).
#include <dlfcn.h>
#include <fnmatch.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "broker/services/job-manager/jobtap/jobtap.hpp"

namespace weir::broker::jobs {
namespace {

std::string base_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

Status check_entry_point(const std::string& path) {
    void* dso = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!dso) {
        return Error{std::errc::no_such_file_or_directory, ::dlerror()};
    }
    const bool has_init = ::dlsym(dso, "flux_plugin_init") != nullptr;
    ::dlclose(dso);
    if (!has_init) {
        return Error{std::errc::invalid_argument,
                     path + ": is no job-manager plugin: it does not export flux_plugin_init"};
    }
    return Done{};
}

const json_t* plugin_list(const json_t* config) {
    return json_object_get(json_object_get(config, "job-manager"), "plugins");
}

std::string entry_text(std::size_t i) {
    return "[job-manager.plugins][" + std::to_string(i) + "]: ";
}

/// FLUX_JOBTAP_PATH (colon list), then the broker's own lib/flux/job-manager/plugins.
std::vector<std::string> search_path() {
    std::vector<std::string> dirs;
    std::string list = ::getenv("FLUX_JOBTAP_PATH") ? ::getenv("FLUX_JOBTAP_PATH") : "";
    char self[4096];
    const ssize_t n = ::readlink("/proc/self/exe", self, sizeof self);
    std::string exe(self, n > 0 ? static_cast<std::size_t>(n) : 0);
    for (int up = 0; up < 3 && exe.rfind('/') != std::string::npos; ++up) {
        exe.resize(exe.rfind('/'));
        list += (list.empty() ? "" : ":") + exe + "/lib/flux/job-manager/plugins";
    }
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(':', begin), list.size());
        if (end > begin) {
            dirs.push_back(list.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return dirs;
}

Result<std::string> find_plugin(const std::string& path) {
    if (path.starts_with("/") || path.starts_with("./")) {
        return path;
    }
    std::string tried;
    for (const std::string& dir : search_path()) {
        const std::string full = dir + "/" + path;
        if (::access(full.c_str(), R_OK) == 0) {
            return full;
        }
        tried += (tried.empty() ? "" : ", ") + dir;
    }
    return Error{std::errc::no_such_file_or_directory,
                 path + ": No such plugin found (give an absolute path; looked in " + tried + ")"};
}

}  // namespace

struct JobtapTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.jobtap", on_request<Jobtap, &Jobtap::jobtap_request>, FLUX_ROLE_OWNER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.jobtap-query", on_request<Jobtap, &Jobtap::query>, FLUX_ROLE_OWNER},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

Status Jobtap::register_handlers() {
    return handlers_.add(engine_.handle(), JobtapTable::specs, this);
}

Status check_plugin_list(const json_t* config) {
    const json_t* list = plugin_list(config);
    if (list != nullptr && !json_is_array(list)) {
        return Error{std::errc::invalid_argument, "[job-manager.plugins] config must be an array"};
    }
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const json_t* entry = json_array_get(list, i);
        if (!read_string(entry, "remove") && !read_string(entry, "load")) {
            return Error{std::errc::invalid_argument, entry_text(i) + "an entry needs load or remove"};
        }
    }
    return Done{};
}

Status Jobtap::start() {
    if (auto done = load(".priority-default", nullptr, true); !done) {
        return done;
    }
    if (auto done = check_plugin_list(engine_.config()); !done) {
        return done;
    }
    const json_t* list = plugin_list(engine_.config());
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const json_t* entry = json_array_get(list, i);
        const auto to_remove = read_string(entry, "remove");
        const auto to_load = read_string(entry, "load");
        Status done = Done{};
        if (to_remove) {
            done = remove(std::string(*to_remove));
        }
        if (done && to_load) {
            done = load(std::string(*to_load), json_object_get(entry, "conf"), true);
        }
        if (!done) {
            return Error{done.error().code, entry_text(i) + done.error().message};
        }
    }
    return Done{};
}

Status Jobtap::load_file(flux_plugin_t* plugin, const std::string& path) {
    if (auto done = check_entry_point(path); !done) {
        return done;
    }
    flux_plugin_set_flags(plugin, FLUX_PLUGIN_RTLD_NOW);
    if (flux_plugin_load_dso(plugin, path.c_str()) < 0) {
        return Error{static_cast<std::errc>(errno ? errno : EINVAL), flux_plugin_strerror(plugin)};
    }
    const char* given = flux_plugin_get_name(plugin);
    const std::string name = given ? given : "";
    if (name.empty() || name.find_first_of("/.") != std::string::npos) {
        const std::string base = base_name(path);
        flux_plugin_set_name(plugin, base.substr(0, base.find('.')).c_str());
    }
    return Done{};
}

Result<std::unique_ptr<Plugin>> Jobtap::create(const std::string& path, const json_t* conf) {
    const bool is_builtin = path.starts_with(".") && path.find('/') == std::string::npos;
    std::string file = path;
    if (!is_builtin) {
        auto found = find_plugin(path);
        if (!found) {
            return found.error();
        }
        file = *found;
    }
    const std::string name = is_builtin ? path : base_name(file);
    for (const auto& loaded : stack_) {
        if (loaded->name() == name) {
            return Error{std::errc::file_exists, name + " already loaded"};
        }
    }
    if (conf && !json_is_null(conf) && !json_is_object(conf)) {
        return Error{std::errc::invalid_argument, "jobtap: plugin conf must be a JSON object"};
    }
    flux_plugin_t* raw = flux_plugin_create();
    auto plugin = std::make_unique<Plugin>(raw, name);
    flux_plugin_aux_set(raw, "flux::jobtap", this, nullptr);
    if (json_is_object(conf) && flux_plugin_set_conf(raw, Json::ref(conf).dump().c_str()) < 0) {
        return Error{std::errc::invalid_argument, flux_plugin_strerror(raw)};
    }
    // On the stack while it initialises: its init may register services.
    stack_.push_back(std::move(plugin));
    Status done = Done{};
    if (!is_builtin) {
        done = load_file(raw, file);
    } else if (path != ".priority-default" || flux_plugin_set_name(raw, path.c_str()) < 0 ||
               priority_default_init(raw) < 0) {
        done = Error{std::errc::no_such_file_or_directory, path + ": no such builtin plugin"};
    }
    if (done) {
        done = conf_update_one(*stack_.back(), engine_.config());
    }
    plugin = std::move(stack_.back());
    stack_.pop_back();
    if (!done) {
        return done.error();
    }
    return plugin;
}

Status Jobtap::load(const std::string& path, const json_t* conf, bool is_at_start) {
    auto plugin = create(path, conf);
    if (!plugin) {
        return plugin.error();
    }
    stack_.push_back(std::move(*plugin));
    if (is_at_start) {
        return Done{};
    }
    introduce(*stack_.back());
    return engine_.reprioritize_all();
}

void Jobtap::introduce(Plugin& plugin) {
    std::vector<Job*> jobs;
    for (const auto& [id, job] : engine_.jobs().active_jobs()) {
        jobs.push_back(job.get());
    }
    for (Job* job : jobs) {
        PluginArgs args = args_of(*job);
        current_.push_back(job);
        flux_plugin_call(plugin.get(), "job.create", args.get());
        flux_plugin_call(plugin.get(), "job.new", args.get());
        if (job->state == State::depend) {
            const Json jobspec = jobspec_tree(*job);
            const json_t* list = read_path(jobspec.get(), "attributes.system.dependencies");
            for (std::size_t i = 0; i < json_array_size(list); ++i) {
                json_t* entry = json_array_get(list, i);
                const std::string topic = "job.dependency." + std::string(read_string(entry, "scheme").value_or(""));
                flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:O}", "dependency", entry);
                flux_plugin_call(plugin.get(), topic.c_str(), args.get());
            }
            flux_plugin_call(plugin.get(), "job.state.depend", args.get());
        }
        current_.pop_back();
    }
}

Status Jobtap::remove(const std::string& pattern) {
    const bool is_all = pattern == "all";
    std::size_t count = 0;
    for (auto at = stack_.begin(); at != stack_.end();) {
        const std::string& name = (*at)->name();
        const bool matches = (is_all && name[0] != '.') || pattern == name ||
                             (!is_all && ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0);
        at = matches ? stack_.erase(at) : at + 1;
        count += matches;
    }
    if (count == 0 && !is_all) {
        return Error{std::errc::no_such_file_or_directory, "Failed to find plugin to remove"};
    }
    return Done{};
}

Status Jobtap::conf_update_one(const Plugin& plugin, const json_t* config) {
    if (!plugin.handles("conf.update")) {
        return Done{};
    }
    PluginArgs args(flux_plugin_arg_create());
    flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:O}", "conf", config);
    if (flux_plugin_call(plugin.get(), "conf.update", args.get()) >= 0) {
        return Done{};
    }
    const char* message = nullptr;
    if (flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:s}", "errmsg", &message) < 0) {
        message = nullptr;
    }
    return Error{std::errc::invalid_argument,
                 message ? message : "config rejected by " + plugin.name() + " jobtap plugin"};
}

Status Jobtap::update_config(const json_t* config) {
    for (const auto& plugin : stack_) {
        if (auto done = conf_update_one(*plugin, config); !done) {
            return done;
        }
    }
    return Done{};
}

Answer Jobtap::jobtap_request(const Request& request) {
    if (read_boolean(request.body(), "query_only").value_or(false)) {
        Json names = Json::array();
        for (const auto& plugin : stack_) {
            names.append(plugin->name());
        }
        Json out = Json::object();
        out.set("plugins", std::move(names));
        return Reply::of(out);
    }
    const auto to_remove = read_string(request.body(), "remove");
    const auto to_load = read_string(request.body(), "load");
    if (!to_remove && !to_load) {
        return protocol_error("jobtap needs load, remove or query_only");
    }
    if (to_remove) {
        if (auto done = remove(std::string(*to_remove)); !done) {
            return done.error();
        }
    }
    if (to_load) {
        if (auto done = load(std::string(*to_load), json_object_get(request.body(), "conf"), false); !done) {
            return done.error();
        }
    }
    return Reply::empty();
}

Answer Jobtap::query(const Request& request) {
    const auto name = read_string(request.body(), "name");
    if (!name) {
        return protocol_error("name must be a string");
    }
    const auto at = std::find_if(stack_.begin(), stack_.end(), [&](const auto& p) { return p->name() == *name; });
    if (at == stack_.end()) {
        return Error{std::errc::no_such_file_or_directory, std::string(*name) + ": plugin not found"};
    }
    const Plugin& plugin = **at;
    const char* path = flux_plugin_get_path(plugin.get());
    PluginArgs args(flux_plugin_arg_create());
    flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:s s:s}", "name", plugin.name().c_str(), "path",
                         path ? path : "builtin");
    if (flux_plugin_call(plugin.get(), "plugin.query", args.get()) < 0) {
        return Error{std::errc::io_error, "plugin.query failed"};
    }
    char* text = nullptr;
    if (flux_plugin_arg_get(args.get(), FLUX_PLUGIN_ARG_OUT, &text) < 0) {
        return Error{std::errc::io_error, "failed to get plugin.query out args"};
    }
    std::string payload = text;
    ::free(text);
    return Reply::of(std::move(payload));
}

}  // namespace weir::broker::jobs
