// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the manager's side of the execution protocol.
// Must not know: processes, the scheduler.
#include "broker/services/job-manager/protocols/exec.hpp"
#include "libfairshare/base/json/text_writer.hpp"

#include <syslog.h>

#include <cerrno>
#include <cstring>

namespace weir::broker::jobs {
namespace {

/// While the service is away, jobs that wait to start are offered again this often (scaled seconds).
constexpr double exec_retry_s = 1.0;

}  // namespace

struct ExecTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.exec-hello", on_request<Exec, &Exec::hello>, 0},
        {FLUX_MSGTYPE_RESPONSE, "*.start", on_message<Exec, &Exec::on_response>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
    static void retry(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
        Exec& self = *static_cast<Exec*>(arg);
        self.is_online_ = true;
        self.start_waiting();
    }
};

Status Exec::start() {
    retry_ = flux_timer_watcher_create(flux_get_reactor(engine_.handle()), exec_retry_s, 0., ExecTable::retry, this);
    return handlers_.add(engine_.handle(), ExecTable::specs, this);
}

void Exec::start(Job& job) {
    if (job.start_pending || !is_online_) {
        return;
    }
    ObjectText payload;
    payload.set("id", job.id).set("userid", job.userid).splice("jobspec", full_jobspec(job.jobspec_text));
    payload.set("reattach", job.was_started);
    if (job.was_started) {
        payload.splice("t_start", timestamp_text(job.t_start_us));
    }
    payload.splice("R", job.r->text.empty() ? "{}" : job.r->text);
    engine_.mark_launch(job);
    outbox().request(topic_.c_str(), payload.text());
    job.start_pending = true;
}

void Exec::start_waiting() {
    for (const auto& [id, job] : engine_.jobs().running_jobs()) {
        if (job->state == State::run) {
            engine_.act(*job);
        }
    }
}

Answer Exec::hello(const Request& request) {
    const auto service = read_string(request.body(), "service");
    if (!service || service->empty()) {
        return protocol_error("service must name the execution service");
    }
    for (const auto& [id, job] : engine_.jobs().running_jobs()) {
        if (job->start_pending && is_online_ && service_ != *service) {
            return Error{std::errc::invalid_argument,
                         "jobs are running under " + service_ + "; it cannot be replaced now"};
        }
    }
    const char* sender = flux_msg_route_first(request.msg);
    // What another one was asked is not answered any more. It need not have greeted: this module may be younger than
    // it.
    const std::string former = std::exchange(hello_sender_, sender ? sender : "");
    if (former != hello_sender_) {
        go_offline("another " + std::string(*service), true);
    }
    service_ = *service;
    topic_ = service_ + ".start";
    is_online_ = true;
    // The answer goes out before the first start request.
    if (flux_msg_is_streaming(request.msg)) {
        outbox().respond(request.msg, "{}");
    } else {
        outbox().respond_empty(request.msg);
    }
    start_waiting();
    return Reply::later();
}

void Exec::go_offline(const std::string& why, bool was_there) {
    if (!is_online_) {
        return;  // no request is out: each answer to an older one would cost a walk through all jobs
    }
    flux_log(engine_.handle(), LOG_DEBUG, "start: stop due to %s", why.c_str());
    is_online_ = false;
    std::vector<Job*> lost;
    for (const auto& [id, job] : engine_.jobs().running_jobs()) {
        if (std::exchange(job->start_pending, false)) {
            lost.push_back(job);
        }
    }
    for (Job* job : lost) {
        if (!was_there) {
            engine_.mark_launch_refused(*job);
        }
        engine_.act(*job);  // those in CLEANUP need not wait any longer
    }
    flux_timer_watcher_reset(retry_, exec_retry_s, 0.);
    flux_watcher_start(retry_);
}

void Exec::on_disconnect(const flux_msg_t* msg) {
    const char* sender = flux_msg_route_first(msg);
    if (sender && !hello_sender_.empty() && hello_sender_ == sender) {
        hello_sender_.clear();
        go_offline("disconnect", true);
    }
}

void Exec::on_response(const flux_msg_t* msg) {
    const char* topic = nullptr;
    const char* text = nullptr;
    if (flux_response_decode(msg, &topic, &text) < 0) {
        const int errnum = errno;
        if (flux_msg_get_topic(msg, &topic) == 0 && topic_ == topic) {
            go_offline(std::string("start response error: ") + std::strerror(errnum), errnum != ENOSYS);
        }
        return;
    }
    auto response = Json::parse(text ? text : "", SameKeys::last_counts);
    const Status done = response ? take_response(response->get()) : Status(response.error());
    if (!done) {
        flux_log(engine_.handle(), LOG_ERR, "start response: %s", done.error().message.c_str());
    }
}

Status Exec::take_response(const json_t* response) {
    const auto id = read_integer(response, "id");
    const auto type = read_string(response, "type");
    const json_t* data = json_object_get(response, "data");
    if (!id || !type) {
        return protocol_error("needs id and type");
    }
    Job* job = engine_.jobs().active(static_cast<JobId>(*id));
    if (!job) {
        return Error{std::errc::invalid_argument, "id=" + f58(static_cast<JobId>(*id)) + " not active"};
    }
    if (*type == "start") {
        return job->was_started ? Status(Done{}) : engine_.post(*job, "start");
    }
    if (*type == "finish") {
        const auto status = read_integer(data, "status");
        if (!status) {
            return protocol_error("finish needs data.status (integer)");
        }
        Json context = Json::object();
        context.set("status", *status);
        return engine_.post(*job, "finish", std::move(context));
    }
    if (*type == "release") {
        return on_release(*job, data);
    }
    if (*type == "exception") {
        return on_exception(*job, data);
    }
    if (*type == "reattached") {
        return Done{};
    }
    return protocol_error("unknown type \"" + std::string(*type) + "\"");
}

Status Exec::on_release(Job& job, const json_t* data) {
    const auto ranks = read_string(data, "ranks");
    const auto is_final = read_boolean(data, "final");
    if (!ranks || !is_final) {
        return protocol_error("release needs data.ranks (string) and data.final (boolean)");
    }
    if (*is_final) {
        job.start_pending = false;
    }
    Json context = Json::object();
    context.set("ranks", *ranks);
    context.set("final", *is_final);
    return engine_.post(job, "release", std::move(context));
}

Status Exec::on_exception(Job& job, const json_t* data) {
    const auto severity = read_integer(data, "severity");
    const auto type = read_string(data, "type");
    if (!severity || !type) {
        return protocol_error("exception needs data.severity (integer) and data.type (string)");
    }
    Json context = Json::object();
    context.set("type", *type);
    context.set("severity", *severity);
    context.set("userid", engine_.owner());
    context.set("note", read_string(data, "note").value_or(""));
    return engine_.post(job, "exception", std::move(context));
}

}  // namespace weir::broker::jobs
