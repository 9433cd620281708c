// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the questions to job-list and the forms of names.
#include "cmd/common/jobs.hpp"

#include <pwd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>

#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"
#include "libfairshare/base/wait_status.hpp"

namespace weir::cmd {
namespace {

Job job_of(json_t* entry) {
    Job job;
    job.id = static_cast<std::uint64_t>(integer_at(entry, "id"));
    job.userid = static_cast<std::uint32_t>(integer_at(entry, "userid"));
    job.state = static_cast<int>(integer_at(entry, "state"));
    job.result = static_cast<int>(integer_at(entry, "result"));
    job.urgency = integer_at(entry, "urgency", 16);
    job.priority = integer_at(entry, "priority", -1);
    job.cores = integer_at(entry, "ncores");
    job.nodes = integer_at(entry, "nnodes");
    job.waitstatus = integer_at(entry, "waitstatus", -1);
    job.submitted = number_at(entry, "t_submit");
    job.run = number_at(entry, "t_run");
    job.cleanup = number_at(entry, "t_cleanup");
    job.inactive = number_at(entry, "t_inactive");
    job.duration = number_at(entry, "duration");
    job.name = text_at(entry, "name");
    job.queue = text_at(entry, "queue");
    job.account = text_at(entry, "bank");
    job.note = text_at(entry, "exception_note");
    job.annotations = json_object_get(entry, "annotations");
    for (const json_t* dependency : items_at(entry, "dependencies")) {
        if (json_is_string(dependency)) {
            job.dependencies.emplace_back(json_string_value(dependency));
        }
    }
    return job;
}

Json wanted_attributes(bool with_annotations) {
    Json attributes = Json::array();
    for (const char* name :
         {"userid", "urgency", "priority", "t_submit", "t_run", "t_cleanup", "t_inactive", "state", "result", "name",
          "queue", "bank", "ncores", "nnodes", "duration", "waitstatus", "exception_note"}) {
        attributes.append(Json::string(name));
    }
    if (with_annotations) {
        attributes.append(Json::string("annotations"));
    }
    return attributes;
}

/// {"name":[value]}
Json term(const char* name, Json value) {
    Json list = Json::array();
    list.append(std::move(value));
    Json object = Json::object();
    object.set(name, std::move(list));
    return object;
}

}  // namespace

std::string job_name(std::uint64_t id, bool unicode) {
    std::array<char, 32> text{};
    if (flux_job_id_encode(id, unicode ? "f58" : "f58plain", text.data(), text.size()) < 0) {
        return std::to_string(id);
    }
    return text.data();
}

Result<std::uint64_t> parse_job(const std::string& text) {
    flux_jobid_t id = 0;
    if (flux_job_id_parse(text.c_str(), &id) < 0) {
        return Error{
            std::errc::invalid_argument,
            "\"" + printable(text) + "\" is no job id. A job id is ƒ7J4Ab, f7J4Ab or a decimal number; see: weir jobs"};
    }
    return static_cast<std::uint64_t>(id);
}

Error explained(const Error& error, std::uint64_t id, Client& client, const std::string& not_permitted) {
    // Flux's job-manager answers EINVAL with these words where others say ENOENT.
    const bool is_unknown = error.message.find("unknown job") != std::string::npos ||
                            error.message.find("job is inactive") != std::string::npos;
    if (is_unknown || error.code == std::errc::no_such_file_or_directory) {
        if (const auto job = find_job(client, id); job && job->state == FLUX_JOB_STATE_INACTIVE) {
            return {std::errc::no_such_file_or_directory, job_name(id) + " has ended: it " + ending_text(*job) + "."};
        }
        return {std::errc::no_such_file_or_directory,
                "no active job " + job_name(id) + " at " + client.uri() + ". See: weir jobs -a"};
    }
    if (error.code == std::errc::operation_not_permitted) {
        return {error.code, job_name(id) + ": " + not_permitted};
    }
    return {error.code, job_name(id) + ": " + error.message};
}

Users Users::of(Client& client) {
    Users users;
    if (auto conf = client.call("config.get")) {
        const char* name = nullptr;
        json_t* id = nullptr;
        json_object_foreach(json_object_get(json_object_get(conf->get(), "weir"), "users"), name, id) {
            users.table_.emplace_back(name, static_cast<std::uint32_t>(json_integer_value(id)));
        }
    }
    return users;
}

std::string Users::name(std::uint32_t userid) const {
    const auto [known, is_new] = names_.try_emplace(userid);
    if (!is_new) {
        return known->second;
    }
    const auto row =
        std::find_if(table_.begin(), table_.end(), [userid](const auto& one) { return one.second == userid; });
    if (row != table_.end()) {
        known->second = row->first;
    } else {
        const passwd* entry = getpwuid(userid);
        known->second = entry != nullptr ? entry->pw_name : std::to_string(userid);
    }
    return known->second;
}

Result<std::uint32_t> Users::id(const std::string& name) const {
    for (const auto& [known, id] : table_) {
        if (known == name) {
            return id;
        }
    }
    if (const passwd* entry = getpwnam(name.c_str())) {
        return static_cast<std::uint32_t>(entry->pw_uid);
    }
    if (const auto number = parse_integer(name, 0, 0xFFFFFFFEll)) {
        return static_cast<std::uint32_t>(*number);
    }
    return Error{
        std::errc::no_such_file_or_directory,
        "no user \"" + printable(name) + "\" here: neither in the instance's [weir.users] nor on this machine."};
}

Status list_jobs(Client& client, const JobQuery& query, const std::function<void(const Job&)>& take) {
    Json all = Json::array();
    all.append(term("states", Json::own(json_integer(query.states))));
    if (query.userid) {
        all.append(term("userid", Json::own(json_integer(*query.userid))));
    }
    if (!query.queue.empty()) {
        all.append(term("queue", Json::string(query.queue)));
    }
    Json constraint = Json::object();
    constraint.set("and", std::move(all));
    Json payload = Json::object();
    payload.set("max_entries", static_cast<long long>(query.limit))
        .set("attrs", wanted_attributes(query.wants_annotations));
    payload.set("since", 0.0).set("constraint", std::move(constraint));
    return client.stream("job-list.list", payload, [&](json_t* answer) {
        for (json_t* entry : items_at(answer, "jobs")) {
            take(job_of(entry));
        }
        return true;
    });
}

Json job_question() {
    Json attributes = wanted_attributes(false);
    attributes.append(Json::string("dependencies"));
    Json payload = Json::object();
    payload.set("attrs", std::move(attributes));
    return payload;
}

Job job_from(const Json& answer) {
    Job job = job_of(json_object_get(answer.get(), "job"));
    job.annotations = nullptr;
    return job;
}

Result<Job> find_job(Client& client, std::uint64_t id) {
    Json payload = job_question();
    payload.set("id", id);
    auto answer = client.call("job-list.list-id", payload);
    if (!answer && answer.error().code == std::errc::no_such_file_or_directory) {
        payload.set("id", id_here(client, id));
        answer = client.call("job-list.list-id", payload);
    }
    if (!answer) {
        const bool unknown = answer.error().code == std::errc::no_such_file_or_directory;
        return unknown ? Error{answer.error().code,
                               "no job " + job_name(id) + " at " + client.uri() + ". See: weir jobs -a"}
                       : answer.error();
    }
    return job_from(*answer);
}

std::string state_text(const Job& job) {
    switch (job.state) {
        case FLUX_JOB_STATE_DEPEND:
            return "DEPEND";
        case FLUX_JOB_STATE_PRIORITY:
            return "PRIORITY";
        case FLUX_JOB_STATE_SCHED:
            return "SCHED";
        case FLUX_JOB_STATE_RUN:
            return "RUN";
        case FLUX_JOB_STATE_CLEANUP:
            return "CLEANUP";
        case FLUX_JOB_STATE_INACTIVE:
            break;
        default:
            return "NEW";
    }
    switch (job.result) {
        case FLUX_JOB_RESULT_COMPLETED:
            return "completed";
        case FLUX_JOB_RESULT_CANCELED:
            return "canceled";
        case FLUX_JOB_RESULT_TIMEOUT:
            return "timeout";
        default:
            return "failed";
    }
}

std::optional<int> exit_code_of(const Job& job) {
    const auto status = static_cast<int>(job.waitstatus);
    return job.state == FLUX_JOB_STATE_INACTIVE && job.waitstatus >= 0 && !ending_signal(status)
               ? std::optional(WEXITSTATUS(status))
               : std::nullopt;
}

std::optional<int> signal_of(const Job& job) {
    const auto status = static_cast<int>(job.waitstatus);
    return job.state == FLUX_JOB_STATE_INACTIVE && job.waitstatus >= 0 ? ending_signal(status) : std::nullopt;
}

std::string ending_reason(const Job& job) {
    if (!job.note.empty()) {
        return printable(job.note);
    }
    if (const auto signal = signal_of(job)) {
        return "signal " + std::to_string(*signal);
    }
    const auto code = exit_code_of(job);
    return code.value_or(0) != 0 ? "exit code " + std::to_string(*code) : "";
}

std::string ending_text(const Job& job) {
    const std::string verb = job.result == FLUX_JOB_RESULT_CANCELED  ? "was canceled"
                             : job.result == FLUX_JOB_RESULT_TIMEOUT ? "reached its time limit"
                                                                     : state_text(job);
    const std::string why = ending_reason(job);
    return verb + " at " + local_time(job.cleanup > 0 ? job.cleanup : job.inactive) + (why.empty() ? "" : ": " + why);
}

namespace {

bool has_active_job(Client& client, const std::string& queue) {
    JobQuery query;
    query.queue = queue;
    query.limit = 1;
    bool is_found = false;
    return list_jobs(client, query, [&is_found](const Job&) { is_found = true; }) && is_found;
}

}  // namespace

Status check_queue(Client& client, const std::string& name) {
    const auto answer = client.call("job-manager.queue-list", Json::object());
    if (!answer) {
        return Done{};  // nobody says which queues there are
    }
    std::string known;
    for (const json_t* queue : items_at(answer->get(), "queues")) {
        const std::string one = json_is_string(queue) ? json_string_value(queue) : "";
        if (one == name) {
            return Done{};
        }
        known += (known.empty() ? "" : ", ") + one;
    }
    if (has_active_job(client, name)) {
        return Done{};
    }
    return Error{std::errc::no_such_file_or_directory,
                 "there is no queue \"" + name + "\"; " +
                     (known.empty() ? "this instance has no named queues." : "there are: " + known + ".")};
}

}  // namespace weir::cmd
