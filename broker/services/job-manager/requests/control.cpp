// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests by which users act on jobs. Must not know: the consequences. RFC 21, 30.
#include "broker/services/job-manager/requests/control.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "broker/services/job-manager/jobtap/jobtap.hpp"
#include "broker/services/job-manager/state/transition.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::size_t guest_eventlog_max = 256 << 10;
constexpr const char* queue_key = "attributes.system.queue";
constexpr const char* duration_key = "attributes.system.duration";
constexpr const char* constraints_key = "attributes.system.constraints";
/// The type of an exception that ends a job: it needs no free space on the disk.
constexpr std::size_t short_request = 4096;

constexpr const char* no_update = "update of a running or immutable job is not supported";

Error invalid_request(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

/// type, severity and note of an exception request.
Result<Engine::Exception> exception_of(const Request& request) {
    const auto severity = read_integer(request.body(), "severity");
    const auto type = read_string(request.body(), "type");
    if (!severity || !type) {
        return protocol_error("needs severity (integer) and type (string)");
    }
    if (*severity < 0 || *severity > 7) {
        return protocol_error("invalid exception severity");
    }
    const bool is_bad =
        std::any_of(type->begin(), type->end(), [](unsigned char c) { return std::isspace(c) || c == '='; });
    if (type->empty() || is_bad) {
        return protocol_error("invalid exception type");
    }
    if (*type == exception_unclaimed && !request.is_owner()) {
        return not_permitted("only the instance owner says that a scheduler does not claim a job's resources");
    }
    Engine::Exception exception;
    exception.type = *type;
    exception.severity = static_cast<int>(*severity);
    exception.note = read_string(request.body(), "note").value_or("");
    exception.userid = request.userid;
    exception.wait_status = static_cast<int>(read_integer(request.body(), "wait_status").value_or(-1));
    return exception;
}

std::string counts(std::size_t count, std::size_t errors) {
    return ObjectText().set("count", count).set("errors", errors).text();
}

}  // namespace

struct ControlTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.raise", on_request<Control, &Control::raise>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.raiseall", in_turn<Control, on_request<Control, &Control::raise_all>>,
         FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.kill", on_request<Control, &Control::kill>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.killall", in_turn<Control, on_request<Control, &Control::kill_all>>,
         FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.urgency", on_request<Control, &Control::urgency>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.memo", on_request<Control, &Control::memo>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.post-event.post", on_query<Control, &Control::post_event>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.update", on_request<Control, &Control::update>, FLUX_ROLE_USER},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

Status Control::start() {
    return handlers_.add(engine_.handle(), ControlTable::specs, this);
}

Answer Control::post_event(const Request&) {
    return Error{std::errc::function_not_supported,
                 "job-manager.post-event: weir-broker leaves it out, for the manager alone writes the events of jobs; "
                 "flux job memo keeps a user's own values"};
}

Result<Job*> Control::target(const Request& request, std::errc code, const char* denial) const {
    const auto id = read_integer(request.body(), "id");
    if (!id) {
        return protocol_error("id must be an integer");
    }
    Job* job = engine_.jobs().find(static_cast<JobId>(*id));
    if (!job || engine_.is_hidden(*job, request.msg)) {
        return Error{code, "unknown job id"};
    }
    if (!engine_.jobs().active(job->id)) {
        return Error{code, "job is inactive"};
    }
    if (!request.may_act_for(job->userid)) {
        return not_permitted(denial);
    }
    return job;
}

Status Control::check_room(const Request& request, const Job& job) {
    if (request.is_owner()) {
        return Done{};
    }
    const std::size_t annotations = job.annotations ? json_dumpb(job.annotations.get(), nullptr, 0, 0) : 0;
    if (job.eventlog.size() + annotations + payload_size(request.msg) <= guest_eventlog_max) {
        return Done{};
    }
    return Error{std::errc::no_space_on_device,
                 "the job's eventlog and annotations have reached their limit for entries of guests, 256 KiB"};
}

/// The partitions are left out: who names no job means none that runs everybody's.
std::vector<JobId> Control::select(std::uint32_t userid, int states) const {
    std::vector<JobId> chosen;
    for (const auto& [id, job] : engine_.jobs().active_jobs()) {
        if (!engine_.is_partition(*job) && is_in(job->state, states) &&
            (userid == FLUX_USERID_UNKNOWN || userid == job->userid)) {
            chosen.push_back(id);
        }
    }
    return chosen;
}

// Guest: ends or marks his own jobs. A job's eventlog grows by his hand to 256 KiB at most; ending is always let
// through. Private: another's job is unknown.
Answer Control::raise(const Request& request) {
    auto exception = exception_of(request);
    if (!exception) {
        return exception.error();
    }
    auto job =
        target(request, std::errc::no_such_file_or_directory, "guests can only raise exceptions on their own jobs");
    if (!job) {
        return job.error();
    }
    if (exception->severity != 0 || payload_size(request.msg) > short_request || (*job)->state == State::cleanup) {
        if (auto room = check_room(request, **job); !room) {
            return room.error();
        }
    }
    if (auto done = engine_.raise(**job, *exception); !done) {
        return done.error();
    }
    return Reply::empty();
}

// Guest: the same for all his own jobs at once; counts of others' jobs are refused. O(active jobs), in a turn.
Answer Control::raise_all(const Request& request) {
    const auto dry_run = read_boolean(request.body(), "dry_run");
    const auto userid = read_integer(request.body(), "userid");
    const auto states = read_integer(request.body(), "states");
    if (!dry_run || !userid || !states) {
        return protocol_error("needs dry_run (boolean), userid and states (integers)");
    }
    const auto user = static_cast<std::uint32_t>(*userid);
    if (!request.may_act_for(user)) {
        return not_permitted("guests can only raise exceptions on their own jobs");
    }
    auto exception = exception_of(request);
    if (!exception) {
        return exception.error();
    }
    const std::vector<JobId> chosen = select(user, static_cast<int>(*states));
    const bool needs_room = exception->severity != 0 || payload_size(request.msg) > short_request;
    std::size_t errors = 0;
    for (const JobId id : chosen) {
        Job* job = *dry_run ? nullptr : engine_.jobs().active(id);  // one job's end may end others
        if (job != nullptr && (((needs_room || job->state == State::cleanup) && !check_room(request, *job)) ||
                               !engine_.raise(*job, *exception))) {
            ++errors;
        }
        outbox().relieve();  // of a job there may be many followers
    }
    return Reply::of(counts(chosen.size(), errors));
}

void Control::signal(JobId id, int signum) {
    Json payload = Json::object();
    payload.set("signum", signum);
    engine_.outbox().publish(("shell-" + std::to_string(id) + ".kill").c_str(), std::move(payload));
}

// Guest: signals his own running jobs, as often as he likes: at most one signal of a kind waits for a launcher.
// Private: another's job is unknown.
Answer Control::kill(const Request& request) {
    const auto signum = read_integer(request.body(), "signum");
    if (!signum) {
        return protocol_error("signum must be an integer");
    }
    if (*signum <= 0 || *signum >= NSIG) {
        return invalid_request("Invalid signal number");
    }
    auto job = target(request, std::errc::invalid_argument, "guests may only send signals to their own jobs");
    if (!job) {
        return job.error();
    }
    if (!is_in((*job)->state, mask_running)) {
        return invalid_request("job is not running");
    }
    signal((*job)->id, static_cast<int>(*signum));
    return Reply::empty();
}

// Guest: the same for all his own jobs. O(active jobs), in a turn.
Answer Control::kill_all(const Request& request) {
    const auto dry_run = read_boolean(request.body(), "dry_run");
    const auto userid = read_integer(request.body(), "userid");
    const auto signum = read_integer(request.body(), "signum");
    if (!dry_run || !userid || !signum) {
        return protocol_error("error decoding request");
    }
    const auto user = static_cast<std::uint32_t>(*userid);
    if (!request.may_act_for(user)) {
        return not_permitted("guests can only kill their own jobs");
    }
    if (*signum <= 0 || *signum >= NSIG) {
        return invalid_request("Invalid signal number");
    }
    const std::vector<JobId> chosen = select(user, mask_running);
    for (const JobId id : chosen) {
        if (!*dry_run) {
            signal(id, static_cast<int>(*signum));
        }
    }
    return Reply::of(counts(chosen.size(), 0));
}

// Guest: holds, lowers and restores the urgency of his own jobs, never above 16 nor what they have; each time an event
// in an eventlog that ends at 256 KiB for him. Private: another's job is unknown.
Answer Control::urgency(const Request& request) {
    const auto urgency = read_integer(request.body(), "urgency");
    if (!urgency) {
        return protocol_error("urgency must be an integer");
    }
    if (*urgency < urgency_hold || *urgency > urgency_expedite) {
        return invalid_request("urgency value is out of range");
    }
    auto found = target(request, std::errc::invalid_argument, "guests can only reprioritize their own jobs");
    if (!found) {
        return found.error();
    }
    Job& job = **found;
    if (!request.is_owner() && *urgency > std::max(urgency_default, job.urgency)) {
        return not_permitted("guests can only adjust urgency <= default");
    }
    if (auto room = check_room(request, job); !room) {
        return room.error();
    }
    if (job.has_resources) {
        return invalid_request("urgency cannot be changed once resources are allocated");
    }
    const int before = job.urgency;
    Json context = Json::object();
    context.set("userid", request.userid);
    context.set("urgency", *urgency);
    if (auto done = engine_.post(job, "urgency", std::move(context)); !done) {
        return done.error();
    }
    return Reply::of(ObjectText().set("old_urgency", before).text());
}

// Guest: notes on his own jobs until they are over; eventlog and annotations end at 256 KiB for him. Private: another's
// job is unknown.
Answer Control::memo(const Request& request) {
    json_t* memo = json_object_get(request.body(), "memo");
    if (!json_is_object(memo)) {
        return protocol_error("memo must be an object");
    }
    auto job = target(request, std::errc::no_such_file_or_directory, "guests can only add a memo to their own jobs");
    if (!job) {
        return job.error();
    }
    if (auto room = check_room(request, **job); !room) {
        return room.error();
    }
    const bool is_volatile = read_boolean(request.body(), "volatile").value_or(false);
    if (auto done = engine_.post(**job, "memo", Json::ref(memo), is_volatile); !done) {
        return done.error();
    }
    return Reply::empty();
}

/// Duration and queue are checked by this module, the queue also by plugins that want to; a plugin must allow any other
/// key (job.update.KEY), as in flux-core.
Status Control::check_update(Job& job, const json_t* updates) {
    const char* key;
    json_t* value;
    json_object_foreach(const_cast<json_t*>(updates), key, value) {
        const std::string_view name = key;
        if (name == duration_key) {
            if (!json_is_number(value) || json_number_value(value) < 0) {
                return invalid_request("duration must be seconds, 0 or more");
            }
        } else if (name != queue_key) {
            if (auto allowed = engine_.jobtap().check_update(job, key, value); !allowed) {
                return allowed;
            }
        }
    }
    return Done{};
}

/// The queue exists; where it is another one, what it needs is among the changes.
Status Control::follow_queue(const Job& job, json_t* jobspec, json_t* changes) {
    const std::string queue(read_string(read_path(jobspec, "attributes.system"), "queue").value_or(""));
    if (auto known = engine_.queues().find(queue); !known) {
        return known.error();
    }
    if (queue == job.facts.queue) {
        return Done{};
    }
    if (auto moved = engine_.queues().move(jobspec, job.facts.queue); !moved) {
        return moved;
    }
    if (json_t* constraints = read_path(jobspec, constraints_key)) {
        json_object_set(changes, constraints_key, constraints);
    }
    return Done{};
}

/// A running job's time limit alone changes, as in flux-core. Plugins may refuse, the scheduler and job-exec are told.
Answer Control::update_running(Job& job, json_t* updates) {
    json_t* duration = json_object_get(updates, duration_key);
    const auto start = read_number(read_path(job.r->tree.get(), "execution"), "starttime");
    if (auto allowed = check_update(job, updates); !allowed) {
        return allowed.error();
    }
    if (job.state != State::run || duration == nullptr || json_object_size(updates) != 1 || !start) {
        return not_permitted(no_update);
    }
    if (engine_.jobtap().handles_update(duration_key)) {
        if (auto allowed = engine_.jobtap().check_update(job, duration_key, duration); !allowed) {
            return allowed.error();
        }
    }
    const double seconds = json_number_value(duration);
    const double expiration = seconds > 0 ? *start + seconds : 0;  // 0: no end
    if (seconds > 0 && expiration <= static_cast<double>(engine_.now_us()) / 1e6) {
        return invalid_request("requested duration places job expiration in the past");
    }
    if (auto done = engine_.post(job, "jobspec-update", Json::own(json_copy(updates))); !done) {
        return done.error();
    }
    Json end = std::move(Json::object().set("expiration", Json::real(expiration)));
    if (auto done = engine_.post(job, "resource-update", std::move(end)); !done) {
        return done.error();
    }
    const std::string told = Json::object().set("id", job.id).set("expiration", Json::real(expiration)).dump();
    outbox().request("sched.expiration", told);
    outbox().request("job-exec.expiration", told);
    return Reply::empty();
}

// Guest: is refused, for his own jobs too. Private: another's job is unknown.
Answer Control::update(const Request& request) {
    json_t* updates = json_object_get(request.body(), "updates");
    if (!json_is_object(updates) || json_object_size(updates) == 0) {
        return protocol_error("updates must be an object of jobspec keys");
    }
    auto job = target(request, std::errc::no_such_file_or_directory, "guests may only update their own jobs");
    if (!job) {
        return job.error();
    }
    if (!request.is_owner() || (*job)->is_immutable) {
        return not_permitted(!request.is_owner() ? "only the instance owner may update a job here" : no_update);
    }
    if (is_in((*job)->state, mask_running)) {
        return update_running(**job, updates);
    }
    if (auto allowed = check_update(**job, updates); !allowed) {
        return allowed.error();
    }
    auto updated = updated_jobspec(**job, updates);
    if (!updated) {
        return updated.error();
    }
    if (auto valid = validate_jobspec(updated->get()); !valid) {
        return valid.error();
    }
    const Json changes = Json::own(json_copy(updates));
    if (auto known = follow_queue(**job, updated->get(), changes.get()); !known) {
        return known.error();
    }
    // After that: a plugin would take a misspelt queue for one that it does not serve.
    if (json_t* value = json_object_get(updates, queue_key); value && engine_.jobtap().handles_update(queue_key)) {
        if (auto allowed = engine_.jobtap().check_update(**job, queue_key, value); !allowed) {
            return allowed.error();
        }
    }
    // The owner may give any duration, as in flux-core; limits and plugins have a say in the rest.
    const bool is_duration_alone = json_object_size(updates) == 1 && json_object_get(updates, duration_key) != nullptr;
    if (!is_duration_alone) {
        const std::string text = updated->dump();
        if (auto kept = engine_.queues().check_limits(jobspec_facts(text), text); !kept) {
            return kept.error();
        }
        if (auto allowed = engine_.jobtap().validate_update(**job, *updated); !allowed) {
            return allowed.error();
        }
    }
    if (auto done = engine_.post(**job, "jobspec-update", changes.share()); !done) {
        return done.error();
    }
    return Reply::empty();
}

}  // namespace weir::broker::jobs
