// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the manager's side of the scheduler protocol.
// Must not know: how the scheduler decides; jobtap. RFC 27.
#include "broker/services/job-manager/protocols/alloc.hpp"

#include <syslog.h>

#include <cerrno>

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/requests/admin.hpp"
#include "libfairshare/base/json/kvs_value.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

enum class AllocType : int { success = 0, annotate = 1, deny = 2, cancel = 3 };

/// Real seconds for which the cores of a partition that ended wait for job-route, which may not be loaded.
constexpr double kept_max_s = 5;

/// More than the keys and numbers of a message take.
constexpr std::size_t request_keys_bytes = 160;

/// The keys of every message about a job to the scheduler (RFC 27).
/// \param bytes_more  how much the caller will add
ObjectText request_of(const Job& job, std::size_t bytes_more) {
    ObjectText out(request_keys_bytes + bytes_more);
    out.set("id", job.id).set("priority", job.priority).set("userid", job.userid);
    return out.splice("t_submit", timestamp_text(job.t_submit_us()));
}

}  // namespace

struct AllocTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.sched-hello", on_request<Alloc, &Alloc::hello>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.sched-ready", on_request<Alloc, &Alloc::ready>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.alloc-query", on_query<Alloc, &Alloc::query>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.resource-status", on_query<Alloc, &Alloc::resource_status>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.alloc-close", on_query<Alloc, &Alloc::close>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.alloc-free", on_query<Alloc, &Alloc::give_back>, 0},
        {FLUX_MSGTYPE_RESPONSE, "sched.alloc", on_message<Alloc, &Alloc::on_response>, 0},
        {FLUX_MSGTYPE_RESPONSE, "state-machine.wait", on_message<Alloc, &Alloc::on_modules>, 0},
        {FLUX_MSGTYPE_RESPONSE, "job-route.partitions-submitted", on_message<Alloc, &Alloc::on_partitions>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
    static void timer(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
        static_cast<Alloc*>(arg)->give_back_all();
    }
};

Status Alloc::start() {
    kept_timer_ = flux_timer_watcher_create(flux_get_reactor(engine_.handle()), 0., 0., AllocTable::timer, this);
    if (kept_timer_ == nullptr) {
        return Error{static_cast<std::errc>(errno), std::string("timer of kept cores: ") + std::strerror(errno)};
    }
    is_for_partitions_ = json_array_size(json_object_get(engine_.config(), "partition")) > 0;
    if (is_for_partitions_) {
        outbox().request("state-machine.wait", "{}");
    }
    return handlers_.add(engine_.handle(), AllocTable::specs, this);
}

void Alloc::enqueue(Job& job) {
    if (job.state != State::sched || job.alloc_bypass || job.alloc_queued || job.alloc_pending ||
        job.priority == priority_min || !engine_.queues().is_started(job.facts.queue)) {
        return;
    }
    queue_.insert(job);
    job.alloc_queued = true;
    recall();
}

void Alloc::dequeue(Job& job) {
    if (!job.alloc_queued) {
        return;
    }
    queue_.erase(job);
    job.alloc_queued = false;
}

void Alloc::cancel(Job& job, bool is_final) {
    if (!job.alloc_pending) {
        return;
    }
    outbox().request("sched.cancel", ObjectText().set("id", job.id).text());
    if (!is_final) {
        return;
    }
    job.alloc_pending = false;
    sent_.erase(job);
    engine_.clear_annotations(job, nullptr);
}

void Alloc::send_free(JobId id, const std::string& r_text) {
    if (is_online_) {
        outbox().request("sched.free", ObjectText().set("id", id).splice("R", r_text).set("final", true).text());
    }
}

void Alloc::free(const Job& job) {
    if (!is_online_ || !engine_.is_partition(job)) {
        send_free(job.id, job.r->text);
        return;
    }
    kept_[job.id] = job.r->text;
    flux_timer_watcher_reset(kept_timer_, kept_max_s * engine_.time_scale(), 0.);
    flux_watcher_start(kept_timer_);
}

void Alloc::give_back_all() {
    for (const auto& [id, r_text] : std::exchange(kept_, {})) {
        send_free(id, r_text);
    }
}

void Alloc::on_priority(Job& job, bool one_shot) {
    if (job.alloc_queued) {
        if (job.priority == priority_min) {
            dequeue(job);
        } else {
            queue_.reorder(job);
            if (one_shot) {
                recall();
            }
        }
    } else if (job.alloc_pending) {
        if (job.priority == priority_min) {
            cancel(job, false);
            return;
        }
        sent_.reorder(job);
        if (one_shot) {
            on_priorities({&job});
        }
    } else {
        enqueue(job);
    }
}

void Alloc::on_priorities(const std::vector<Job*>& changed) {
    Json list = Json::array();
    for (const Job* job : changed) {
        if (job->alloc_pending && job->priority > priority_min) {
            list.append(std::move(Json::array().append(job->id).append(job->priority)));
        }
    }
    if (json_array_size(list.get()) > 0 && is_online_) {
        outbox().request("sched.prioritize", Json::object().set("jobs", std::move(list)).dump());
    }
    recall();
}

void Alloc::recall() {
    if (limit_ == 0 || queue_.empty() || sent_.empty()) {
        return;
    }
    auto head = queue_.begin();
    auto tail = sent_.rbegin();
    for (; head != queue_.end() && tail != sent_.rend() && head->key < tail->key; ++head, ++tail) {
        cancel(*tail->job, false);
    }
}

void Alloc::on_queue(const std::string& queue, bool is_started) {
    std::vector<Job*> members;
    for (const auto& [id, job] : engine_.jobs().active_jobs()) {
        if (queue.empty() || job->facts.queue == queue) {
            members.push_back(job.get());
        }
    }
    for (Job* job : members) {
        if (is_started) {
            enqueue(*job);
        } else {
            dequeue(*job);
            cancel(*job, false);
        }
    }
}

bool Alloc::is_open_to(const Job& job) const {
    return !is_closed_ && (!is_for_partitions_ || engine_.is_partition(job));
}

void Alloc::send_requests() {
    while (is_online_ && !queue_.empty() && is_open_to(*queue_.first()) && (limit_ == 0 || sent_.size() < limit_)) {
        Job& job = *queue_.first();
        const auto& jobspec = job.jobspec_text.redacted;
        outbox().request("sched.alloc", request_of(job, jobspec.size()).splice("jobspec", jobspec).text());
        dequeue(job);
        sent_.insert(job);
        job.alloc_pending = true;
    }
}

void Alloc::requeue(Job& job) {
    sent_.erase(job);
    job.alloc_pending = false;
    engine_.clear_annotations(job, "sched");
    enqueue(job);
}

void Alloc::go_offline(const std::string& why) {
    if (!is_online_) {
        return;
    }
    flux_log(engine_.handle(), LOG_DEBUG, "alloc: stop due to %s", why.c_str());
    is_online_ = false;
    sender_.clear();
    kept_.clear();  // the next scheduler learns of running jobs alone
    while (Job* job = sent_.first()) {
        requeue(*job);
    }
    engine_.admin().check_drained();
}

void Alloc::on_disconnect(const flux_msg_t* msg) {
    const char* sender = flux_msg_route_first(msg);
    if (sender && sender_ == sender) {
        go_offline("disconnect");
    }
}

void Alloc::on_response(const flux_msg_t* msg) {
    const char* text = nullptr;
    if (flux_response_decode(msg, nullptr, &text) < 0) {
        go_offline(std::string("alloc response error: ") + std::strerror(errno));  // ENOSYS: scheduler unloaded
        return;
    }
    if (auto done = take_response(text ? text : ""); !done) {
        flux_log(engine_.handle(), LOG_ERR, "sched.alloc-response: %s", done.error().message.c_str());
        go_offline("alloc response error");
    }
}

Status Alloc::take_response(const char* text) {
    auto response = read_bounded(text);
    if (!response) {
        return response.error();
    }
    const auto id = read_integer(response->get(), "id");
    const auto type = read_integer(response->get(), "type");
    if (!id || !type) {
        return protocol_error("needs id and type");
    }
    Job* job = engine_.jobs().active(static_cast<JobId>(*id));
    if (job && !job->alloc_pending) {
        job = nullptr;
    }
    json_t* annotations = json_object_get(response->get(), "annotations");
    switch (static_cast<AllocType>(*type)) {
        case AllocType::success:
            return on_success(job, static_cast<JobId>(*id), response->get());
        case AllocType::annotate:
            if (!json_is_object(annotations)) {
                return protocol_error("type 1 needs annotations (object)");
            }
            if (job) {
                engine_.annotate(*job, annotations);
            }
            return Done{};
        case AllocType::deny:
            if (job) {
                on_denied(*job, std::string(read_string(response->get(), "note").value_or("")));
            }
            return Done{};
        case AllocType::cancel:
            if (job) {
                on_canceled(*job);
            }
            return Done{};
    }
    return protocol_error("unknown type " + std::to_string(*type));
}

Status Alloc::on_success(Job* job, JobId id, json_t* response) {
    json_t* r = json_object_get(response, "R");
    if (!json_is_object(r)) {
        return protocol_error("protocol error: a successful response needs R");
    }
    if (!job || job->state != State::sched || is_closed_) {  // canceled meanwhile, or closed
        send_free(id, Json::ref(r).dump());
        if (job) {  // it waits for a priority again, and will ask anew
            on_canceled(*job);
        }
        return Done{};
    }
    sent_.erase(*job);
    if (job->has_resources || !job->r->text.empty()) {
        return protocol_error(f58(id) + " is already allocated");
    }
    job->r = allocation_of(Json::ref(r));
    if (json_t* annotations = json_object_get(response, "annotations"); json_is_object(annotations)) {
        engine_.annotate(*job, annotations);
    }
    job->alloc_pending = false;
    Json context;
    if (job->annotations) {
        context = Json::object();
        context.set("annotations", job->annotations.share());
    }
    return engine_.post(*job, "alloc", std::move(context));
}

void Alloc::on_denied(Job& job, const std::string& note) {
    job.alloc_pending = false;
    sent_.erase(job);
    engine_.clear_annotations(job, nullptr);
    (void)engine_.raise(job, {"alloc", 0, note, engine_.owner()});
}

void Alloc::on_canceled(Job& job) {
    if (job.state == State::sched) {
        requeue(job);
    } else {
        sent_.erase(job);
        job.alloc_pending = false;
        engine_.clear_annotations(job, nullptr);
    }
    engine_.act(job);
    engine_.admin().check_drained();
}

/// A scheduler reads the R of running jobs from the KVS (RFC 27). One that was loaded after them has lost it.
void Alloc::put_resources() {
    Json ops = Json::array();
    for (const auto& [id, job] : engine_.jobs().running_jobs()) {
        char key[64];
        if (job->has_resources && !job->r->text.empty() && flux_job_kvs_key(key, sizeof key, id, "R") >= 0) {
            ops.append(kvs_put(key, job->r->text));
        }
    }
    if (json_array_size(ops.get()) > 0) {
        flux_future_destroy(flux_rpc(engine_.handle(), "kvs.commit", kvs_commit(std::move(ops)).dump().c_str(),
                                     FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE));
    }
}

Answer Alloc::hello(const Request& request) {
    if (!flux_msg_is_streaming(request.msg)) {
        return protocol_error("job-manager.sched-hello needs the streaming RPC flag");
    }
    put_resources();  // the KVS has it before the scheduler has the answer
    for (const auto& [id, job] : engine_.jobs().running_jobs()) {
        if (!job->has_resources || job->alloc_bypass) {
            continue;
        }
        outbox().respond(request.msg, request_of(*job, job->r->text.size()).splice("R", job->r->text).text());
    }
    outbox().respond_error(request.msg, ENODATA, "");
    return Reply::later();
}

Answer Alloc::ready(const Request& request) {
    const auto mode = read_string(request.body(), "mode");
    const auto limit = read_integer(request.body(), "limit");
    if (!mode || (*mode != "limited" && *mode != "unlimited")) {
        return protocol_error("mode must be \"unlimited\" or \"limited\"");
    }
    if (*mode == "limited" && (!limit || *limit <= 0)) {
        return protocol_error("mode \"limited\" needs limit (a positive integer)");
    }
    limit_ = *mode == "limited" ? static_cast<std::size_t>(*limit) : 0;
    const char* sender = flux_msg_route_first(request.msg);
    sender_ = sender ? sender : "";
    is_online_ = true;
    flux_log(engine_.handle(), LOG_DEBUG, "scheduler: ready %s", std::string(*mode).c_str());
    return Reply::of(ObjectText().set("count", queue_.size()).text());
}

// Guest: reads counts.
Answer Alloc::query(const Request&) {
    Json out = Json::object();
    out.set("queue_length", queue_.size()).set("alloc_pending", sent_.size());
    out.set("running", engine_.jobs().running());
    return Reply::of(out);
}

/// All modules of the configuration are loaded, so job-route is too, if it is one of them and nobody has removed it.
void Alloc::on_modules(const flux_msg_t*) {
    outbox().request("job-route.partitions-submitted", "{}");
}

/// job-route has submitted its partitions, which are expedited: the scheduler has them before all other jobs. Or an
/// error: without job-route there are none.
void Alloc::on_partitions(const flux_msg_t*) {
    is_for_partitions_ = false;
}

/// job-route has submitted what follows that partition, or nothing does.
Answer Alloc::give_back(const Request& request) {
    const auto id = read_integer(request.body(), "id");
    if (!id) {
        return protocol_error("alloc-free needs id (an integer)");
    }
    if (const auto kept = kept_.extract(static_cast<JobId>(*id))) {
        send_free(kept.key(), kept.mapped());
    }
    return Reply::empty();
}

/// The instance ends. Jobs end with it, and what they free must not go to jobs that wait: these would be lost. They
/// stay in the queue, as they are in the journal. Queues stay started: their status is for people, and job-route
/// recalls the jobs of a stopped one. Answered even if the disk is full. Idempotent.
Answer Alloc::close(const Request&) {
    is_closed_ = true;
    for (const JobQueue::Entry& entry : sent_) {
        cancel(*entry.job, false);
    }
    return Reply::empty();
}

Answer Alloc::resource_status(const Request&) {
    ResourceUnion sum;
    for (const auto& [id, job] : engine_.jobs().running_jobs()) {
        if (!job->r->tree || job->free_posted || job->alloc_bypass || !job->has_resources) {
            continue;
        }
        if (auto done = sum.add(job->r->tree.get()); !done) {
            return Error{std::errc::invalid_argument, f58(id) + ": " + done.error().message};
        }
    }
    Json out = Json::object();
    out.set("allocated", sum.to_r());
    return Reply::of(out);
}

}  // namespace weir::broker::jobs
