// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one broker: its parts in their order of construction, start-up, shutdown and exit code.
// Must not know the insides of any part.
// Source: flux-broker(1).
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/core/attributes.hpp"
#include "broker/core/broker_config.hpp"
#include "broker/core/clock_keeper.hpp"
#include "broker/core/config_service.hpp"
#include "broker/core/local_listener.hpp"
#include "broker/core/log_service.hpp"
#include "broker/core/loop.hpp"
#include "broker/core/module_channel.hpp"
#include "broker/core/module_host.hpp"
#include "broker/core/module_trace.hpp"
#include "broker/core/options.hpp"
#include "broker/core/router.hpp"
#include "broker/core/rundir.hpp"

namespace weir::broker {

class Broker {
  public:
    /// Everything up to, but without, the first thread.
    /// \return an error in words for the operator.
    static Result<std::unique_ptr<Broker>> create(const Options& options);
    ~Broker();
    /// Runs to the end. \return the exit code: 0, or 1 if a module failed.
    int run();

  private:
    enum class Stage { init, run, shutdown };
    Broker(const Options& options, Rundir rundir, Attributes attributes, LoadedConfig config, BrokerConfig own);
    ConfigService::Hooks config_hooks();

    void add_services();
    void watch_signals();
    void on_signal(int number);
    void load_next(std::size_t i);
    void place_errors(const std::string& module);
    void announce_ready();
    void apply_config(const BrokerConfig& config);
    void shut_down(int exit_code);
    void say_stopped();
    void end_loop();
    void fail(const std::string& why);
    [[noreturn]] void give_up();
    Json stats() const;
    double run_time() const;

    Options options_;
    Rundir rundir_;
    Attributes attributes_;
    std::vector<LoadRequest> to_load_;
    LocalListener::Policy access_;
    Loop loop_;
    Router router_;
    LogService log_;
    ModuleTrace trace_;
    ChannelPump pump_;
    std::unique_ptr<LocalListener> listener_;
    ModuleHost host_;
    ConfigService config_;
    std::deque<Watch<uv_signal_t>> signals_;
    Watch<uv_timer_t> deadline_;
    std::unique_ptr<ClockKeeper> clock_;
    Stage stage_ = Stage::init;
    bool is_reload_due_ = false;
    int exit_code_ = 0;
    std::vector<std::function<void()>> when_running_;
    std::vector<std::function<void()>> when_stopped_;
    bool is_stopped_ = false;
};

}  // namespace weir::broker
