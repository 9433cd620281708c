// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one loaded module for the main thread: its thread, its channel, its DSO and the callers that wait for it.
// Must not know other modules.
#pragma once
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker/core/module_channel.hpp"
#include "broker/core/module_host.hpp"
#include "broker/core/module_thread.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

/// A shared object opened for a module; unmapped on destruction.
class Dso {
  public:
    /// \return ENOENT with dlerror's text, EINVAL if it exports no mod_main or another mod_name.
    static Result<Dso> open(const std::string& path, const std::string& name);
    Dso() = default;
    Dso(Dso&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), mod_main_(std::exchange(other.mod_main_, nullptr)) {}
    Dso& operator=(Dso&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(mod_main_, other.mod_main_);
        return *this;
    }
    ~Dso();
    int (*mod_main() const)(flux_t*, int, char**) { return mod_main_; }

  private:
    void* handle_ = nullptr;
    int (*mod_main_)(flux_t*, int, char**) = nullptr;
};

class Module final : public Endpoint {
  public:
    using OnExit = std::function<void(Module&)>;
    Module(ChannelPump& pump, Router& router, std::string name, std::string path);
    ~Module() override;

    /// Starts the thread; `on_exit` is called in the main thread after mod_main has returned and all it sent was
    /// routed.
    void start(ModuleStart start, Dso dso, OnExit on_exit);
    bool deliver(const Packet& packet) override;
    /// Waits for the ended thread and unmaps the DSO.
    ModuleEnd join();

    const std::string& name() const { return module_name(); }
    const std::string& path() const { return path_; }
    std::time_t last_seen() const { return last_seen_; }

    ModuleState state = ModuleState::init;
    bool is_removal_asked = false;
    ModuleHost::Finished loaded;                // waits for RUNNING or failure; empty once called
    std::vector<ModuleHost::Finished> removed;  // wait for the exit

  private:
    void receive(std::string bytes);

    ChannelPump& pump_;
    Router& router_;
    std::string path_;
    std::time_t last_seen_;
    ModuleChannel channel_;
    Watch<uv_async_t> exited_;
    Dso dso_;
    ModuleEnd end_;  // written by the thread, read after join
    std::thread thread_;
};

}  // namespace weir::broker
