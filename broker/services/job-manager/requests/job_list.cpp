// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service job-list.
// Must not know: how a job is shown or ordered. RFC 43.
#include "broker/services/job-manager/requests/job_list.hpp"

#include <cerrno>
#include <cmath>

#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

/// Watchers of the statistics get changes at most this often (scaled seconds), as in Flux.
constexpr double stats_delay_s = 0.5;

/// The request's constraint; requests of old clients carry userid, states, results instead.
Json constraint_of(const json_t* body) {
    if (json_t* given = json_object_get(body, "constraint")) {
        return Json::ref(given);
    }
    Json all = Json::array();
    for (const char* key : {"userid", "states", "results", "name", "queue"}) {
        json_t* value = json_object_get(body, key);
        const bool is_mask = std::string_view(key) == "states" || std::string_view(key) == "results";
        if (!value || (is_mask && json_integer_value(value) == 0)) {
            continue;
        }
        Json values = Json::array();
        values.append(Json::ref(value));
        Json one = Json::object();
        one.set(key, std::move(values));
        all.append(std::move(one));
    }
    Json out = Json::object();
    out.set("and", std::move(all));
    return out;
}

Error too_many_comparisons() {
    return Error{std::errc::invalid_argument, "the constraint made more than " +
                                                  std::to_string(Comparisons::guest_max) +
                                                  " comparisons: limit it by states or since, or make it shorter"};
}

JobFilter own_jobs(std::uint32_t user, JobFilter asked) {
    return [user, asked = std::move(asked)](const Job& job) { return job.userid == user && asked(job); };
}

}  // namespace

struct JobListTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-list.list", in_turn<JobList, on_query<JobList, &JobList::list>>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-list.list-id", on_query<JobList, &JobList::list_id>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-list.list-attrs", on_query<JobList, &JobList::list_attrs>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-list.job-stats", on_query<JobList, &JobList::job_stats>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-list.disconnect", on_request<JobList, &JobList::disconnect>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-list.stats-get", on_query<JobList, &JobList::stats>, FLUX_ROLE_USER},
        FLUX_MSGHANDLER_TABLE_END,
    };
    static void timer(flux_reactor_t*, flux_watcher_t* w, int, void* arg) noexcept {
        flux_watcher_stop(w);
        JobList& self = *static_cast<JobList*>(arg);
        self.is_timer_running_ = false;
        self.send_stats();
    }
};

Status JobList::start() {
    timer_ =
        flux_timer_watcher_create(flux_get_reactor(engine_.handle()), stats_delay_s, 0., JobListTable::timer, this);
    return handlers_.add(engine_.handle(), JobListTable::specs, this);
}

// Guest: reads the public attributes of all jobs, no jobspec and no environment. O(jobs) and an answer of their size,
// in a turn; what he leaves unread counts against his quota. His constraint names at most 65,536 hosts and has less
// than 10,000 operators, and a query makes at most a million comparisons. Private: his own jobs.
Answer JobList::list(const Request& request) {
    const json_t* body = request.body();
    const auto entries_max = read_integer(body, "max_entries");
    const json_t* attrs = json_object_get(body, "attrs");
    const double since = read_number(body, "since").value_or(0);
    if (!entries_max || *entries_max < 0) {
        return protocol_error("invalid payload: max_entries must be an integer of at least 0");
    }
    if (since < 0) {
        return protocol_error("invalid payload: since < 0.0 not allowed");
    }
    if (!json_is_array(attrs)) {
        return protocol_error("invalid payload: attrs must be an array");
    }
    const auto shown = JobAttributes::of(attrs);
    if (!shown) {
        return shown.error();
    }
    const Json constraint = constraint_of(body);
    Comparisons comparisons(request.is_owner() ? UINT64_MAX : Comparisons::guest_max);
    auto filter = compile_constraint(constraint.get(), &comparisons);
    if (comparisons.is_exhausted()) {
        return too_many_comparisons();
    }
    if (!filter) {
        return protocol_error("invalid payload: constraint object invalid: " + filter.error().message);
    }
    const ListQuery query{
        engine_.is_restricted(request.msg) ? own_jobs(request.userid, std::move(*filter)) : std::move(*filter),
        states_of_constraint(constraint.get()), std::llround(since * 1e6), static_cast<std::size_t>(*entries_max),
        &comparisons};
    const std::vector<const Job*> listed = list_jobs(engine_.jobs(), query);
    if (comparisons.is_exhausted()) {
        return too_many_comparisons();
    }
    const bool is_streaming = flux_msg_is_streaming(request.msg);
    ArrayText all;
    bool is_first = true;
    for (const Job* job : listed) {
        const std::string text = job_text(*job, *shown);
        if (is_streaming) {
            ObjectText out;
            out.splice("jobs", ArrayText().splice(text).text());
            if (is_first) {
                out.set("version", 1);
            }
            outbox().answer_query(request.msg, out.text());
        } else {
            all.splice(text);
        }
        is_first = false;
    }
    if (!is_streaming) {
        return Reply::of(ObjectText().splice("jobs", all.text()).text());
    }
    outbox().answer_query(request.msg, "", ENODATA);
    return Reply::later();
}

// Guest: the same of one job; may wait for a state, with 64 requests a job, as open requests of his quota. Private:
// another's job is unknown.
Answer JobList::list_id(const Request& request) {
    const auto id = read_integer(request.body(), "id");
    const json_t* attrs = json_object_get(request.body(), "attrs");
    const int states = static_cast<int>(read_integer(request.body(), "state").value_or(0));
    if (!id || !json_is_array(attrs)) {
        return protocol_error("invalid payload: id must be an integer and attrs an array");
    }
    if (states & ~126) {
        return protocol_error("invalid payload: invalid state specified");
    }
    auto shown = JobAttributes::of(attrs);
    if (!shown) {
        return shown.error();
    }
    const Job* job = engine_.jobs().find(static_cast<JobId>(*id));
    if (!job || engine_.is_hidden(*job, request.msg)) {
        return Error{std::errc::no_such_file_or_directory, "unknown job id"};
    }
    if (job->state != State::inactive && states != 0 && (job->states_mask & states) == 0) {
        if (const auto waiting = waiters_.find(job->id);
            waiting != waiters_.end() &&
            is_surplus(request, waiting->second, [](const Waiter& other) { return other.request.get(); })) {
            return too_many_wait("this job");
        }
        if (!flux_msg_is_noresponse(request.msg)) {  // else it would wait for ever: no disconnect would end it
            waiters_[job->id].push_back({MessageRef(request.msg), states, std::move(*shown)});
        }
        return Reply::later();
    }
    return Reply::of(ObjectText().splice("job", job_text(*job, *shown)).text());
}

void JobList::answer(const Waiter& waiter, const Job& job) {
    if (engine_.is_hidden(job, waiter.request.get())) {  // the instance has become private
        outbox().respond_error(waiter.request.get(), ENOENT, "unknown job id");
    } else {
        outbox().respond(waiter.request.get(), ObjectText().splice("job", job_text(job, waiter.shown)).text());
    }
}

void JobList::on_state(const Job& job) {
    if (const auto waiting = waiters_.find(job.id); waiting != waiters_.end()) {
        waiting->second.remove_if([&](const Waiter& waiter) {
            if (job.state != State::inactive && (job.states_mask & waiter.states) == 0) {
                return false;
            }
            answer(waiter, job);
            return true;
        });
        if (waiting->second.empty()) {
            waiters_.erase(waiting);
        }
    }
    if (!stats_watchers_.empty() && !is_timer_running_) {
        flux_timer_watcher_reset(timer_, stats_delay_s, 0.);
        flux_watcher_start(timer_);
        is_timer_running_ = true;
    }
}

// Guest: reads names that never change.
Answer JobList::list_attrs(const Request&) {
    Json names = Json::array();
    for (const std::string& name : job_attribute_names()) {
        names.append(name);
    }
    names.append("all");
    Json out = Json::object();
    out.set("attrs", std::move(names));
    return Reply::of(out);
}

// Guest: reads how many jobs stand where; as a stream, of which he has 64, an open request of his quota and an answer
// every half second. Private: refused.
Answer JobList::job_stats(const Request& request) {
    if (engine_.is_restricted(request.msg)) {
        return not_permitted(restricted_words);
    }
    if (flux_msg_is_streaming(request.msg)) {
        if (is_surplus(request, stats_watchers_, [](const MessageRef& other) { return other.get(); })) {
            return too_many_wait("changes of the counts");
        }
        stats_watchers_.emplace_back(request.msg);
    }
    return Reply::of(stats_json(engine_.jobs()));
}

void JobList::send_stats() {
    const std::string text = stats_json(engine_.jobs()).dump();
    stats_watchers_.remove_if([this](const MessageRef& watcher) {
        if (engine_.is_restricted(watcher.get())) {  // the instance has become private
            outbox().respond_error(watcher.get(), EPERM, restricted_words);
            return true;
        }
        return false;
    });
    for (const MessageRef& watcher : stats_watchers_) {
        outbox().respond(watcher.get(), text);
    }
}

// Guest: ends his own connection's waiting requests. O(watchers).
Answer JobList::disconnect(const Request& request) {
    turns().drop(request.msg);
    for (auto& [id, waiters] : waiters_) {
        waiters.remove_if([&](const Waiter& w) { return flux_disconnect_match(request.msg, w.request.get()); });
    }
    std::erase_if(waiters_, [](const auto& of_job) { return of_job.second.empty(); });
    stats_watchers_.remove_if([&](const MessageRef& w) { return flux_disconnect_match(request.msg, w.get()); });
    return Reply::later();
}

// Guest: reads counts. Private: refused.
Answer JobList::stats(const Request& request) {
    if (engine_.is_restricted(request.msg)) {
        return not_permitted(restricted_words);
    }
    const JobTable& jobs = engine_.jobs();
    const std::size_t pending = jobs.active_count() - static_cast<std::size_t>(jobs.running());
    Json counts = Json::object();
    counts.set("pending", pending).set("running", jobs.running()).set("inactive", jobs.inactive_count());
    Json idsync = Json::object();
    std::size_t waits = 0;
    for (const auto& [id, waiters] : waiters_) {
        waits += waiters.size();
    }
    idsync.set("lookups", 0).set("waits", waits);
    Json out = Json::object();
    out.set("jobs", std::move(counts)).set("idsync", std::move(idsync)).set("stats_watchers", stats_watchers_.size());
    return Reply::of(out);
}

void JobList::end_all() {
    for (const auto& [id, waiters] : waiters_) {
        for (const Waiter& waiter : waiters) {
            outbox().respond_error(waiter.request.get(), ENOSYS, "job-list is unloading");
        }
    }
    for (const MessageRef& watcher : stats_watchers_) {
        outbox().respond_error(watcher.get(), ENODATA, "");
    }
    waiters_.clear();
    stats_watchers_.clear();
}

}  // namespace weir::broker::jobs
