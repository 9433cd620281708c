// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how the scheduler comes up and follows the machine: services, resource.acquire, sched-hello, the R of each
// running job, sched-ready, a second sched-hello (RFC 27, RFC 28). All of it asynchronous, so that loading never waits
// for a node.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "libfairshare/base/json/reader.hpp"
#include "modules/sched/sched_module.hpp"

namespace weir::sched {

using flux::on_message;
using flux::on_request;
using flux::on_watcher;

namespace {

JobId greeted_job(const Json& answer) {
    return flux::value_or_throw(json::read_json(answer.get(), "sched-hello", [](const json::Value& v) {
        return JobId{static_cast<std::uint64_t>(v.at("id").integer(INT64_MIN, INT64_MAX))};
    }));
}

/// The nodes that are up, by the first answer of resource.acquire.
Result<IdSet> up_of(const Json& answer) {
    return json::read_json(answer.get(), "resource.acquire", [](const json::Value& v) {
        const auto ids = v.find("up");
        return ids ? ids->take(IdSet::parse(ids->string())) : IdSet{};
    });
}

/// Seconds between two attempts to greet a job-manager, or to acquire the resources, whose service was unloaded.
constexpr double greet_delay = 0.2;
/// Seconds that the first job-manager has for an alloc request, before its journal is followed.
constexpr double silence_max = 2;

/// Whether the service that was asked is not there.
bool is_gone(const flux::Failure& failure) {
    return failure.errnum() == ENOSYS || failure.errnum() == EHOSTUNREACH;
}

/// Whether the broker is of a flux-core before 0.85. Its job-manager logs an error for each allocation that comes
/// without annotations.
bool is_before_085(flux_t* h) {
    constexpr unsigned long minor_085 = 85;
    const char* version = flux_attr_get(h, "version");
    if (version == nullptr || std::strncmp(version, "0.", 2) != 0) {
        return false;
    }
    const unsigned long minor = std::strtoul(version + 2, nullptr, 10);
    return minor > 0 && minor < minor_085;
}

}  // namespace

SchedModule::SchedModule(flux_t* h, const Settings& settings)
    : h_(h),
      name_(flux::service_name(h, "sched")),
      scheduler_(settings.policy),
      settings_(settings),
      private_(flux::conf_table(h, "access")) {
    constexpr int request = FLUX_MSGTYPE_REQUEST;
    wants_annotations_ = is_before_085(h_);
    if (settings_.has_pool_class) {
        log(LOG_WARNING, "pool-class= has no effect: " + name_ + " has one kind of resource pool");
    }
    nonce_ = static_cast<std::int64_t>(flux_reactor_time() * 1e6);
    flux_reactor_t* reactor = flux_get_reactor(h_);
    flux::register_service(h_, "sched");
    flux::register_service(h_, "feasibility");
    sched_handlers_ = flux::add_handlers(h_, "sched",
                                         {{request, "alloc", on_message<&SchedModule::alloc>, 0},
                                          {request, "free", on_message<&SchedModule::free>, 0},
                                          {request, "cancel", on_message<&SchedModule::cancel>, 0},
                                          {request, "prioritize", on_message<&SchedModule::prioritize>, 0},
                                          {request, "order", on_request<&SchedModule::order>, 0},
                                          {request, "disconnect", on_message<&SchedModule::disconnect>, 0},
                                          {request, "expiration", on_request<&SchedModule::expiration>, 0},
                                          {request, "load", on_request<&SchedModule::load>, 0},
                                          {request, "stats-get", on_request<&SchedModule::stats>, FLUX_ROLE_ALL},
                                          {request, "why", on_request<&SchedModule::why>, FLUX_ROLE_USER}},
                                         this);
    feasibility_handlers_ = flux::add_handlers(
        h_, "feasibility", {{request, "check", on_request<&SchedModule::feasibility>, FLUX_ROLE_USER}}, this);
    own_handlers_ = flux::add_handlers(h_, name_,
                                       {{request, "stats-get", on_request<&SchedModule::stats>, FLUX_ROLE_ALL},
                                        {request, "why", on_request<&SchedModule::why>, FLUX_ROLE_USER},
                                        {request, "load", on_request<&SchedModule::load>, 0},
                                        {request, "config-reload", on_request<&SchedModule::config_reload>, 0}},
                                       this);
    prepare_.reset(flux_prepare_watcher_create(reactor, on_watcher<&SchedModule::before_poll>, this));
    check_.reset(flux_check_watcher_create(reactor, on_watcher<&SchedModule::after_poll>, this));
    idle_.reset(flux_idle_watcher_create(reactor, nullptr, nullptr));
    annotate_timer_.reset(
        flux_timer_watcher_create(reactor, 0., 0., on_watcher<&SchedModule::on_annotate_timer>, this));
    due_timer_.reset(flux_timer_watcher_create(reactor, 0., 0., on_watcher<&SchedModule::on_due>, this));
    greet_timer_.reset(flux_timer_watcher_create(reactor, 0., 0., on_watcher<&SchedModule::greet>, this));
    acquire_timer_.reset(flux_timer_watcher_create(reactor, 0., 0., on_watcher<&SchedModule::acquire>, this));
    silence_timer_.reset(
        flux_timer_watcher_create(reactor, 0., 0., on_watcher<&SchedModule::follow_job_manager>, this));
    if (!prepare_ || !check_ || !idle_ || !annotate_timer_ || !due_timer_ || !greet_timer_ || !acquire_timer_ ||
        !silence_timer_) {
        flux::fail_errno("creating watchers");
    }
    flux_watcher_start(prepare_.get());
    flux_watcher_start(check_.get());
    acquire();
}

void SchedModule::acquire() {
    acquire_ = flux::rpc(h_, "resource.acquire", {}, FLUX_RPC_STREAMING);
    flux::then<&SchedModule::on_resources>(acquire_.get(), this);
}

void SchedModule::on_resources(flux_future_t* f) {
    // In a stock Flux the scheduler ends with the resource module, as Flux's own schedulers do: rc3 may have unloaded
    // it.
    if (has_resources_ && flux::is_embedded(h_) && flux_rpc_get(f, nullptr) < 0) {
        resources_gone();
        return;
    }
    try {
        const Json answer = flux::rpc_get(f, "resource.acquire");
        if (!has_resources_) {
            first_resources(answer);
        } else if (!is_acquired_) {
            resources_again(answer);
        } else {
            flux::value_or_throw(json::read_json(answer.get(), "resource.acquire", [this](const json::Value& update) {
                const auto ids = [&](const char* key) {
                    const auto value = update.find(key);
                    return value ? value->take(IdSet::parse(value->string())) : IdSet{};
                };
                scheduler_.set_up(ids("up"), true);
                scheduler_.set_up(ids("down"), false);
                if (update.find("shrink")) {  // it makes all reservations anew
                    for (const auto& [id, why] : scheduler_.shrink(ids("shrink"))) {
                        deny(requests_.at(id).request.get(), id, why.message);
                        requests_.erase(id);
                    }
                }
                if (const auto expiration = update.find("expiration")) {
                    R r;
                    r.expiration = expiration->number();
                    scheduler_.set_instance_end(end_of_instance(r));
                }
                return Done{};
            }));
        }
    } catch (const flux::Failure& failure) {
        give_up(failure.what());
        return;
    }
    flux_future_reset(f);
}

/// What is known stays in force meanwhile: running jobs need no resource service.
void SchedModule::resources_gone() {
    if (std::exchange(is_acquired_, false)) {
        log(LOG_INFO, "the resource service is gone; the scheduler acquires the resources when it is loaded again");
    }
    flux_timer_watcher_reset(acquire_timer_.get(), greet_delay, 0.);
    flux_watcher_start(acquire_timer_.get());
}

/// Nodes may have been drained or undrained meanwhile. The nodes themselves are those of the first answer.
void SchedModule::resources_again(const Json& answer) {
    const R r = flux::value_or_throw(decode_r(json_object_get(answer.get(), "resources")));
    const IdSet up = flux::value_or_throw(up_of(answer));
    if (r.resources != machine_) {
        log(LOG_ERR, "the resources have changed: reload the scheduler, which knows the earlier ones only");
    }
    IdSet down;
    for (const NodeResources& node : machine_.nodes) {
        down.add(node.rank);
    }
    down.remove(up);
    scheduler_.set_up(up, true);
    scheduler_.set_up(down, false);
    scheduler_.set_instance_end(end_of_instance(r));
    is_acquired_ = true;
    log(LOG_INFO, "the resources were acquired again");
}

void SchedModule::first_resources(const Json& answer) {
    json_t* document = json_object_get(answer.get(), "resources");
    const R r = flux::value_or_throw(decode_r(document));
    const IdSet up = flux::value_or_throw(up_of(answer));
    NodeNames names{{}, r.properties};
    machine_ = r.resources;
    properties_ = r.properties;
    for (std::size_t i = 0; i < r.hosts.size(); i++) {
        hosts_.emplace(r.resources.nodes[i].rank, r.hosts[i]);
        names.hosts[r.hosts[i]].add(r.resources.nodes[i].rank);
    }
    scheduler_.set_resources(r.resources, up, std::move(names), settings_.node_choice);
    scheduler_.set_instance_end(end_of_instance(r));
    has_resources_ = true;
    is_acquired_ = true;
    greet();
}

void SchedModule::greet() {
    greeted_ = instant_from_seconds(flux_reactor_time());
    hello_ = flux::rpc(h_, "job-manager.sched-hello", std::move(Json::object().set("partial-ok", false)),
                       FLUX_RPC_STREAMING);
    flux::then<&SchedModule::on_hello>(hello_.get(), this);
}

void SchedModule::on_hello(flux_future_t* f) {
    try {
        look_up_r({{}, greeted_job(flux::rpc_get(f, "job-manager.sched-hello"))});
    } catch (const flux::Failure& failure) {
        if (failure.errnum() != ENODATA) {
            job_manager_failed(failure);
            return;
        }
        hello_ended_ = true;
        ready_when_done();
        return;
    }
    flux_future_reset(f);
}

/// The KVS has R as it was at the start, and job-info with later changes of the expiration. A stock Flux may load
/// job-info after the scheduler.
void SchedModule::look_up_r(Hello hello) {
    hello.future = hello.of_kvs ? flux::rpc(h_, "kvs.lookup", lookup_payload(r_key(hello.id)))
                                : flux::rpc(h_, "job-info.lookup", current_r_payload(hello.id));
    flux::then<&SchedModule::on_hello_r>(hello.future.get(), this);
    flux_future_t* key = hello.future.get();
    hellos_.emplace(key, std::move(hello));
}

void SchedModule::on_hello_r(flux_future_t* f) {
    const auto node = hellos_.extract(f);
    const Hello& hello = node.mapped();
    try {
        const std::string text = hello.of_kvs ? flux::value_or_throw(looked_up(flux::rpc_get(f, "kvs.lookup")))
                                              : flux::rpc_get(f, "job-info.lookup").string_at("R").value_or("");
        const R r = flux::value_or_throw(decode_r(text));
        flux::value_or_throw(scheduler_.hello(hello.id, r.resources, end_of_job(r)));
    } catch (const flux::Failure& failure) {
        if (!hello.of_kvs && is_gone(failure)) {
            look_up_r({{}, hello.id, true});
        } else {
            hello_failed(hello.id, failure.what());
        }
    }
    ready_when_done();
}

/// A running job whose resources cannot be claimed must end: another job would get them (RFC 27).
void SchedModule::hello_failed(JobId id, const std::string& why) {
    Json payload = Json::object();
    payload.set("id", id.value).set("severity", 0).set("type", "scheduler-restart");
    payload.set("note", "the scheduler cannot claim the job's resources: " + why);
    (void)flux::rpc(h_, "job-manager.raise", payload, FLUX_RPC_NORESPONSE);
    log(LOG_ERR, "hello: job " + std::to_string(id.value) + ": " + why);
}

void SchedModule::ready_when_done() {
    if (!hello_ended_ || !hellos_.empty() || ready_) {
        return;
    }
    Json mode = Json::object();
    if (settings_.queue_depth) {
        mode.set("mode", "limited").set("limit", *settings_.queue_depth);
    } else {
        mode.set("mode", "unlimited");
    }
    ready_ = flux::rpc(h_, "job-manager.sched-ready", mode);
    flux::then<&SchedModule::on_ready>(ready_.get(), this);
}

void SchedModule::on_ready(flux_future_t* f) {
    try {
        (void)flux::rpc_get(f, "job-manager.sched-ready");
    } catch (const flux::Failure& failure) {
        job_manager_failed(failure);
        return;
    }
    is_ready_ = true;
    flux_timer_watcher_reset(silence_timer_.get(), std::exchange(was_ready_, true) ? 0. : silence_max, 0.);
    flux_watcher_start(silence_timer_.get());
    // If job-priority runs, it sends the whole order again. No response is asked for, since it may not run.
    (void)flux::rpc(h_, "job-priority.sched-ready", Json::object(), FLUX_RPC_NORESPONSE);
    log(LOG_DEBUG, "ready: " + name_of(scheduler_.policy()) + " over " +
                       std::to_string(scheduler_.space().pool().total_cores()) + " cores");
    // With `partial-ok` the job-manager answers and changes nothing.
    confirm_ =
        flux::rpc(h_, "job-manager.sched-hello", std::move(Json::object().set("partial-ok", true)), FLUX_RPC_STREAMING);
    flux::then<&SchedModule::on_confirmed>(confirm_.get(), this);
}

/// The job-manager tells of freed resources only when the scheduler is ready. What was freed since the first hello is
/// found by the second.
void SchedModule::on_confirmed(flux_future_t* f) {
    try {
        confirmed_.insert(greeted_job(flux::rpc_get(f, "job-manager.sched-hello")));
    } catch (const flux::Failure& failure) {
        if (failure.errnum() != ENODATA) {
            job_manager_failed(failure);
            return;
        }
        scheduler_.confirm_hello(std::exchange(confirmed_, {}));
        return;
    }
    flux_future_reset(f);
}

// ---- a job-manager that is loaded again ----

/// The broker sends this for every client that sent requests and has ended, not only for the job-manager.
void SchedModule::disconnect(const flux_msg_t* msg) {
    if (envelope_ && flux_disconnect_match(msg, envelope_.get())) {
        forget_job_manager();
    }
}

/// The end of a job-manager that has sent no request yet is not notified, but it ends the streams of its journal. This
/// stream has no events, since none has the requested name. It begins with a message for each active job, so it is left
/// out where the job-manager asks for resources, as one with a deep queue does at once.
void SchedModule::follow_job_manager() {
    if (envelope_) {
        return;
    }
    Json request = Json::object();
    request.set("full", false).set("allow", std::move(Json::object().set("weir.none", 1)));
    journal_ = flux::rpc(h_, "job-manager.events-journal", request, FLUX_RPC_STREAMING);
    flux::then<&SchedModule::on_journal>(journal_.get(), this);
}

void SchedModule::on_journal(flux_future_t* f) {
    if (flux_rpc_get(f, nullptr) == 0) {
        flux_future_reset(f);
        return;
    }
    const int errnum = errno;
    if (errnum == ENODATA || errnum == EHOSTUNREACH) {
        forget_job_manager();
    } else {
        log(LOG_DEBUG, std::string("a job-manager that is loaded again will not be noticed: ") + flux_strerror(errnum));
    }
}

void SchedModule::job_manager_failed(const flux::Failure& failure) {
    if (was_ready_ && is_gone(failure)) {
        forget_job_manager();
    } else {
        give_up(failure.what());
    }
}

/// All jobs are removed: the next job-manager names those that hold resources, and sends alloc for the others again. A
/// job whose R was on its way is one of the others.
void SchedModule::forget_job_manager() {
    if (is_ready_) {
        log(LOG_INFO, "the job-manager is gone; the scheduler waits until it is loaded again");
    }
    is_ready_ = false;
    hello_ended_ = false;
    for (flux::Future* future : {&hello_, &ready_, &confirm_, &journal_}) {
        future->reset();
    }
    hellos_.clear();
    std::vector<JobId> unanswered;
    for (const auto& [future, commit] : commits_) {
        for (const auto& [id, r] : commit.r) {
            unanswered.push_back(id);
        }
    }
    remove_r(unanswered);
    commits_.clear();
    questions_.clear();
    starts_.clear();
    set_aside_.clear();
    confirmed_.clear();
    scheduler_.confirm_hello({});
    for (const auto& [id, request] : requests_) {
        (void)scheduler_.cancel(id);  // one that started is freed below
    }
    std::vector<JobId> running;
    for (const auto& [id, job] : scheduler_.space().running()) {
        running.push_back(id);
    }
    for (const JobId id : running) {
        flux::value_or_throw(scheduler_.free(id, {}, true));
    }
    requests_.clear();
    envelope_.reset();
    order_.clear();
    scheduler_.set_priority_bits(0);
    annotated_.reset();
    to_announce_.reset();
    flux_watcher_stop(silence_timer_.get());
    nonce_ += 1;  // job-priority sends its order again
    flux_timer_watcher_reset(greet_timer_.get(), greet_delay, 0.);
    flux_watcher_start(greet_timer_.get());
}

}  // namespace weir::sched
