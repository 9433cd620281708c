// SPDX-License-Identifier: LGPL-3.0-only
// Owns: starting and stopping the manager: configuration, plugins, the journal's jobs, handlers, services.
// Must not know: payloads of requests.
// Order matters: plugins are loaded before the first restored job is processed, so that none leaves PRIORITY with a
// default that a plugin would have overridden. RFC 21 (flux-restart).
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "broker/services/job-manager/dependencies/dependencies.hpp"
#include "broker/services/job-manager/engine/engine.hpp"
#include "broker/services/job-manager/jobtap/jobtap.hpp"
#include "broker/services/job-manager/journal/restart.hpp"
#include "broker/services/job-manager/protocols/alloc.hpp"
#include "broker/services/job-manager/protocols/exec.hpp"
#include "broker/services/job-manager/requests/admin.hpp"
#include "broker/services/job-manager/requests/control.hpp"
#include "broker/services/job-manager/requests/event_streams.hpp"
#include "broker/services/job-manager/requests/job_info.hpp"
#include "broker/services/job-manager/requests/job_list.hpp"
#include "broker/services/job-manager/requests/submit.hpp"
#include "broker/services/job-manager/requests/waits.hpp"

namespace weir::broker::jobs {
namespace {

/// Eligible jobs that go on in one iteration of the reactor; a few milliseconds.
constexpr std::size_t resumed_at_once = 500;

Error system_error(const std::string& what) {
    const int errnum = errno;
    return Error{static_cast<std::errc>(errnum), what + ": " + std::strerror(errnum)};
}

void on_prepare(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
    try {
        static_cast<Engine*>(arg)->iterate();
    } catch (const std::exception& error) {
        flux_log(static_cast<Engine*>(arg)->handle(), LOG_ERR, "job-manager: %s", error.what());
    }
}

}  // namespace

Engine::Engine(flux_t* h)
    : h_(h),
      owner_(::geteuid()),
      outbox_(h),
      turns_(h, outbox_),
      jobtap_(std::make_unique<Jobtap>(*this)),
      dependencies_(std::make_unique<Dependencies>(*this)),
      alloc_(std::make_unique<Alloc>(*this)),
      exec_(std::make_unique<Exec>(*this)),
      streams_(std::make_unique<EventStreams>(*this)),
      info_(std::make_unique<JobInfo>(*this)),
      list_(std::make_unique<JobList>(*this)),
      waits_(std::make_unique<Waits>(*this)),
      submit_(std::make_unique<Submit>(*this)),
      control_(std::make_unique<Control>(*this)),
      admin_(std::make_unique<Admin>(*this)) {
    outbox_.when_large([this] { flush_through(); });
}

Engine::~Engine() {
    flux_watcher_destroy(prepare_);
    flux_watcher_destroy(idle_);
    flux_watcher_destroy(retry_);
    flux_watcher_destroy(synced_);
}

Status Engine::configure(Json config) {
    Queues queues = queues_;
    if (auto done = queues.configure(config.get()); !done) {
        return done;
    }
    if (auto done = admin_->check(config.get()); !done) {
        return done;
    }
    if (auto done = check_plugin_list(config.get()); !done) {
        return done;
    }
    const json_t* mode = json_object_get(json_object_get(config.get(), "access"), "private-mode");
    if (mode && !json_is_boolean(mode)) {
        return Error{std::errc::invalid_argument, "access.private-mode must be true or false"};
    }
    if (auto done = jobtap_->update_config(config.get()); !done) {
        return done;
    }
    is_private_ = json_is_true(mode);
    admin_->configure(config.get());
    queues_ = std::move(queues);
    for (const std::string& name : queues_.names()) {
        jobs_.know_queue(name);
    }
    config_ = std::move(config);
    if (store_) {
        store_->set_synced(admin_->syncs_journal());
    }
    return Done{};
}

Status Engine::set_queues(Queues changed) {
    if (auto kept = queue_file_.keep(changed.closed()); !kept) {
        return kept;
    }
    queues_ = std::move(changed);
    return Done{};
}

Status Engine::open_store(RestoredJobs& restored) {
    const char* statedir = flux_attr_get(h_, "statedir");
    if (!statedir) {
        return Done{};
    }
    auto store = JobStore::open(statedir, environments_, restored);
    if (!store) {
        return store.error();
    }
    queue_file_ = QueueFile(statedir);
    const auto closed = queue_file_.read();
    if (!closed) {
        return closed.error();
    }
    queues_.close(closed->get());
    store_ = std::move(*store);
    store_->set_synced(admin_->syncs_journal());
    if (!restored.warning.empty()) {
        flux_log(h_, LOG_ERR, "%s", restored.warning.c_str());
    }
    if (restored.version == 1) {
        flux_log(h_, LOG_INFO, "job journal: taken over from a version without numbers and checksums");
    }
    return Done{};
}

Status Engine::start() {
    json_t* config = nullptr;
    flux_error_t error;
    const flux_conf_t* conf = flux_get_conf(h_);
    if (!conf || flux_conf_unpack(conf, &error, "o", &config) < 0) {
        config = nullptr;
    }
    RestoredJobs restored;
    if (auto done = configure(config ? Json::ref(config) : Json::object()); !done) {
        return done;
    }
    if (auto done = open_store(restored); !done) {
        return done;
    }
    if (auto done = jobtap_->start(); !done) {
        return done;
    }
    if (auto done = watch_reactor(); !done) {
        return done;
    }
    if (auto done = restore(std::move(restored)); !done) {
        return done;
    }
    for (const Status& done :
         {jobtap_->register_handlers(), alloc_->start(), exec_->start(), streams_->start(), info_->start(),
          list_->start(), waits_->start(), submit_->start(), control_->start(), admin_->start()}) {
        if (!done) {
            return done;
        }
    }
    return register_services();
}

Status Engine::register_services() {
    for (const char* name : {"job-ingest", "job-list", "job-info"}) {
        flux_future_t* f = flux_service_register(h_, name);
        const bool is_registered = f && flux_future_get(f, nullptr) == 0;
        const Error failed = system_error(std::string("cannot register service ") + name);
        flux_future_destroy(f);
        if (!is_registered) {
            return failed;
        }
    }
    return Done{};
}

Status Engine::watch_reactor() {
    prepare_ = flux_prepare_watcher_create(flux_get_reactor(h_), on_prepare, this);
    retry_ = flux_timer_watcher_create(flux_get_reactor(h_), 1., 0., on_retry, this);
    idle_ = flux_idle_watcher_create(flux_get_reactor(h_), nullptr, nullptr);
    if (!prepare_ || !retry_ || !idle_) {
        return system_error("cannot watch the reactor");
    }
    const char* scale = flux_attr_get(h_, "clock.scale");
    scale_ = scale ? std::stod(scale) : 1.;
    if (auto done = turns_.start(scale_); !done) {
        return done;
    }
    flux_watcher_start(prepare_);
    if (store_) {
        synced_ = flux_fd_watcher_create(flux_get_reactor(h_), store_->sync_fd(), FLUX_POLLIN, on_synced, this);
        if (!synced_) {
            return system_error("cannot watch the journal's syncs");
        }
        flux_watcher_start(synced_);
    }
    return Done{};
}

/// The time when the old broker was last alive: jobs that ended with it ended then.
std::int64_t Engine::last_seen_us() const {
    const char* text = flux_attr_get(h_, "clock.last-seen");
    const std::int64_t seen = text ? std::llround(std::strtod(text, nullptr) * 1e6) : 0;
    return std::min(now_us(), std::max(seen, last_us_));
}

Status Engine::restore(RestoredJobs restored) {
    const int version = restored.version;
    next_sequence_ = restored.next_sequence;
    last_us_ = restored.last_us;
    const std::vector<Job*> active = take_up(jobs_, restored);
    if (store_ && version != journal_version) {  // lines of this version cannot follow older ones
        if (auto done = store_->compact(jobs_, next_sequence_); !done) {
            return done;
        }
    }
    const std::int64_t seen_us = last_seen_us();
    standing_us_ = seen_us;
    for (Job* job : active) {
        waits_->on_active(*job);
        jobtap_->on_restored(*job);
    }
    const RestartOrder order = restart_order(active);
    settle(order, seen_us);
    for (Job* job : order.others) {
        resume(*job);
    }
    if (!order.eligible.empty()) {
        eligible_.assign(order.eligible.begin(), order.eligible.end());
        flux_watcher_start(idle_);
        resume_slice();
    }
    if (jobs_.active_count() + jobs_.inactive_count() > 0) {
        flux_log(h_, LOG_INFO, "restored %zu active and %zu inactive jobs", active.size(), jobs_.inactive_count());
    }
    return Done{};
}

/// Settles the jobs that the old broker left with resources. Events that it would have posted are dated when it was
/// last seen. A job that keeps its resources and had no process, for example because of an open prolog, did not use
/// them since: `weir.down` has the length of that time, which is not charged.
void Engine::settle(const RestartOrder& order, std::int64_t seen_us) {
    for (Job* job : order.left) {
        resume(*job);
    }
    standing_us_.reset();
    for (const JobId id : order.idle) {
        Job* job = jobs_.active(id);
        if (job != nullptr && job->has_resources) {
            (void)post_at(*job, down_event(seen_us, next_time_us()), false);
        }
    }
}

void Engine::iterate() {
    resume_slice();
    turns_.turn([this] { flush(); });
    flush();
}

void Engine::resume_slice() {
    if (eligible_.empty()) {
        return;
    }
    for (std::size_t n = 0; n < resumed_at_once && !eligible_.empty(); ++n) {
        Job* job = jobs_.active(eligible_.front());
        eligible_.pop_front();
        if (job != nullptr && is_eligible(*job)) {  // others have been cancelled
            resume(*job);
        }
    }
    if (eligible_.empty()) {
        flux_watcher_stop(idle_);
    }
}

void Engine::resume(Job& job) {
    switch (job.state) {
        case State::depend:
            jobtap_->recheck_dependencies(job);
            act(job);
            break;
        case State::priority:
            jobtap_->replay_state(job);
            break;
        case State::sched:
            (void)post(job, "flux-restart");
            break;
        case State::run:
            resume_running(job);
            break;
        default:
            act(job);
            break;
    }
}

void Engine::resume_running(Job& job) {
    if (had_process(job) && job.perilog_active == 0 && !job.facts.is_simulated) {
        (void)raise(job, {"exec", 0, "lost in a broker restart", owner_});
    } else {
        act(job);
    }
}

void Engine::stop() {
    flush_through();
    turns_.end_all();
    streams_->end_all();
    info_->end_all();
    list_->end_all();
    waits_->end_all();
    admin_->end_all();
    flush_through();
}

}  // namespace weir::broker::jobs
