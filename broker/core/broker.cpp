// SPDX-License-Identifier: LGPL-3.0-only
// Owns: wiring the parts, start-up and shutdown. Must not know the insides of any part.
#include "broker/core/broker.hpp"

#include <flux/core.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "broker/api/clock.hpp"
#include "broker/api/private_dir.hpp"
#include "broker/core/config_keys.hpp"
#include "broker/core/instance.hpp"
#include "broker/core/services.hpp"

namespace weir::broker {
namespace {

constexpr std::uint64_t farewell_ms_max = 1'000;   // real time, for clients that were told of the end
constexpr std::uint64_t shutdown_ms_max = 30'000;  // real time; then modules that hang are left behind

Cred owner_cred() {
    return {static_cast<std::uint32_t>(getuid()), FLUX_ROLE_OWNER | FLUX_ROLE_LOCAL};
}

/// SIGALRM: the time limit of the job that this broker is has come.
constexpr int signals_handled[] = {SIGTERM, SIGINT, SIGQUIT, SIGALRM, SIGHUP};

/// \param how SIG_BLOCK or SIG_UNBLOCK.
void mask_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : signals_handled) {
        sigaddset(&set, number);
    }
    WEIR_CHECK(pthread_sigmask(how, &set, nullptr) == 0);
}

}  // namespace

Result<std::unique_ptr<Broker>> Broker::create(const Options& options) {
    mask_signals(SIG_BLOCK);  // until they are watched, so that what is made here is cleaned up
    auto config = load_config(options.configs);
    if (!config) {
        return config.error();
    }
    auto own = read_broker_config(config->config);
    if (!own) {
        return Error{own.error().code, explained(own.error().message, *config)};
    }
    auto rundir = Rundir::open(options.rundir);
    if (!rundir) {
        return rundir.error();
    }
    const Parent parent = take_parent_from_environment();
    auto attributes = instance_attributes(options, *own, parent, rundir->path());
    if (!attributes) {
        return attributes.error();
    }
    if (const auto statedir = attributes->get("statedir")) {  // what is kept there is believed at the next start
        if (auto is_private = check_private_dir(*statedir); !is_private) {
            return Error{is_private.error().code, "statedir: " + is_private.error().message};
        }
    }
    auto clock = ClockKeeper::begin(*attributes, parent);
    if (!clock) {
        return clock.error();
    }
    std::unique_ptr<Broker> broker(
        new Broker(options, std::move(*rundir), std::move(*attributes), std::move(*config), std::move(*own)));
    broker->clock_ = std::make_unique<ClockKeeper>(std::move(*clock));
    auto listener = LocalListener::bind(
        broker->loop_, broker->router_, broker->rundir_,
        [b = broker.get()](int severity, const std::string& text) { b->log_.write(severity, text); });
    if (!listener) {
        return listener.error();
    }
    broker->listener_ = std::move(*listener);
    broker->listener_->set_policy(broker->access_);
    broker->add_services();
    return broker;
}

Broker::Broker(const Options& options, Rundir rundir, Attributes attributes, LoadedConfig config, BrokerConfig own)
    : options_(options),
      rundir_(std::move(rundir)),
      attributes_(std::move(attributes)),
      to_load_(std::move(own.modules)),
      access_(own.access),
      router_(owner_cred()),
      log_(router_, attributes_, clock_now),
      trace_(router_, clock_now),
      pump_(loop_),
      host_(pump_, router_, attributes_,
            {[this](int severity, const std::string& text) { log_.write(severity, text); },
             [this](const std::string& why) { fail(why); }, [this] { return config_.config().dump(); }}),
      config_(router_, std::move(config), options.configs, config_hooks()) {
    log_.open_file();
    for (const std::string& warning : unknown_keys(config_.loaded())) {
        log_.write(LOG_WARNING, warning);
    }
}

ConfigService::Hooks Broker::config_hooks() {
    ConfigService::Hooks hooks;
    hooks.modules = [this] { return host_.names(); };
    hooks.check = [](const Json& wanted) {
        const auto read = read_broker_config(wanted);
        return read ? Status(Done{}) : Status(read.error());
    };
    hooks.apply = [this](const Json& now) { apply_config(*read_broker_config(now)); };
    hooks.reload_asked = [this] { log_.open_file(); };
    hooks.log = [this](int severity, const std::string& text) { log_.write(severity, text); };
    hooks.log_count = [this] { return log_.count(); };
    hooks.warnings = [this](std::uint64_t since) { return log_.since(since, LOG_WARNING); };
    return hooks;
}

Broker::~Broker() = default;

void Broker::add_services() {
    add_attr_service(router_, attributes_);
    add_event_service(router_);
    add_module_service(router_, host_);
    BrokerHooks hooks;
    hooks.now = clock_now;
    hooks.run_time = [this] { return run_time(); };
    hooks.state = [this] { return stage_ == Stage::init ? "init" : stage_ == Stage::run ? "run" : "shutdown"; };
    hooks.shut_down = [this](std::function<void()> stopped) {
        if (stopped) {
            when_stopped_.push_back(std::move(stopped));
        }
        shut_down(0);
    };
    hooks.waiter_left = [this] {
        if (is_stopped_) {
            end_loop();
        }
    };
    hooks.when_running = [this](std::function<void()> running) {
        if (stage_ == Stage::init) {
            when_running_.push_back(std::move(running));
        } else {
            running();
        }
    };
    hooks.stats = [this] { return stats(); };
    add_broker_service(router_, std::move(hooks));
    pump_.after_drain([this] { listener_->flush(); });
}

double Broker::run_time() const {
    return clock_now() - std::stod(attributes_.get("broker.starttime").value_or("0"));
}

Json Broker::stats() const {
    const Router::Counters& n = router_.counters();
    return Json::own(json_pack("{s:I s:I s:I s:I s:i}", "requests", static_cast<json_int_t>(n.requests), "responses",
                               static_cast<json_int_t>(n.responses), "events", static_cast<json_int_t>(n.events),
                               "dropped", static_cast<json_int_t>(n.dropped), "clients",
                               static_cast<int>(listener_->client_count())));
}

void Broker::apply_config(const BrokerConfig& config) {
    access_ = config.access;
    listener_->set_policy(access_);
    if (access_.allow_guests) {  // guests must reach the socket
        struct stat about {};
        if (fstat(rundir_.dir_fd(), &about) == 0) {
            chmod(rundir_.short_path(".").c_str(), (about.st_mode & 07777) | 0011);
        }
    }
}

void Broker::watch_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    for (const int handled : signals_handled) {
        Watch<uv_signal_t>& watch = signals_.emplace_back();
        WEIR_CHECK(watch.create([this](uv_signal_t* h) { return uv_signal_init(loop_.get(), h); }) == 0);
        watch.on([this](int number) { on_signal(number); });
        uv_signal_start(
            watch.get(), [](uv_signal_t* h, int number) { Watch<uv_signal_t>::fire(h, number); }, handled);
    }
    mask_signals(SIG_UNBLOCK);
}

void Broker::on_signal(int number) {
    if (number == SIGHUP) {
        if (stage_ == Stage::run) {
            config_.reload();
        } else if (stage_ == Stage::init) {
            is_reload_due_ = true;  // a module that comes up has not seen the files of now
        }
        return;
    }
    if (stage_ == Stage::shutdown) {
        log_.write(LOG_ERR, "asked a second time: not waiting for the modules");
        give_up();
    }
    shut_down(exit_code_);
}

int Broker::run() {
    watch_signals();
    apply_config(BrokerConfig{to_load_, access_, {}, {}});
    load_next(0);
    loop_.run();
    return exit_code_;
}

void Broker::load_next(std::size_t i) {
    if (stage_ != Stage::init) {
        return;
    }
    if (i == to_load_.size()) {
        stage_ = Stage::run;
        clock_->watch(loop_, [this](int severity, const std::string& text) { log_.write(severity, text); });
        log_.write(LOG_INFO, "online: " + *attributes_.get("local-uri"));
        listener_->accept();
        announce_ready();
        for (const auto& running : std::exchange(when_running_, {})) {
            running();
        }
        if (std::exchange(is_reload_due_, false)) {
            config_.reload();
        }
        return;
    }
    host_.load(to_load_[i], [this, i](const Status& how) {
        if (how) {
            load_next(i + 1);
        } else if (stage_ == Stage::init) {
            const LoadRequest& failed = to_load_[i];
            const std::string name = failed.name.empty() ? failed.target : failed.name;
            place_errors(name);
            log_.write(LOG_CRIT, "module " + name + " was not loaded: " + how.error().message);
            shut_down(1);
        }
    });
}

/// What a module said of the configuration, with file and line: modules know no files.
void Broker::place_errors(const std::string& module) {
    const std::string lead = module + ": ";
    for (std::string line : log_.since(0, LOG_ERR)) {
        while (line.compare(0, lead.size(), lead) == 0) {
            line.erase(0, lead.size());
        }
        if (const std::string placed = explained(line, config_.loaded()); placed != line) {
            log_.write(LOG_CRIT, placed);
        }
    }
}

void Broker::announce_ready() {
    if (options_.ready_fd >= 0) {
        const std::string line = *attributes_.get("local-uri") + "\n";
        if (::write(options_.ready_fd, line.data(), line.size()) < 0) {
            log_.write(LOG_ERR, "cannot write to --ready-fd " + std::to_string(options_.ready_fd));
        }
        ::close(options_.ready_fd);
        options_.ready_fd = -1;
    }
}

void Broker::fail(const std::string& why) {
    log_.write(LOG_CRIT, why);
    shut_down(1);
}

void Broker::shut_down(int exit_code) {
    exit_code_ = std::max(exit_code_, exit_code);
    if (stage_ == Stage::shutdown) {
        return;
    }
    stage_ = Stage::shutdown;
    listener_->stop_accepting();
    WEIR_CHECK(deadline_.create([this](uv_timer_t* h) { return uv_timer_init(loop_.get(), h); }) == 0);
    deadline_.on([this](int) { give_up(); });
    uv_timer_start(
        deadline_.get(), [](uv_timer_t* h) { Watch<uv_timer_t>::fire(h); }, shutdown_ms_max, 0);
    host_.remove_all([this] {
        clock_->stop();
        if (when_stopped_.empty()) {
            end_loop();
        } else {
            say_stopped();
        }
    });
}

/// A client that waits for the end gets its answer and then reads the end of its connection: both at a time would be an
/// error to it. So it may close first.
void Broker::say_stopped() {
    for (const auto& stopped : when_stopped_) {
        stopped();
    }
    is_stopped_ = true;
    deadline_.on([this](int) { end_loop(); });
    uv_timer_start(
        deadline_.get(), [](uv_timer_t* h) { Watch<uv_timer_t>::fire(h); }, farewell_ms_max, 0);
}

void Broker::end_loop() {
    uv_timer_stop(deadline_.get());
    listener_->flush();
    loop_.stop();
}

void Broker::give_up() {
    for (const std::string& name : host_.names()) {
        log_.write(LOG_ERR, "module " + name + " did not stop; leaving it");
    }
    listener_->flush();
    unlinkat(rundir_.dir_fd(), LocalListener::socket_name, 0);
    rundir_.remove();
    _exit(1);
}

}  // namespace weir::broker
