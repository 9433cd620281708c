// SPDX-License-Identifier: LGPL-3.0-only
// Owns: requests about the manager as a whole.
// Must not know: the life of a single job.
#include "broker/services/job-manager/requests/admin.hpp"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "broker/services/job-manager/jobtap/jobtap.hpp"
#include "broker/services/job-manager/protocols/alloc.hpp"
#include "broker/services/job-manager/protocols/exec.hpp"
#include "broker/services/job-manager/requests/event_streams.hpp"
#include "broker/services/job-manager/requests/job_info.hpp"
#include "broker/services/job-manager/requests/waits.hpp"
#include "broker/services/job-manager/tables/slice.hpp"
#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/kvs_value.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::int64_t purge_batch_max = 100;
constexpr std::size_t trim_from = 10000;

std::string listed(const Job& job) {
    ObjectText out;
    out.set("id", job.id).set("userid", job.userid).set("urgency", job.urgency).set("priority", job.priority);
    out.splice("t_submit", timestamp_text(job.t_submit_us())).set("state", bit(job.state));
    if (job.annotations) {
        out.set("annotations", job.annotations);
    }
    return out.text();
}

/// The eventlog as a JSON array.
std::string events_array(const std::string& eventlog) {
    std::string out = "[" + eventlog;
    for (char& c : out) {
        if (c == '\n') {
            c = ',';
        }
    }
    if (out.back() == ',') {
        out.pop_back();
    }
    return out + "]";
}

Error invalid(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

}  // namespace

struct AdminTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.list", on_query<Admin, &Admin::list>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.getattr", on_query<Admin, &Admin::getattr>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.history.get", in_turn<Admin, on_query<Admin, &Admin::history>>,
         FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.getinfo", on_query<Admin, &Admin::getinfo>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.stats-get", on_query<Admin, &Admin::stats>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.queue-list", on_query<Admin, &Admin::queue_list>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.queue-status", on_query<Admin, &Admin::queue_status>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.queue-enable", on_request<Admin, &Admin::queue_enable>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.queue-start", on_request<Admin, &Admin::queue_start>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.drain", on_request<Admin, &Admin::drain>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.idle", on_request<Admin, &Admin::idle>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.purge", on_request<Admin, &Admin::purge>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.purge-id", on_request<Admin, &Admin::purge_id>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-manager.disconnect", on_request<Admin, &Admin::disconnect>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.config-reload", on_request<Admin, &Admin::config_reload>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

Status Admin::start() {
    return handlers_.add(engine_.handle(), AdminTable::specs, this);
}

Result<Admin::Limits> Admin::limits_of(const json_t* config) {
    const json_t* table = json_object_get(config, "job-manager");
    const json_t* num = json_object_get(table, "inactive-num-limit");
    const json_t* age = json_object_get(table, "inactive-age-limit");
    Limits limits;
    if (num && (!json_is_integer(num) || json_integer_value(num) < -1)) {
        return invalid("job-manager.inactive-num-limit must be an integer of at least 0 (or -1: no limit)");
    }
    if (num) {
        limits.num = json_integer_value(num);
    }
    if (age) {
        auto seconds = parse_fsd_seconds(json_string_value(age) ? json_string_value(age) : "");
        if (!seconds) {
            return invalid("job-manager.inactive-age-limit: " + seconds.error().message);
        }
        limits.age_s = *seconds;
    }
    if (const json_t* sync = json_object_get(table, "journal-sync")) {
        if (!json_is_boolean(sync)) {
            return invalid("job-manager.journal-sync must be true or false");
        }
        limits.syncs_journal = json_is_true(sync);
    }
    return limits;
}

Status Admin::check(const json_t* config) {
    const auto limits = limits_of(config);
    return limits ? Status(Done{}) : Status(limits.error());
}

void Admin::configure(const json_t* config) {
    limits_ = limits_of(config).value();
}

Answer Admin::list(const Request& request) {
    const auto entries_max = read_integer(request.body(), "max_entries");
    if (!entries_max || *entries_max < 0) {
        return protocol_error("max_entries must be an integer of at least 0");
    }
    ArrayText jobs;
    std::int64_t count = 0;
    const auto add = [&](const Job& job) {
        if (*entries_max == 0 || count < *entries_max) {
            jobs.splice(listed(job));
        }
        ++count;
    };
    for (const JobQueue::Entry& entry : engine_.alloc().queue()) {
        add(*entry.job);
    }
    for (const auto& [id, job] : engine_.jobs().active_jobs()) {
        if (!job->alloc_queued) {
            add(*job);
        }
    }
    return Reply::of(ObjectText().splice("jobs", jobs.text()).text());
}

// Guest: reads jobspec without environment, R and eventlog of his own jobs. Private: another's job is unknown.
Answer Admin::getattr(const Request& request) {
    const auto id = read_integer(request.body(), "id");
    const json_t* attrs = json_object_get(request.body(), "attrs");
    if (!id || !json_is_array(attrs)) {
        return protocol_error("id must be an integer and attrs an array");
    }
    const Job* job = engine_.jobs().find(static_cast<JobId>(*id));
    if (!job || engine_.is_hidden(*job, request.msg)) {
        return invalid("unknown job");
    }
    if (!request.may_act_for(job->userid)) {
        return not_permitted("guests can only access their own jobs");
    }
    ObjectText out;
    std::set<std::string_view> seen;  // an attribute is answered once, however often the request names it
    for (std::size_t i = 0; i < json_array_size(attrs); ++i) {
        const char* name = json_string_value(json_array_get(attrs, i));
        if (!name) {
            return protocol_error("attribute list contains non-string");
        }
        const std::string_view key = name;
        if (key != "jobspec" && key != "R" && key != "eventlog") {
            return Error{std::errc::no_such_file_or_directory, "unknown attr " + std::string(key)};
        }
        if (key == "R" && job->r->text.empty()) {
            return Error{std::errc::no_such_file_or_directory, "R is NULL"};
        }
        if (!seen.insert(key).second) {
            continue;
        }
        out.splice(key, key == "jobspec" ? job->jobspec_text.redacted
                        : key == "R"     ? job->r->text
                                         : events_array(job->eventlog));
    }
    return Reply::of(out.text());
}

// Guest: reads the greatest job id. Private: refused.
Answer Admin::getinfo(const Request& request) {
    if (engine_.is_restricted(request.msg)) {
        return not_permitted(restricted_words);
    }
    return Reply::of(ObjectText().set("max_jobid", engine_.jobs().max_id()).text());
}

// Guest: reads counts. Private: refused.
Answer Admin::stats(const Request& request) {
    if (engine_.is_restricted(request.msg)) {
        return not_permitted(restricted_words);
    }
    const JobTable& jobs = engine_.jobs();
    Json journal = Json::object();
    journal.set("listeners", engine_.streams().listeners()).set("events", engine_.streams().events());
    Json housekeeping = Json::object();
    housekeeping.set("running", Json::object());
    Json out = Json::object();
    out.set("journal", std::move(journal)).set("active_jobs", jobs.active_count());
    out.set("inactive_jobs", jobs.inactive_count()).set("max_jobid", jobs.max_id());
    out.set("environments", engine_.environments().size()).set("plugin_jobspecs", engine_.jobtap().jobspecs());
    out.set("guests_waiting", turns().size());
    out.set("housekeeping", std::move(housekeeping));
    return Reply::of(out);
}

// Guest: reads the queues' names.
Answer Admin::queue_list(const Request&) {
    Json names = Json::array();
    for (const std::string& name : engine_.queues().names()) {
        names.append(name);
    }
    Json out = Json::object();
    out.set("queues", std::move(names));
    return Reply::of(out);
}

// Guest: reads whether a queue takes and starts jobs, and the reason if not.
Answer Admin::queue_status(const Request& request) {
    auto queue = engine_.queues().find(std::string(read_string(request.body(), "name").value_or("")));
    if (!queue) {
        return queue.error();
    }
    return Reply::of(engine_.queues().status(**queue, engine_.alloc().is_online()));
}

Answer Admin::queue_enable(const Request& request) {
    const std::string name(read_string(request.body(), "name").value_or(""));
    const auto on = read_boolean(request.body(), "enable");
    const auto reason = read_string(request.body(), "reason");
    if (!on) {
        return protocol_error("enable must be a boolean");
    }
    if (!*on && !reason) {
        return invalid("reason is required for disable");
    }
    if (name.empty() && engine_.queues().has_named() && !read_boolean(request.body(), "all").value_or(false)) {
        return invalid("Use --all to apply this command to all queues");
    }
    Queues changed = engine_.queues();
    if (auto done = changed.enable(name, *on, std::string(reason.value_or(""))); !done) {
        return done.error();
    }
    if (auto done = engine_.set_queues(std::move(changed)); !done) {
        return done.error();
    }
    return Reply::empty();
}

Answer Admin::queue_start(const Request& request) {
    const std::string name(read_string(request.body(), "name").value_or(""));
    const auto on = read_boolean(request.body(), "start");
    if (!on) {
        return protocol_error("start must be a boolean");
    }
    if (name.empty() && engine_.queues().has_named() && !read_boolean(request.body(), "all").value_or(false)) {
        return invalid("Use --all to apply this command to all queues");
    }
    const std::string reason(read_string(request.body(), "reason").value_or(""));
    const bool is_kept = !read_boolean(request.body(), "nocheckpoint").value_or(false);
    Queues changed = engine_.queues();
    if (auto done = changed.start(name, *on, reason, is_kept); !done) {
        return done.error();
    }
    if (auto done = engine_.set_queues(std::move(changed)); !done) {
        return done.error();
    }
    engine_.alloc().on_queue(name, *on);
    engine_.outbox().publish("job-queue-change", Json::object());
    return Reply::empty();
}

Answer Admin::drain(const Request& request) {
    drain_.emplace_back(request.msg);
    check_drained();
    return Reply::later();
}

Answer Admin::idle(const Request& request) {
    idle_.emplace_back(request.msg);
    check_drained();
    return Reply::later();
}

void Admin::check_drained() {
    const JobTable& jobs = engine_.jobs();
    if (jobs.active_count() == 0) {
        for (; !drain_.empty(); drain_.pop_front()) {
            outbox().respond_empty(drain_.front().get());
        }
    }
    if (engine_.alloc().pending() == 0 && jobs.running() == 0) {
        for (; !idle_.empty(); idle_.pop_front()) {
            outbox().respond(idle_.front().get(), ObjectText().set("pending", jobs.active_count()).text());
        }
    }
}

void Admin::on_inactive() {
    check_drained();
    const std::size_t active = engine_.jobs().active_count();
    active_peak_ = std::max(active_peak_, active);
    if (active_peak_ > trim_from && active < active_peak_ / 4) {
        active_peak_ = active;
        ::malloc_trim(0);  // a burst is over: what it needed goes back to the system
    }
}

void Admin::forget(std::unique_ptr<Job> job) {
    engine_.jobtap().on_purge(*job);
    engine_.info().end(job->id);
    if (!purged_) {
        purged_ = Json::array();
    }
    purged_.append(static_cast<json_int_t>(job->id));
}

void Admin::purge_surplus() {
    for (std::size_t n = engine_.jobs().purgeable(engine_.now_us(), limits_.age_s, limits_.num); n > 0; --n) {
        forget(engine_.jobs().purge_oldest());
    }
    publish_purged();
}

/// Notifies listeners, and deletes the jobs' R from the KVS, where schedulers store it (RFC 16, 27).
void Admin::publish_purged() {
    if (!purged_) {
        return;
    }
    Json ops = Json::array();
    for (std::size_t i = 0; i < json_array_size(purged_.get()); ++i) {
        char key[64];
        const auto id = static_cast<JobId>(json_integer_value(json_array_get(purged_.get(), i)));
        if (flux_job_kvs_key(key, sizeof key, id, nullptr) >= 0) {
            ops.append(kvs_unlink(key));
        }
    }
    flux_future_destroy(flux_rpc(engine_.handle(), "kvs.commit", kvs_commit(std::move(ops)).dump().c_str(),
                                 FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE));
    Json event = Json::object();
    event.set("jobs", std::exchange(purged_, Json()));
    engine_.outbox().publish("job-purge-inactive", std::move(event));
}

Answer Admin::purge(const Request& request) {
    const auto age = read_number(request.body(), "age_limit");
    const auto num = read_integer(request.body(), "num_limit");
    const auto batch = read_integer(request.body(), "batch");
    const auto force = read_boolean(request.body(), "force");
    if (!age || !num || !batch || !force) {
        return protocol_error("needs age_limit, num_limit, batch and force");
    }
    if (*age != -1 && *age < 0) {
        return invalid("if set, age limit must be >= 0");
    }
    if (*num != -1 && *num < 0) {
        return invalid("if set, num limit must be >= 0");
    }
    if (*batch < 1 || *batch > purge_batch_max) {
        return invalid("batch must be >= 1 and <= 100");
    }
    std::size_t count = engine_.jobs().purgeable(engine_.now_us(), *age, *num);
    if (*force) {
        count = std::min(count, static_cast<std::size_t>(*batch));
        for (std::size_t i = 0; i < count; ++i) {
            forget(engine_.jobs().purge_oldest());
        }
        publish_purged();
    }
    return Reply::of(ObjectText().set("count", count).text());
}

Answer Admin::purge_id(const Request& request) {
    const auto id = read_integer(request.body(), "id");
    const json_t* force = json_object_get(request.body(), "force");
    if (!id || (!json_is_integer(force) && !json_is_boolean(force))) {
        return protocol_error("needs id (integer) and force (0 or 1)");
    }
    const auto job_id = static_cast<JobId>(*id);
    if (engine_.jobs().active(job_id)) {
        return invalid("cannot purge active job");
    }
    if (!engine_.jobs().inactive(job_id)) {
        return Error{std::errc::no_such_file_or_directory, "id not found"};
    }
    if (json_is_true(force) || json_integer_value(force) != 0) {
        forget(engine_.jobs().purge(job_id));
        publish_purged();
    }
    return Reply::of(ObjectText().set("count", 1).text());
}

// Guest: his connection's requests are let go; those of others have other routes. O(requests that wait).
Answer Admin::disconnect(const Request& request) {
    turns().drop(request.msg);
    engine_.alloc().on_disconnect(request.msg);
    engine_.exec().on_disconnect(request.msg);
    engine_.waits().on_disconnect(request.msg);
    engine_.streams().on_disconnect(request.msg);
    const auto is_gone = [&](const MessageRef& held) { return flux_disconnect_match(request.msg, held.get()); };
    drain_.remove_if(is_gone);
    idle_.remove_if(is_gone);
    return Reply::later();
}

Answer Admin::config_reload(const Request& request) {
    if (!json_is_object(request.body())) {
        return protocol_error("Failed to parse config-reload request");
    }
    if (auto done = engine_.configure(request.payload.share()); !done) {
        return done.error();
    }
    flux_conf_t* conf = nullptr;
    if (flux_module_config_request_decode(request.msg, &conf) == 0) {
        flux_set_conf_new(engine_.handle(), conf);
    }
    return Reply::empty();
}

void Admin::end_all() {
    for (std::list<MessageRef>* requests : {&drain_, &idle_}) {
        for (const MessageRef& request : *requests) {
            outbox().respond_error(request.get(), ENOSYS, "job-manager is unloading");
        }
        requests->clear();
    }
}

// Guest: reads the ids of his own jobs. O(jobs) and a sort of his, in a turn.
Answer Admin::history(const Request& request) {
    const auto slice = read_string(request.body(), "slice");
    if (!slice) {
        return protocol_error("slice must be a string");
    }
    std::vector<const Job*> own;
    for (const auto& [id, job] : engine_.jobs().active_jobs()) {
        if (job->userid == request.userid) {
            own.push_back(job.get());
        }
    }
    for (const Job* job : engine_.jobs().inactive_jobs()) {
        if (job->userid == request.userid) {
            own.push_back(job);
        }
    }
    const auto chosen = slice_positions(*slice, own.size());
    if (!chosen) {
        return invalid("could not parse python-style slice expression");
    }
    std::sort(own.begin(), own.end(), [](const Job* a, const Job* b) { return a->sequence > b->sequence; });
    Json ids = Json::array();
    for (const std::size_t at : *chosen) {
        ids.append(own[at]->id);
    }
    return Reply::of(Json::object().set("jobs", std::move(ids)));
}

}  // namespace weir::broker::jobs
