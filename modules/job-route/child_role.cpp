// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ChildRole. See child_role.hpp.
#include "modules/job-route/child_role.hpp"

#include <unistd.h>

#include "libfairshare/base/json/r.hpp"
#include "libfairshare/base/signed_jobspec.hpp"
#include "modules/job-route/jobspec_edit.hpp"

namespace weir::route {
namespace {

constexpr const char* plugin_topic = "job-manager.jobroute.update";
constexpr double retry_max = 5.;        ///< seconds between attempts to reach the parent
constexpr double retry_max_rare = 60.;  ///< when it may have no job-route at all
constexpr double resource_pause = 0.25;
constexpr double resource_answer_s = 5.;
constexpr int resource_attempts_max = 40;
constexpr double retry_pause = 1.;  ///< real seconds before an order is repeated

/// An answer to a submission that says "not this job". Any other says "not now", such as ENOSPC while the disk is full.
/// A queue that is disabled here cannot be told from a wrong job: both are EINVAL.
bool is_about_the_job(int errnum) {
    return errnum == EINVAL || errnum == EPERM || errnum == EPROTO || errnum == E2BIG;
}

/// Nothing where the message brings no orders. There may be many: they are read where they stand.
std::optional<Result<std::vector<Order>>> orders_of(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0 || text == nullptr) {
        return std::nullopt;
    }
    FlatJson reader;
    const FlatValue message = reader.read(text);
    return message["orders"] ? std::optional(decode_orders(message)) : std::nullopt;
}

}  // namespace

ChildRole::ChildRole(flux_t* h, Config config, ChildLink& link, Callbacks callbacks)
    : h_(h), config_(std::move(config)), link_(link), callbacks_(std::move(callbacks)) {
    resource_retry_.reset(
        flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&ChildRole::look_up_resources>, this));
    heart_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&ChildRole::beat>, this));
    retry_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&ChildRole::repeat>, this));
    if (!resource_retry_ || !heart_ || !retry_) {
        flux::fail_errno("timers");
    }
    handlers_ =
        flux::add_handlers(h, flux::service_name(h, "job-route"),
                           {{FLUX_MSGTYPE_REQUEST, "priorities", flux::on_message<&ChildRole::priorities>, 0}}, this);
    answers_ = std::make_unique<Answers>(h, link, [this](const std::string& session, Json message) {
        if (session == session_ && link_.is_attached() && parent_->handle() != nullptr) {
            message.set("jobid", config_.jobid.value).set("session", session);
            (void)flux::rpc(parent_->handle(), "job-route.answer", message, FLUX_RPC_NORESPONSE);
        }
    });
    look_up_resources();
    parent_ = std::make_unique<flux::ParentLink>(
        h, config_.parent_uri, config_.serves.empty() ? retry_max_rare : retry_max,
        flux::ParentLink::Callbacks{[this] { on_connected(); }, [this](const std::string& why) { on_lost(why); }});
}

// ---- what this instance has ----

void ChildRole::look_up_resources() {
    resource_lookup_ = flux::rpc(h_, "resource.sched-status", Json::object());
    flux::then<&ChildRole::on_resources>(resource_lookup_.get(), this, flux::real_seconds(h_, resource_answer_s));
}

/// The scheduler may not be loaded yet. After some attempts this child attaches without its R, and the parent shows R
/// in the child's numbers.
void ChildRole::on_resources(flux_future_t* f) {
    const flux::Caught caught = flux::catching([&] {
        const Json status = flux::rpc_get(f, "resource.sched-status");
        json_t* all = json_object_get(status.get(), "all");
        const R whole = flux::value_or_throw(decode_r(all));
        if (core_count(whole.resources) == 0) {
            throw flux::Failure(EAGAIN, "no resources yet");
        }
        resources_ = Json::ref(all).dump();
        cores_ = static_cast<std::int64_t>(core_count(whole.resources));
    });
    resource_lookup_.reset();
    if (caught.errnum != 0 && ++resource_attempts_ < resource_attempts_max) {
        flux_timer_watcher_reset(resource_retry_.get(), flux::real_seconds(h_, resource_pause), 0.);
        flux_watcher_start(resource_retry_.get());
        return;
    }
    if (caught.errnum != 0) {
        flux::log(h_, LOG_WARNING, "attaching without knowing this instance's resources: " + caught.message);
    }
    has_resources_ = true;
    attach_if_ready();
}

// ---- the session ----

void ChildRole::ready() {
    is_ready_ = true;
    attach_if_ready();
}

void ChildRole::on_connected() {
    attach_if_ready();
}

void ChildRole::on_lost(const std::string& why) {
    attach_.reset();
    report_.reset();
    beat_.reset();
    flux_watcher_stop(heart_.get());
    if (link_.is_attached()) {
        flux::log(h_, LOG_WARNING, "lost the parent: " + why + "; its jobs that wait for go will wait");
    } else if (why != last_failure_) {
        flux::log(h_, LOG_DEBUG, "parent: " + why);
    }
    last_failure_ = why;
    link_.lost();
}

void ChildRole::reset(const std::string& why) {
    is_ready_ = false;
    submits_.clear();
    steers_.clear();
    gos_.clear();
    if (parent_->handle() != nullptr) {
        parent_->fail(why);
    }
}

void ChildRole::attach_if_ready() {
    if (!is_ready_ || !has_resources_ || is_idle_ || attach_ || parent_ == nullptr || parent_->handle() == nullptr) {
        return;
    }
    // It only has to differ from this child's earlier sessions; the request has the job's id as well.
    session_ = std::to_string(flux_reactor_now(flux_get_reactor(h_))) + "." + std::to_string(getpid()) + "." +
               std::to_string(++sessions_);
    Attach attach;
    attach.child = config_.jobid;
    attach.session = session_;
    attach.serves = config_.serves;
    attach.known = link_.known();
    attach.resources = resources_;
    attach.cores = cores_;
    attach.uri = config_.uri;
    attach.own_jobs = own_jobs_;
    attach.own_cores = own_cores_;
    attach.takes_signals = true;
    attach.takes_drains = true;
    attach_ = flux::rpc(parent_->handle(), "job-route.attach", encode(attach), FLUX_RPC_STREAMING);
    flux::then<&ChildRole::on_attach>(attach_.get(), this);
}

void ChildRole::on_attach(flux_future_t* f) {
    if (auto orders = orders_of(f)) {
        flux_future_reset(f);
        follow(*std::move(orders));
        return;
    }
    Json answer;
    const flux::Caught caught = flux::catching([&] { answer = flux::rpc_get(f, "attach"); });
    if (caught.errnum != 0) {
        on_attach_failed(caught.errnum, caught.message);
        return;
    }
    flux_future_reset(f);
    if (json_object_get(answer.get(), "attached") != nullptr) {
        parent_->proven();
        last_failure_.clear();
        link_.attached();
        heartbeat_s_ = json_number_value(json_object_get(answer.get(), "heartbeat"));
        arm_heart();
        flux::log(h_, LOG_INFO, "attached to the parent as its job " + std::to_string(config_.jobid.value));
        callbacks_.changed();
        return;
    }
    if (json_t* questions = json_object_get(answer.get(), "questions"); questions != nullptr) {
        answers_->asked(session_, questions);
        return;
    }
    if (json_t* drained = json_object_get(answer.get(), "drained"); drained != nullptr) {
        callbacks_.drained(flux::value_or_throw(decode_drains(drained)));
        return;
    }
    on_attach_failed(EPROTO, "the parent sent a message of an unknown kind");
}

/// The next attach repeats what invalid orders were for.
void ChildRole::follow(Result<std::vector<Order>> orders) {
    if (!orders) {
        on_attach_failed(EPROTO, "orders of the parent: " + orders.error().message);
        return;
    }
    for (Order& order : *orders) {
        link_.order(std::move(order));
    }
    callbacks_.changed();
}

void ChildRole::on_attach_failed(int errnum, const std::string& why) {
    if (errnum == EINVAL && config_.serves.empty()) {
        flux::log(h_, LOG_INFO, why);
        is_idle_ = true;
        attach_.reset();
        report_if_complete();
        return;
    }
    if (errnum != ENOSYS && errnum != EAGAIN && errnum != ENODATA && why != last_failure_) {
        flux::log(h_, LOG_ERR, why);
    }
    parent_->fail(why);
}

// ---- reports ----

void ChildRole::send_report() {
    if (report_ || parent_ == nullptr || parent_->handle() == nullptr) {
        return;
    }
    Report report;
    report.events = link_.next_report(report_events_max);
    if (report.events.empty()) {
        return;
    }
    report.child = config_.jobid;
    report.session = session_;
    report.own_jobs = own_jobs_;
    report.own_cores = own_cores_;
    report_ = flux::rpc_text(parent_->handle(), "job-route.report", text_of(report));
    flux::then<&ChildRole::on_report>(report_.get(), this);
}

void ChildRole::on_report(flux_future_t* f) {
    json_int_t seq = 0;
    const flux::Caught caught = flux::catching([&] {
        const Json answer = flux::rpc_get(f, "report");
        if (json_unpack(answer.get(), "{s:I}", "seq_acked", &seq) < 0) {
            throw flux::Failure(EPROTO, "report: the answer has no seq_acked");
        }
    });
    report_.reset();
    if (caught.errnum != 0) {
        parent_->fail(caught.message);
        return;
    }
    link_.acked(static_cast<std::uint64_t>(seq));
    callbacks_.changed();
}

// ---- heartbeat ----

void ChildRole::arm_heart() {
    if (heartbeat_s_ > 0) {
        flux_timer_watcher_reset(heart_.get(), flux::real_seconds(h_, heartbeat_s_), 0.);
        flux_watcher_start(heart_.get());
    }
}

void ChildRole::report_own(std::int64_t jobs, std::int64_t cores) {
    bool is_news = (std::exchange(own_jobs_, jobs) > 0) != (jobs > 0);
    is_news = std::exchange(own_cores_, cores) != cores || is_news;
    if (is_news && parent_ != nullptr) {
        beat();
    }
}

/// A report without events, sent even while another report is in flight, since the parent may delay that answer.
void ChildRole::beat() {
    if (!beat_ && link_.is_attached() && parent_->handle() != nullptr) {
        Report report;
        report.child = config_.jobid;
        report.session = session_;
        report.own_jobs = own_jobs_;
        report.own_cores = beat_cores_ = own_cores_;
        beat_ = flux::rpc_text(parent_->handle(), "job-route.report", text_of(report));
        flux::then<&ChildRole::on_beat>(beat_.get(), this);
    }
    arm_heart();
}

void ChildRole::on_beat(flux_future_t* f) {
    const flux::Caught caught = flux::catching([&] { (void)flux::rpc_get(f, "report"); });
    beat_.reset();
    if (caught.errnum != 0) {
        parent_->fail(caught.message);
    } else if (beat_cores_ != own_cores_) {
        beat();
    }
}

// ---- jobs here ----

void ChildRole::perform(ChildActions actions) {
    if (!actions.priorities.empty()) {
        for (const flux::MessageRef& listener : listeners_) {
            send_priorities(listener.get(), actions.priorities, false);
        }
    }
    for (const Order& order : actions.submits) {
        submit(order);
    }
    std::vector<LocalId> starts;
    for (const LocalOp& op : actions.ops) {
        if (op.kind != LocalOp::Kind::go) {
            steer(op);
        } else if (!callbacks_.pass_go(op.job)) {
            starts.push_back(op.job);
        }
    }
    if (!starts.empty()) {
        let_go(starts);
    }
}

/// As this instance's job-exec or job shell would replace them, with the id that the job has at the parent.
Marks ChildRole::id_names(JobId id) const {
    const char* usual = flux::is_embedded(h_) ? "f58plain" : "f58";  // its file names are plain ASCII
    const std::pair<const char*, const char*> forms[] = {
        {"id", usual},         {"jobid", usual},    {"id.f58", usual},       {"id.f58plain", "f58plain"},
        {"id.dec", "dec"},     {"id.hex", "hex"},   {"id.dothex", "dothex"}, {"id.kvs", "kvs"},
        {"id.words", "words"}, {"jobid.dec", "dec"}};
    Marks names;
    for (const auto& [name, form] : forms) {
        char text[128];
        if (flux_job_id_encode(id.value, form, text, sizeof(text)) == 0) {
            names.emplace_back(name, text);
        }
    }
    return names;
}

/// Submitted as the owner. The parent has validated the job; this instance's own plugins check it again.
void ChildRole::submit(const Order& order) {
    auto jobspec = localize(order, config_.own_queues);
    if (jobspec && jobspec->find("{{") != std::string::npos) {  // few have such names
        jobspec = with_output_names(*jobspec, id_names(order.id));
    }
    if (!jobspec) {
        link_.submit_failed(order.id, jobspec.error().message, false);
        return;
    }
    Json payload = Json::object();
    payload.set("J", sign_none(*jobspec, getuid())).set("urgency", order.urgency).set("flags", FLUX_JOB_NOVALIDATE);
    flux::Future future = flux::rpc(h_, "job-ingest.submit", payload);
    flux_future_t* key = future.get();
    flux::then<&ChildRole::on_submitted>(key, this);
    submits_.emplace(key, std::pair(std::move(future), order.id));
}

void ChildRole::on_submitted(flux_future_t* f) {
    const auto found = submits_.find(f);
    if (found == submits_.end()) {
        return;
    }
    const auto [future, id] = std::move(found->second);
    submits_.erase(found);
    json_int_t local = 0;
    const flux::Caught caught = flux::catching([&] {
        const Json answer = flux::rpc_get(f, "submit");
        if (json_unpack(answer.get(), "{s:I}", "id", &local) < 0) {
            throw flux::Failure(EPROTO, "submit: the answer has no id");
        }
    });
    if (caught.errnum != 0) {
        const bool is_transient = !is_about_the_job(caught.errnum);
        if (is_transient) {
            flux::log(h_, LOG_WARNING,
                      "a job returns to the parent, since it cannot be submitted here: " + caught.message);
        }
        link_.submit_failed(id, caught.message, is_transient);
    } else {
        link_.submit_done(id, LocalId{static_cast<std::uint64_t>(local)});
    }
    callbacks_.changed();
}

void ChildRole::steer(const LocalOp& op) {
    const char* topic = "job-manager.urgency";
    Json payload = Json::object();
    payload.set("id", op.job.value);
    if (op.kind == LocalOp::Kind::raise) {
        topic = "job-manager.raise";
        payload.set("type", op.type).set("severity", 0).set("note", op.note);
    } else if (op.kind == LocalOp::Kind::signal) {
        topic = "job-manager.kill";
        payload.set("signum", op.signum);
    } else {
        payload.set("urgency", op.urgency);
    }
    flux::Future future = flux::rpc(h_, topic, payload);
    flux_future_t* key = future.get();
    flux::then<&ChildRole::on_steered>(key, this);
    steers_.emplace(key, std::pair(std::move(future), op));
}

/// A job that ended in the meantime needs no order. A failure that is not about the job may pass: the order is
/// repeated, or a job that the parent cancelled would run on. A signal is not: later it would reach what it was not
/// for.
void ChildRole::on_steered(flux_future_t* f) {
    const auto found = steers_.find(f);
    if (found == steers_.end()) {
        return;
    }
    const auto [future, op] = std::move(found->second);
    steers_.erase(found);
    const flux::Caught caught = flux::catching([f] { (void)flux::rpc_get(f, "an order of the parent"); });
    if (caught.errnum == 0) {
        return;
    }
    flux::log(h_, LOG_DEBUG, caught.message);
    if (op.kind != LocalOp::Kind::signal && caught.errnum != ENOENT && !is_about_the_job(caught.errnum)) {
        link_.failed(op);
        repeat_later();
    }
}

void ChildRole::let_go(const std::vector<LocalId>& jobs) {
    Json list = Json::array();
    for (const LocalId job : jobs) {
        list.append(Json::own(json_pack("{s:I s:s}", "id", static_cast<json_int_t>(job.value), "op", "go")));
    }
    Json payload = Json::object();
    payload.set("jobs", std::move(list));
    flux::Future future = flux::rpc(h_, plugin_topic, payload);
    flux_future_t* key = future.get();
    flux::then<&ChildRole::on_let_go>(key, this);
    gos_.emplace(key, std::pair(std::move(future), jobs));
}

/// The plugin refuses while the disk is full, and does not answer while it is loaded anew. A job that it has not let go
/// would keep its cores for ever: `go` is repeated.
void ChildRole::on_let_go(flux_future_t* f) {
    const auto found = gos_.find(f);
    if (found == gos_.end()) {
        return;
    }
    const auto [future, jobs] = std::move(found->second);
    gos_.erase(found);
    std::vector<LocalId> failed;
    const flux::Caught caught = flux::catching([&] {
        const Json answer = flux::rpc_get(f, plugin_topic);
        std::size_t index = 0;
        json_t* entry = nullptr;
        json_array_foreach(json_object_get(answer.get(), "failed"), index, entry) {
            const json_int_t id = json_integer_value(json_array_get(entry, 0));
            failed.push_back(LocalId{static_cast<std::uint64_t>(id)});
        }
    });
    if (caught.errnum != 0 && caught.errnum != go_errnum_) {
        const char* hint = caught.errnum == ENOSYS ? ": is the plugin job-route-tap loaded in this instance?" : "";
        flux::log(h_, LOG_ERR, caught.message + hint + " Jobs that are to start wait until it answers.");
    }
    go_errnum_ = caught.errnum;
    for (const LocalId job : caught.errnum != 0 ? jobs : failed) {
        LocalOp op;
        op.kind = LocalOp::Kind::go;
        op.job = job;
        link_.failed(op);
        repeat_later();
    }
}

void ChildRole::repeat_later() {
    if (!std::exchange(is_repeat_due_, true)) {
        flux_timer_watcher_reset(retry_.get(), flux::real_seconds(h_, retry_pause), 0.);
        flux_watcher_start(retry_.get());
    }
}

void ChildRole::repeat() {
    is_repeat_due_ = false;
    link_.repeat();
    callbacks_.changed();
}

Json ChildRole::stats() const {
    return Json::own(json_pack("{s:b s:I s:I}", "attached", link_.is_attached() ? 1 : 0, "jobs",
                               static_cast<json_int_t>(link_.job_count()), "unacked",
                               static_cast<json_int_t>(link_.unacked())));
}

}  // namespace weir::route
