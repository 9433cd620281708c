// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which modules are loaded and in what order they come and go. Must not know what modules do.
#include "broker/core/module_host.hpp"

#include <flux/core.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "broker/core/builtin.hpp"
#include "broker/core/module.hpp"

#ifndef WEIR_LIBDIR
#error "WEIR_LIBDIR, where modules are installed below the prefix, is set by broker/core/CMakeLists.txt"
#endif

namespace weir::broker {
namespace {

namespace fs = std::filesystem;

std::string error_text(const ModuleEnd& end) {
    return end.message.empty() ? std::strerror(end.errnum) : end.message;
}

/// Directories of the installed and of the built module DSOs, relative to this program.
std::vector<std::string> own_module_dirs() {
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    if (failed) {
        return {};
    }
    const fs::path prefix = self.parent_path().parent_path();
    const std::string built = (prefix / "lib/flux/modules").string();
    const std::string installed = (prefix / WEIR_LIBDIR / "flux/modules").string();
    return installed == built ? std::vector{built} : std::vector{built, installed};
}

/// The file of a module that had another name in earlier releases: a configuration with that name continues to work.
/// Flux has a `sched-backfill` of its own, so these names are valid in this broker only.
std::string present_name(const std::string& name) {
    if (name == "sched-fcfs") {
        return "sched-weir-fcfs";
    }
    return name == "sched-backfill" ? "sched-weir-easy" : name;
}

}  // namespace

/// Where a module's code comes from: a builtin, or a DSO at `path`.
struct ModuleHost::Source {
    std::string name;
    std::string path;
    const Builtin* builtin = nullptr;
};

ModuleHost::ModuleHost(ChannelPump& pump, Router& router, const Attributes& attributes, Hooks hooks)
    : pump_(pump), router_(router), attributes_(attributes), hooks_(std::move(hooks)) {}

ModuleHost::~ModuleHost() = default;

std::string ModuleHost::name_of(const std::string& path) {
    const std::string base = fs::path(path).filename().string();
    return base.substr(0, base.find('.'));
}

Result<std::string> ModuleHost::search(const std::string& name) const {
    std::vector<std::string> dirs;
    if (const char* listed = std::getenv("FLUX_MODULE_PATH")) {
        std::string_view rest = listed;
        while (!rest.empty()) {
            const auto colon = std::min(rest.find(':'), rest.size());
            dirs.emplace_back(rest.substr(0, colon));
            rest.remove_prefix(std::min(colon + 1, rest.size()));
        }
    }
    for (std::string& dir : own_module_dirs()) {
        dirs.push_back(std::move(dir));
    }
    std::string searched;
    for (const std::string& dir : dirs) {
        const std::string path = dir + "/" + name + ".so";
        if (!dir.empty() && access(path.c_str(), F_OK) == 0) {
            return path;
        }
        searched += (searched.empty() ? "" : ":") + dir;
    }
    return Error{std::errc::no_such_file_or_directory,
                 "module not found in search path: no builtin and no " + name + ".so in " + searched};
}

Result<ModuleHost::Source> ModuleHost::resolve(const LoadRequest& request) const {
    Source source;
    if (request.target.find('/') != std::string::npos) {
        source.path = request.target;
        source.name = name_of(request.target);
    } else {
        source.name = request.target;
        source.builtin = find_builtin(request.target);
        if (source.builtin != nullptr) {
            source.path = "builtin";
        } else {
            auto path = search(present_name(request.target));
            if (!path) {
                return path.error();
            }
            source.path = *path;
        }
    }
    if (!request.name.empty()) {
        source.name = request.name;
    }
    if (source.name.empty() || source.name.find('.') != std::string::npos) {
        return Error{std::errc::invalid_argument,
                     "'" + source.name + "' is no module name: it must not be empty or have a dot"};
    }
    if (find(source.name) != nullptr || !router_.services().find(source.name).empty()) {
        return Error{std::errc::file_exists, std::strerror(EEXIST)};
    }
    return source;
}

Result<Module*> ModuleHost::start(const LoadRequest& request) {
    const auto source = resolve(request);
    if (!source) {
        return source.error();
    }
    ModuleStart start;
    Dso dso;
    if (source->builtin != nullptr) {
        start.mod_main = source->builtin->mod_main;
    } else {
        auto opened = Dso::open(source->path, source->name);
        if (!opened) {
            return opened.error();
        }
        dso = std::move(*opened);
        start.mod_main = dso.mod_main();
    }
    start.args = request.args;
    start.config = hooks_.config();
    for (const auto& [name, value] : attributes_.all()) {
        if (value.kind == Attributes::Kind::fixed) {
            start.attributes.emplace(name, value.text);
        }
    }
    auto module = std::make_unique<Module>(pump_, router_, source->name, source->path);
    if (const auto added = router_.services().add(source->name, module->uuid()); !added) {
        return added.error();
    }
    router_.attach(*module);
    hooks_.log(LOG_DEBUG, "insmod " + source->name);
    modules_.push_back(std::move(module));
    Module* started = modules_.back().get();
    started->start(std::move(start), std::move(dso), [this](Module& ended) { on_exit(ended); });
    return started;
}

void ModuleHost::load(const LoadRequest& request, Finished done) {
    const auto started = start(request);
    if (!started) {
        done(started.error());
        return;
    }
    (*started)->loaded = std::move(done);
}

void ModuleHost::remove(const std::string& name, Finished done) {
    Module* module = find(name);
    if (module == nullptr) {
        done(Error{std::errc::no_such_file_or_directory, std::strerror(ENOENT)});
        return;
    }
    module->removed.push_back(std::move(done));
    if (!module->is_removal_asked) {
        module->is_removal_asked = true;
        hooks_.log(LOG_DEBUG, "rmmod " + module->name());
        router_.call(module->name() + ".shutdown", Json(), {});
    }
}

void ModuleHost::remove_all(std::function<void()> done) {
    if (modules_.empty()) {
        done();
        return;
    }
    remove(modules_.back()->name(),
           [this, done = std::move(done)](const Status&) mutable { remove_all(std::move(done)); });
}

bool ModuleHost::set_state(std::string_view uuid, ModuleState state) {
    const auto it = std::find_if(modules_.begin(), modules_.end(), [uuid](const auto& m) { return m->uuid() == uuid; });
    if (it == modules_.end()) {
        return false;
    }
    Module& module = **it;
    if (state > module.state) {
        module.state = state;
    }
    if (state == ModuleState::running && module.loaded) {
        std::exchange(module.loaded, {})(Done{});
    }
    return true;
}

void ModuleHost::on_exit(Module& module) {
    const bool was_loaded = !module.loaded;
    module.state = ModuleState::exited;
    router_.detach(module);
    const ModuleEnd end = module.join();
    const std::string name = module.name();
    const auto it =
        std::find_if(modules_.begin(), modules_.end(), [&module](const auto& m) { return m.get() == &module; });
    const std::unique_ptr<Module> gone = std::move(*it);
    modules_.erase(it);
    hooks_.log(LOG_DEBUG, "module " + name + " exited");
    if (end.errnum != 0) {
        hooks_.log(LOG_ERR, name + ": " + error_text(end));
    }
    if (gone->loaded) {
        const Status how =
            end.errnum == 0 ? Status(Done{}) : Error{static_cast<std::errc>(end.errnum), error_text(end)};
        std::exchange(gone->loaded, {})(how);
    }
    if (was_loaded && !gone->is_removal_asked && end.errnum != 0) {
        if (attributes_.get("broker.module-nopanic").value_or("0") != "0") {
            hooks_.log(LOG_CRIT, name + " module runtime failure");
        } else {
            hooks_.panic(name + " module runtime failure: " + error_text(end));
        }
    }
    for (const ModuleHost::Finished& done : std::exchange(gone->removed, {})) {
        done(Done{});
    }
}

Module* ModuleHost::find(const std::string& name) const {
    for (const auto& module : modules_) {
        if (module->name() == name || module->path() == name) {
            return module.get();
        }
    }
    return nullptr;
}

std::vector<std::string> ModuleHost::names() const {
    std::vector<std::string> names;
    for (const auto& module : modules_) {
        names.push_back(module->name());
    }
    return names;
}

Json ModuleHost::list() const {
    Json mods = Json::own(json_array());
    const std::time_t now = std::time(nullptr);
    for (const auto& module : modules_) {
        json_t* services = json_array();
        for (const std::string& service : router_.services().names(module->uuid())) {
            json_array_append_new(services, json_string(service.c_str()));
        }
        json_array_append_new(
            mods.get(),
            json_pack("{s:s s:s s:i s:i s:o s:i s:i}", "name", module->name().c_str(), "path", module->path().c_str(),
                      "idle", static_cast<int>(now - module->last_seen()), "status", static_cast<int>(module->state),
                      "services", services, "sendqueue", 0, "recvqueue", 0));
    }
    return mods;
}

}  // namespace weir::broker
