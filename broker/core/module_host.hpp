// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the loaded modules: finding and opening the DSO, starting and joining the thread, states, removal, the rule
// that a running module's failure ends the broker. Must not know what modules do. Source: RFC 5.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/core/attributes.hpp"
#include "broker/core/module_channel.hpp"
#include "broker/core/module_thread.hpp"
#include "broker/core/router.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker {

enum class ModuleState { init = 0, running = 1, finalizing = 2, exited = 3 };

struct LoadRequest {
    std::string target;  // builtin name, DSO name or path
    std::string name;    // empty: from the target
    std::vector<std::string> args;
};

class Module;

class ModuleHost {
  public:
    using Finished = std::function<void(const Status&)>;
    using Log = std::function<void(int severity, const std::string& text)>;
    struct Hooks {
        Log log;
        std::function<void(const std::string& why)> panic;  // a running module failed
        std::function<std::string()> config;                // the configuration as JSON text
    };

    ModuleHost(ChannelPump& pump, Router& router, const Attributes& attributes, Hooks hooks);
    ~ModuleHost();

    /// Loads asynchronously; `done` is called once, when the module runs or has failed.
    /// Errors: EEXIST, ENOENT, EINVAL, or what mod_main failed with.
    void load(const LoadRequest& request, Finished done);
    /// Asks the module to stop; `done` is called when its thread has ended and its DSO is unmapped. ENOENT.
    void remove(const std::string& name, Finished done);
    /// Removes all modules, the last loaded first, one at a time.
    void remove_all(std::function<void()> done);
    /// A module reports its state. Unknown senders are ignored. \return false if there is no such module.
    bool set_state(std::string_view uuid, ModuleState state);
    /// RFC 5 mods array.
    Json list() const;
    /// Names in load order.
    std::vector<std::string> names() const;

    /// "dir/job-priority.v1.so" -> "job-priority".
    static std::string name_of(const std::string& path);

  private:
    friend class Module;
    struct Source;
    Result<Source> resolve(const LoadRequest& request) const;
    Result<std::string> search(const std::string& name) const;
    Result<Module*> start(const LoadRequest& request);
    void on_exit(Module& module);
    Module* find(const std::string& name) const;

    ChannelPump& pump_;
    Router& router_;
    const Attributes& attributes_;
    Hooks hooks_;
    std::vector<std::unique_ptr<Module>> modules_;  // load order
    std::function<void()> all_removed_;
};

}  // namespace weir::broker
