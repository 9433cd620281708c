// SPDX-License-Identifier: LGPL-3.0-only
// Owns: requests in, responses out, and when a pass runs. The handshake is in handshake.cpp.
// An alloc is never answered with an error response: that would stop the job-manager's scheduler interface (RFC 27).
#include "modules/sched/sched_module.hpp"

#include <unistd.h>

#include <algorithm>

#include "libfairshare/base/json/reader.hpp"
#include "libsched/json/constraint.hpp"
#include "libsched/json/jobspec.hpp"

namespace weir::sched {
namespace {

/// A pass is postponed while messages are unread, for at most so many reactor iterations.
constexpr unsigned postpone_max = 256;
/// Jobs, nodes and steps of nodes that passes may look at before the last pass of one forecast: some tens of
/// milliseconds, in which no other request is served.
constexpr std::uint64_t forecast_budget = 2'000'000;
/// Where more jobs wait than a course has, forecasts come from the state of at most this long ago.
constexpr Duration course_age_max = std::chrono::seconds(1);
/// Seconds for which a job stays at the head before its estimate is annotated.
constexpr double annotate_delay = 0.5;
constexpr const char* words_set_aside =
    "waits until the job-manager is loaded again: this one has read an R that the job was about to get, and accepts no "
    "other";
constexpr double due_grace = 5.;  ///< for the end of the job before: it makes a pass itself

}  // namespace

void SchedModule::alloc(const flux_msg_t* msg) {
    json_int_t id = 0;
    json_int_t priority = 0;
    json_int_t userid = 0;
    double submit = 0.;
    json_t* document = nullptr;
    flux::unpack(msg, "{s:I s:I s:I s:F s:o}", "id", &id, "priority", &priority, "userid", &userid, "t_submit", &submit,
                 "jobspec", &document);
    PendingJob job;
    const auto number = static_cast<std::uint32_t>(std::clamp<json_int_t>(priority, 0, priority_expedited));
    const JobId job_id{static_cast<std::uint64_t>(id)};
    job.key = {order_.priority(job_id, number), instant_from_seconds(submit), job_id};
    const auto accept = [&]() -> Status {
        auto jobspec = decode_jobspec(document);
        if (!jobspec) {
            return jobspec.error();
        }
        const auto constraint = decode_constraint(jobspec->constraints);
        if (!constraint) {
            return constraint.error();
        }
        job.request = jobspec->request;
        job.limit = jobspec->limit;
        if (static_cast<uid_t>(userid) == getuid()) {  // job-route submits copies as the owner; another user could lie
            job.key.submit = jobspec->weir_submit.value_or(job.key.submit);
        }
        return scheduler_.alloc(job, *constraint);
    };
    if (const Status accepted = accept(); !accepted) {
        deny(msg, job.key.id, accepted.error().message);
        return;
    }
    requests_.insert_or_assign(job.key.id, Asked{envelope_of(msg), number, static_cast<std::uint32_t>(userid),
                                                 instant_from_seconds(submit) < greeted_});
}

void SchedModule::deny(const flux_msg_t* alloc, JobId id, const std::string& why) {
    denied_++;
    Json response = alloc_response(id, AllocType::deny);
    response.set("note", why);
    flux::respond(h_, alloc, response);
    annotated_ = annotated_ == id ? std::nullopt : annotated_;
}

std::shared_ptr<const flux_msg_t> SchedModule::envelope_of(const flux_msg_t* msg) {
    std::uint32_t mine = FLUX_MATCHTAG_NONE;
    std::uint32_t kept = FLUX_MATCHTAG_NONE;
    const bool is_same = envelope_ && flux_disconnect_match(msg, envelope_.get()) &&
                         flux_msg_get_matchtag(msg, &mine) == 0 && flux_msg_get_matchtag(envelope_.get(), &kept) == 0 &&
                         mine == kept;
    if (!is_same) {
        envelope_ = flux::keep(msg);
    }
    return envelope_;
}

void SchedModule::free(const flux_msg_t* msg) {
    json_int_t id = 0;
    json_t* document = nullptr;
    int final = 0;
    flux::unpack(msg, "{s:I s:o s?b}", "id", &id, "R", &document, "final", &final);
    const R r = flux::value_or_throw(decode_r(document));
    flux::value_or_throw(scheduler_.free(JobId{static_cast<std::uint64_t>(id)}, r.resources, final != 0));
}

void SchedModule::cancel(const flux_msg_t* msg) {
    json_int_t number = 0;
    flux::unpack(msg, "{s:I}", "id", &number);
    const JobId id{static_cast<std::uint64_t>(number)};
    // After the answer to alloc nothing is left to cancel; the job-manager then frees what the job got.
    if (const auto request = requests_.find(id);
        request != requests_.end() && (scheduler_.cancel(id) || revoke(id) || set_aside_.erase(id) != 0)) {
        flux::respond(h_, request->second.request.get(), alloc_response(id, AllocType::cancel));
        requests_.erase(request);
        annotated_ = annotated_ == id ? std::nullopt : annotated_;
    }
}

void SchedModule::prioritize(const flux_msg_t* msg) {
    json_t* jobs = nullptr;
    flux::unpack(msg, "{s:o}", "jobs", &jobs);
    Priorities priorities = flux::value_or_throw(priorities_of(jobs, "sched.prioritize"));
    for (auto& [id, priority] : priorities) {
        if (const auto request = requests_.find(id); request != requests_.end()) {
            request->second.number = priority;
            priority = order_.priority(id, priority);
        }
    }
    scheduler_.prioritize(priorities);
}

Json SchedModule::order(const flux_msg_t* msg) {
    json_t* payload = nullptr;
    flux::unpack(msg, "o", &payload);
    if (const auto change = flux::value_or_throw(order_of(payload))) {
        order_.apply(*change);
        scheduler_.set_priority_bits(order_.bits());
        reorder(*change);
    }
    Json answer = Json::object();
    answer.set("nonce", static_cast<long long>(nonce_)).set("queue_depth", settings_.queue_depth.value_or(0));
    return answer;
}

void SchedModule::reorder(const OrderChange& change) {
    if (change.is_all || !change.groups.empty()) {
        scheduler_.prioritize_all([this](JobId id) { return order_.priority(id, requests_.at(id).number); });
        return;
    }
    Priorities priorities;
    for (const OrderChange::Job& job : change.jobs) {
        if (const auto request = requests_.find(job.id); request != requests_.end()) {
            priorities.emplace_back(job.id, order_.priority(job.id, request->second.number));
        }
    }
    scheduler_.prioritize(priorities);
}

Json SchedModule::expiration(const flux_msg_t* msg) {
    json_int_t id = 0;
    double seconds = 0.;
    flux::unpack(msg, "{s:I s:F}", "id", &id, "expiration", &seconds);
    if (!(seconds >= 0.)) {
        throw flux::Failure(EINVAL, "an expiration must not be negative");
    }
    R r;
    r.starttime = flux_reactor_time();  // a job that loses its limit now counts as one that starts without a limit now
    r.expiration = seconds;
    if (!scheduler_.set_end(JobId{static_cast<std::uint64_t>(id)}, end_of_job(r))) {
        throw flux::Failure(ENOENT, "the job holds no resources");
    }
    return {};
}

// Guest: learns whether a job would ever fit; costs one reading of a jobspec and one look at the machine for each of at
// most 10,000 terms of his constraint, which names at most 65,536 hosts.
Json SchedModule::feasibility(const flux_msg_t* msg) {
    json_t* document = nullptr;
    flux::unpack(msg, "{s:o}", "jobspec", &document);
    const Jobspec jobspec = flux::value_or_throw(decode_jobspec(document));
    const Constraint constraint = flux::value_or_throw(decode_constraint(jobspec.constraints));
    if (has_resources_) {
        flux::value_or_throw(scheduler_.feasible(jobspec.request, constraint));
    }
    return {};
}

// Guest: reads counts of the scheduler's work.
Json SchedModule::stats(const flux_msg_t*) {
    const Scheduler::Counters& counters = scheduler_.counters();
    const ResourcePool& pool = scheduler_.space().pool();
    Json out = Json::object();
    out.set("policy", name_of(scheduler_.policy()))
        .set("node_choice", name_of(settings_.node_choice))
        .set("ready", is_ready_);
    if (settings_.queue_depth) {
        out.set("queue_depth", *settings_.queue_depth);
    } else {
        out.set("queue_depth", "unlimited");
    }
    out.set("pending", scheduler_.pending()).set("running", scheduler_.space().running().size());
    out.set("cores", pool.total_cores()).set("free_cores", pool.free_cores());
    out.set("passes", counters.passes).set("considered", counters.considered);
    out.set("started", counters.started).set("backfilled", counters.backfilled);
    Json estimates = Json::object();
    estimates.set("count", counters.estimated).set("total_s", to_seconds(counters.estimate_error));
    out.set("estimates", std::move(estimates));
    out.set("denied", denied_).set("commits", commit_count_);
    return out;
}

// Guest: reads why any job waits and when it may start. This costs a copy of the scheduler's state, and for one of the
// first 2000 jobs a forecast: some tens of milliseconds (forecast_budget) and at most one pass more, as the scheduler
// itself runs whenever a job ends. No other request is served meanwhile. Where nothing has changed, the next question
// goes on from there; a user who asks without pause and changes jobs of his own meanwhile slows scheduling by as much.
// Private: of his own job, without the id of the job ahead; another's is unknown.
Json SchedModule::why(const flux_msg_t* msg) {
    json_int_t number = 0;
    flux::unpack(msg, "{s:I}", "id", &number);
    const JobId id{static_cast<std::uint64_t>(number)};
    const Instant now = instant_from_seconds(flux_reactor_now(flux_get_reactor(h_)));
    const auto may_see = [&](JobId job) {
        const auto asked = requests_.find(job);  // a job that runs is nobody's here
        return private_.may_see(msg, asked != requests_.end() ? asked->second.userid : FLUX_USERID_UNKNOWN);
    };
    auto waiting = why_waiting(scheduler_, id, now);
    if (!waiting || !may_see(id)) {
        throw flux::Failure(ENOENT, "the job does not wait for resources here");
    }
    if (waiting->behind && !may_see(*waiting->behind)) {
        waiting->behind.reset();
    }
    return why_answer(
        id, *waiting,
        waiting->place > ForecastCourse::jobs_max ? Forecast{.is_too_far_back = true} : forecast_of(id, now));
}

Forecast SchedModule::forecast_of(JobId id, Instant now) {
    const bool is_new = !course_holds(now) || !course_->has(id);
    if (is_new) {
        course_.emplace(scheduler_, now);
        course_passes_ = scheduler_.counters().passes;
    }
    const Forecast forecast = course_->of(id, forecast_budget);
    if (is_new) {
        course_asked_ = instant_from_seconds(flux_reactor_time());
    }
    return forecast;
}

/// Who looks at a queue asks for one job after the other, and who got no estimate asks again.
bool SchedModule::course_holds(Instant now) const {
    if (!course_ || now < course_->begin()) {
        return false;
    }
    const bool is_unchanged = course_passes_ == scheduler_.counters().passes && !scheduler_.wants_pass();
    const bool is_recent = now - course_asked_ <= course_age_max;
    return is_unchanged ? is_recent || now < course_->good_until()
                        : is_recent && requests_.size() > ForecastCourse::jobs_max;
}

Json SchedModule::config_reload(const flux_msg_t* msg) {
    json_t* access = nullptr;
    flux::unpack(msg, "{s?o}", "access", &access);
    private_ = flux::PrivateMode(access);
    return {};
}

Json SchedModule::load(const flux_msg_t* msg) {
    json_t* nodes = nullptr;
    flux::unpack(msg, "{s:o}", "nodes", &nodes);
    for (const auto& [rank, load] : flux::value_or_throw(loads_of(nodes, hosts_))) {
        scheduler_.set_load(rank, load);
    }
    return {};
}

void SchedModule::before_poll() {
    if (is_ready_ && (scheduler_.wants_pass() || !starts_.empty())) {
        flux_watcher_start(idle_.get());  // do not block: a pass is due
    }
}

void SchedModule::after_poll() {
    flux_watcher_stop(idle_.get());
    if (!is_ready_ || (!scheduler_.wants_pass() && starts_.empty())) {
        return;
    }
    const int events = flux_pollevents(h_);
    if (events >= 0 && (events & FLUX_POLLIN) != 0 && ++postponed_ < postpone_max) {
        return;
    }
    postponed_ = 0;
    if (scheduler_.wants_pass()) {
        run_pass();
    }
    if (!starts_.empty()) {
        commit(std::exchange(starts_, {}));
    }
}

void SchedModule::run_pass() {
    const Instant now = instant_from_seconds(flux_reactor_time());
    Scheduler::Effects effects = scheduler_.pass(now);
    if (!course_holds(now)) {
        course_.reset();
    }
    flux_watcher_stop(due_timer_.get());
    if (scheduler_.due() != never) {
        flux_timer_watcher_reset(due_timer_.get(), std::max(to_seconds(scheduler_.due() - now), 0.) + due_grace, 0.);
        flux_watcher_start(due_timer_.get());
    }
    for (Scheduler::Start& start : effects.started) {
        if (!flux::is_embedded(h_) && requests_.at(start.id).was_before) {
            ask_for_allocation(std::move(start));
        } else {
            starts_.push_back(std::move(start));
        }
    }
    for (const JobId id : effects.cleared) {
        if (annotated_ == id) {
            annotate(id, no_annotations());
            annotated_.reset();
        }
    }
    if (!effects.annotations.empty()) {
        const bool waits = to_announce_.has_value();
        to_announce_ = std::move(effects.annotations.back());
        if (!waits) {
            flux_timer_watcher_reset(annotate_timer_.get(), annotate_delay, 0.);
            flux_watcher_start(annotate_timer_.get());
        }
    }
}

void SchedModule::ask_for_allocation(Scheduler::Start start) {
    Question question{flux::rpc(h_, "job-manager.getattr", allocation_payload(start.id)), std::move(start)};
    flux::then<&SchedModule::on_allocation>(question.future.get(), this);
    flux_future_t* key = question.future.get();
    questions_.emplace(key, std::move(question));
}

void SchedModule::on_allocation(flux_future_t* f) {
    auto node = questions_.extract(f);
    try {
        (void)flux::rpc_get(f, "job-manager.getattr");
        set_aside(node.mapped().start.id);
    } catch (const flux::Failure&) {  // "R is NULL"
        starts_.push_back(std::move(node.mapped().start));
    }
}

/// A job-manager of flux-core 0.88 that is loaded takes the R of a waiting job for its allocation; it refuses the next
/// one, and asks for no job any more. A broker that was killed may come back with such an R, and a job-manager that is
/// loaded again may read one before remove_r() is done. Without this R the next job-manager asks for the job again.
void SchedModule::set_aside(JobId id) {
    flux::value_or_throw(scheduler_.free(id, {}, true));
    set_aside_.insert(id);
    remove_r({id});
    annotated_ = annotated_ == id ? std::nullopt : annotated_;
    annotate(id, annotations({.id = id, .estimate = {}, .reason = words_set_aside}));
    log(LOG_ERR, "job " + std::to_string(id.value) + " " + words_set_aside);
}

void SchedModule::commit(std::vector<Scheduler::Start> started) {
    std::vector<std::pair<std::string, Json>> values;
    Commit commit;
    for (const Scheduler::Start& start : started) {
        Json r = encode_r(r_of(start, hosts_, properties_));
        values.emplace_back(r_key(start.id), r.share());
        commit.r.emplace_back(start.id, std::move(r));
    }
    commit.future = flux::rpc(h_, "kvs.commit", commit_payload(values));
    flux::then<&SchedModule::on_commit>(commit.future.get(), this);
    flux_future_t* key = commit.future.get();
    commits_.emplace(key, std::move(commit));
}

/// Withdraws the allocation of a job whose R is still being committed to the KVS: a job that is held again, for example
/// by a limit, must not start. False if there is no such job.
bool SchedModule::revoke(JobId id) {
    const auto is_it = [id](const Scheduler::Start& start) { return start.id == id; };
    const auto asked = [&](const auto& question) { return is_it(question.second.start); };
    if (std::erase_if(starts_, is_it) + std::erase_if(questions_, asked) != 0) {
        flux::value_or_throw(scheduler_.free(id, {}, true));
        return true;
    }
    for (auto& [future, commit] : commits_) {
        const auto place =
            std::find_if(commit.r.begin(), commit.r.end(), [id](const auto& started) { return started.first == id; });
        if (place != commit.r.end()) {
            commit.r.erase(place);
            flux::value_or_throw(scheduler_.free(id, {}, true));
            remove_r({id});
            return true;
        }
    }
    return false;
}

/// Of jobs that wait again: see set_aside().
void SchedModule::remove_r(const std::vector<JobId>& jobs) {
    if (!jobs.empty()) {
        (void)flux::rpc(h_, "kvs.commit", removal_payload(jobs), FLUX_RPC_NORESPONSE);
    }
}

void SchedModule::on_commit(flux_future_t* f) {
    const auto node = commits_.extract(f);
    Commit& commit = node.mapped();
    try {
        (void)flux::rpc_get(f, "kvs.commit");
    } catch (const flux::Failure& failure) {
        give_up(failure.what());
        return;
    }
    commit_count_++;
    for (auto& [id, r] : commit.r) {
        const auto request = requests_.find(id);
        Json response = alloc_response(id, AllocType::success);
        response.set("R", std::move(r));
        if (annotated_ == id || wants_annotations_) {
            response.set("annotations", no_annotations());
        }
        annotated_ = annotated_ == id ? std::nullopt : annotated_;
        flux::respond(h_, request->second.request.get(), response);
        requests_.erase(request);
    }
}

void SchedModule::on_annotate_timer() {
    const auto announcement = std::exchange(to_announce_, std::nullopt);
    if (announcement && requests_.contains(announcement->id) && !set_aside_.contains(announcement->id) &&
        !scheduler_.space().running().contains(announcement->id)) {
        annotate(announcement->id, annotations(*announcement));
        annotated_ = announcement->id;
    }
}

void SchedModule::annotate(JobId id, Json what) {
    if (const auto request = requests_.find(id); request != requests_.end()) {
        Json response = alloc_response(id, AllocType::annotate);
        response.set("annotations", std::move(what));
        flux::respond(h_, request->second.request.get(), response);
    }
}

void SchedModule::log(int severity, const std::string& text) const {
    if (severity <= settings_.log_level) {
        flux::log(h_, severity, text);
    }
}

void SchedModule::give_up(const std::string& why) {
    if (!std::exchange(gave_up_, true)) {
        log(LOG_ERR, why);
        flux_reactor_stop_error(flux_get_reactor(h_));
    }
}

}  // namespace weir::sched
