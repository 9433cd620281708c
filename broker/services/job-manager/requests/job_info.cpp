// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service job-info.
// Must not know: what events mean; the KVS.
#include "broker/services/job-manager/requests/job_info.hpp"
#include "libfairshare/base/json/text_writer.hpp"
#include "libfairshare/base/signed_jobspec.hpp"

#include <cerrno>
#include <set>
#include <vector>

namespace weir::broker::jobs {
namespace {

constexpr int lookup_json_decode = 1;
constexpr int lookup_current = 2;
constexpr int watch_initial_sentinel = 2;

std::string resources_payload(const Job& job) {
    return ObjectText().set("id", job.id).splice("R", job.r->text).text();
}

std::string event_payload(std::string_view line) {
    return ObjectText().set("event", std::string(line) + "\n").text();
}

bool is_output_among(const json_t* keys) {
    for (std::size_t i = 0; i < json_array_size(keys); ++i) {
        const char* key = json_string_value(json_array_get(keys, i));
        if (key != nullptr && GuestEventlogs::is_guest_path(key)) {
            return true;
        }
    }
    return false;
}

}  // namespace

struct JobInfoTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-info.lookup", on_query<JobInfo, &JobInfo::lookup>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-info.update-lookup", on_query<JobInfo, &JobInfo::update_lookup>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-info.update-watch", on_request<JobInfo, &JobInfo::update_watch>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-info.update-watch-cancel", on_request<JobInfo, &JobInfo::cancel>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-info.eventlog-watch", on_request<JobInfo, &JobInfo::watch>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-info.eventlog-watch-cancel", on_request<JobInfo, &JobInfo::cancel>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-info.disconnect", on_request<JobInfo, &JobInfo::disconnect>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_RESPONSE, "broker.wait-read", on_message<JobInfo, &JobInfo::on_read>, 0},
        {FLUX_MSGTYPE_REQUEST, "job-info.stats-get", on_query<JobInfo, &JobInfo::stats>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

/// The text of a key, or nothing.
Result<std::optional<std::string>> JobInfo::value_of(const Job& job, std::string_view key, bool is_current) const {
    if (key == "eventlog") {
        return std::optional(job.eventlog);
    }
    if (key == "J") {
        return std::optional(sign_none(
            job.jobspec_text.original ? *job.jobspec_text.original : full_jobspec(job.jobspec_text), job.userid));
    }
    if (key == "jobspec") {
        return std::optional(!is_current && job.jobspec_text.original ? *job.jobspec_text.original
                                                                      : full_jobspec(job.jobspec_text));
    }
    if (key == "R" && !job.r->text.empty()) {
        return std::optional(job.r->text);
    }
    if (GuestEventlogs::is_guest_path(key)) {
        return guest_.text(job, key);
    }
    return std::optional<std::string>();
}

Status JobInfo::start() {
    if (auto done = guest_.start(); !done) {
        return done;
    }
    return handlers_.add(engine_.handle(), JobInfoTable::specs, this);
}

Result<Job*> JobInfo::visible(const Request& request) const {
    const auto id = read_integer(request.body(), "id");
    if (!id) {
        return protocol_error("id must be an integer");
    }
    Job* job = engine_.jobs().find(static_cast<JobId>(*id));
    if (!job || engine_.is_hidden(*job, request.msg)) {
        return Error{std::errc::no_such_file_or_directory, "invalid job id"};
    }
    if (!request.may_act_for(job->userid)) {
        return not_permitted("access is restricted to job/instance owner");
    }
    return job;
}

// Guest: reads eventlogs, jobspec with its environment, R and up to 16 MiB of output of his own jobs; the output costs
// a reading of its files, in a turn. Private: another's job is unknown.
Answer JobInfo::lookup(const Request& request) {
    if (!request.is_owner() && is_output_among(json_object_get(request.body(), "keys"))) {
        turns().add(request.msg, on_query<JobInfo, &JobInfo::lookup_now>, this);
        return Reply::later();
    }
    return lookup_now(request);
}

Answer JobInfo::lookup_now(const Request& request) {
    const json_t* keys = json_object_get(request.body(), "keys");
    const auto flags = read_integer(request.body(), "flags");
    if (!json_is_array(keys) || !flags) {
        return protocol_error("keys must be an array of strings and flags an integer");
    }
    if (*flags & ~(lookup_json_decode | lookup_current)) {
        return protocol_error("lookup request rejected with invalid flag");
    }
    auto job = visible(request);
    if (!job) {
        return job.error();
    }
    ObjectText out;
    out.set("id", (*job)->id);
    std::set<std::string_view> seen;  // a key is answered once, however often the request names it
    for (std::size_t i = 0; i < json_array_size(keys); ++i) {
        const char* key = json_string_value(json_array_get(keys, i));
        if (!key) {
            return protocol_error("keys must be an array of strings");
        }
        if (!seen.insert(key).second) {
            continue;
        }
        const auto found = value_of(**job, key, (*flags & lookup_current) != 0);
        if (!found) {
            return found.error();
        }
        const auto& value = *found;
        if (!value) {
            return Error{std::errc::no_such_file_or_directory, std::string(key) + ": key not found"};
        }
        const std::string_view name = key;
        const bool is_text = name == "eventlog" || name == "J" || GuestEventlogs::is_guest_path(name);
        if ((*flags & lookup_json_decode) && !is_text) {
            out.splice(key, *value);
        } else {
            out.set(key, *value);
        }
    }
    return Reply::of(out.text());
}

// Guest: reads R of his own jobs. Private: another's job is unknown.
Answer JobInfo::update_lookup(const Request& request) {
    if (read_string(request.body(), "key").value_or("") != "R") {
        return Error{std::errc::invalid_argument, "update-lookup unsupported key specified"};
    }
    auto job = visible(request);
    if (!job) {
        return job.error();
    }
    if ((*job)->r->text.empty()) {
        return Error{std::errc::no_such_file_or_directory, "R: key not found"};
    }
    return Reply::of(resources_payload(**job));
}

/// Streams of both kinds count together.
bool JobInfo::has_room(const Request& request, const Job& job) const {
    if (request.is_owner()) {
        return true;
    }
    std::vector<const flux_msg_t*> open = guest_.requests(job.id);
    if (const auto at = watchers_.find(job.id); at != watchers_.end()) {
        for (const Watcher& watcher : at->second) {
            open.push_back(watcher.request.get());
        }
    }
    return !is_surplus(request, open, [](const flux_msg_t* msg) { return msg; });
}

// Guest: holds streams of R open on his own jobs, 64 of all kinds a job. Private: another's job is
// unknown.
Answer JobInfo::update_watch(const Request& request) {
    if (!flux_msg_is_streaming(request.msg)) {
        return protocol_error("update-watch request rejected without streaming RPC flag");
    }
    if (read_string(request.body(), "key").value_or("") != "R") {
        return Error{std::errc::invalid_argument, "update-watch unsupported key specified"};
    }
    auto job = visible(request);
    if (!job) {
        return job.error();
    }
    const Job& found = **job;
    if (!has_room(request, found)) {
        return too_many_wait("this job");
    }
    if (!found.r->text.empty()) {
        outbox().respond(request.msg, resources_payload(found));
    }
    if (found.state == State::inactive) {
        outbox().respond_error(request.msg, ENODATA, "");
    } else {
        watchers_[found.id].push_back({MessageRef(request.msg), true});
    }
    return Reply::later();
}

// Guest: holds streams of events and of output open on his own jobs, 64 of all kinds a job; each event costs
// a copy. Output is read at most 1,024 lines at a time, the next when he has read them, and what he leaves unread
// counts against his quota. Private: another's job is unknown.
Answer JobInfo::watch(const Request& request) {
    const auto path = read_string(request.body(), "path");
    const auto flags = read_integer(request.body(), "flags");
    if (!path || !flags) {
        return protocol_error("path must be a string and flags an integer");
    }
    if (*flags & ~3) {
        return protocol_error("eventlog-watch request rejected with invalid flag");
    }
    if (!flux_msg_is_streaming(request.msg)) {
        return protocol_error("eventlog-watch request rejected without streaming RPC flag");
    }
    auto job = visible(request);
    if (!job) {
        return job.error();
    }
    const Job& found = **job;
    if (!has_room(request, found)) {
        return too_many_wait("this job");
    }
    if (*path != "eventlog") {
        auto opened = guest_.open(request.msg, found, *path, (*flags & watch_initial_sentinel) != 0);
        return opened ? Answer(Reply::later()) : Answer(opened.error());
    }
    std::string_view lines = found.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        outbox().respond(request.msg, event_payload(lines.substr(0, end)));
        lines.remove_prefix(end + 1);
    }
    if (*flags & watch_initial_sentinel) {
        outbox().respond_empty(request.msg);
    }
    if (found.state == State::inactive) {
        outbox().respond_error(request.msg, ENODATA, "");
    } else {
        watchers_[found.id].push_back({MessageRef(request.msg), false});
    }
    return Reply::later();
}

void JobInfo::on_event(const Job& job, const std::string& name, const std::string& line) {
    guest_.on_event(job, name);
    if (watchers_.empty()) {
        return;
    }
    const auto at = watchers_.find(job.id);
    if (at == watchers_.end()) {
        return;
    }
    std::string payload;
    for (const Watcher& watcher : at->second) {
        if (watcher.is_of_updates) {
            if (name == "alloc" || name == "resource-update") {
                outbox().respond(watcher.request.get(), resources_payload(job));
            }
            continue;
        }
        if (payload.empty()) {
            payload = event_payload(line);
        }
        outbox().respond(watcher.request.get(), payload);
    }
    if (name == "clean" || name == "invalidate") {
        end(job.id);
    }
}

void JobInfo::end(JobId id) {
    const auto at = watchers_.find(id);
    if (at == watchers_.end()) {
        return;
    }
    for (const Watcher& watcher : at->second) {
        outbox().respond_error(watcher.request.get(), ENODATA, "");
    }
    watchers_.erase(at);
}

void JobInfo::end_all() {
    guest_.end_all();
    while (!watchers_.empty()) {
        end(watchers_.begin()->first);
    }
}

// Guest: ends his own streams: sender and matchtag must be those of the stream. O(watchers).
Answer JobInfo::cancel(const Request& request) {
    if (guest_.cancel(request.msg)) {
        return Reply::later();
    }
    for (auto& [id, list] : watchers_) {
        for (auto at = list.begin(); at != list.end(); ++at) {
            if (!flux_cancel_match(request.msg, at->request.get())) {
                continue;
            }
            outbox().respond_error(at->request.get(), ENODATA, "");
            list.erase(at);
            return Reply::later();
        }
    }
    return Reply::later();
}

// Guest: ends his own connection's streams. O(watchers).
Answer JobInfo::disconnect(const Request& request) {
    turns().drop(request.msg);
    guest_.disconnect(request.msg);
    for (auto& [id, list] : watchers_) {
        list.remove_if([&](const Watcher& w) { return flux_disconnect_match(request.msg, w.request.get()); });
    }
    std::erase_if(watchers_, [](const auto& entry) { return entry.second.empty(); });
    return Reply::later();
}

Answer JobInfo::stats(const Request&) {
    std::size_t count = guest_.size();
    for (const auto& [id, list] : watchers_) {
        count += list.size();
    }
    Json out = Json::object();
    out.set("lookups", 0).set("watchers", count).set("guest_watchers", 0);
    out.set("update_lookups", 0).set("update_watchers", 0);
    return Reply::of(out);
}

}  // namespace weir::broker::jobs
