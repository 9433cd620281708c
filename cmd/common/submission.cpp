// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the envelope of a submission and the reading of an eventlog's end.
#include "cmd/common/submission.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "cmd/common/attributes.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "libfairshare/base/signed_jobspec.hpp"
#include "libfairshare/base/wait_status.hpp"

namespace weir::cmd {
namespace {

void take_event(const json_t* event, Ending& ending) {
    const std::string name = text_at(event, "name");
    const json_t* context = json_object_get(event, "context");
    if (name == "finish") {
        ending.status = static_cast<int>(integer_at(context, "status"));
        if (ending.status != 0 && ending.note.empty()) {
            const auto signal = ending_signal(ending.status);
            ending.note = signal ? "ended by signal " + std::to_string(*signal)
                                 : "exit code " + std::to_string(WEXITSTATUS(ending.status));
        }
    } else if (name == "exception" && integer_at(context, "severity") == 0) {
        const std::string note = text_at(context, "note");
        ending.has_fatal_exception = true;
        ending.note = text_at(context, "type") + (note.empty() ? "" : ": " + note);
    }
}

Result<std::string> jobspec_text(const Submission& submission) {
    const Json document = encode_jobspec(submission.jobspec);
    if (submission.tasks_total > 0) {
        json_t* task = json_array_get(json_object_get(document.get(), "tasks"), 0);
        Json count = Json::object();
        count.set("total", submission.tasks_total);
        json_object_set_new(task, "count", count.release());
    }
    for (const std::string& word : submission.attributes) {
        if (const Status done = set_attribute(document.get(), word); !done) {
            return done.error();
        }
    }
    return document.dump();
}

Result<Json> request_of(const Submission& submission) {
    const auto jobspec = jobspec_text(submission);
    if (!jobspec) {
        return jobspec.error();
    }
    Json payload = Json::object();
    payload.set("J", sign_none(*jobspec, submission.userid.value_or(getuid())));
    payload.set("urgency", submission.urgency).set("flags", 0);
    return payload;
}

}  // namespace

Result<std::uint64_t> submit(Client& client, const Submission& submission) {
    return submit_all(client, {submission}).front();
}

std::vector<Result<std::uint64_t>> submit_all(Client& client, const std::vector<Submission>& submissions) {
    std::vector<Result<std::uint64_t>> results;
    std::vector<std::pair<std::uint32_t, Json>> requests;
    std::vector<std::size_t> asked;  // their places in the results
    for (const Submission& submission : submissions) {
        auto payload = request_of(submission);
        results.emplace_back(payload ? Result<std::uint64_t>(0) : Result<std::uint64_t>(payload.error()));
        if (payload) {
            asked.push_back(results.size() - 1);
            requests.emplace_back(submission.userid.value_or(FLUX_USERID_UNKNOWN), std::move(*payload));
        }
    }
    const auto answers = client.call_each_as("job-ingest.submit", requests);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto& answer = answers[i];
        results[asked[i]] = answer ? Result<std::uint64_t>(static_cast<std::uint64_t>(integer_at(answer->get(), "id")))
                                   : Result<std::uint64_t>(answer.error());
    }
    return results;
}

Result<Ending> wait_for_end(Client& client, std::uint64_t id) {
    Ending ending;
    ending.status = -1;
    Json payload = Json::object();
    payload.set("id", static_cast<unsigned long long>(id)).set("path", "eventlog").set("flags", 0);
    const auto done = client.stream(
        "job-info.eventlog-watch", payload,
        [&](json_t* answer) {
            const std::string lines = text_at(answer, "event");
            for (std::size_t begin = 0; begin < lines.size();) {
                const std::size_t end = std::min(lines.find('\n', begin), lines.size());
                if (auto event = Json::parse(std::string_view(lines).substr(begin, end - begin))) {
                    take_event(event->get(), ending);
                }
                begin = end + 1;
            }
            return true;
        },
        -1);
    if (!done) {
        const bool unknown = done.error().code == std::errc::no_such_file_or_directory;
        return unknown
                   ? Error{done.error().code, "no job " + job_name(id) + " at " + client.uri() + ". See: weir jobs -a"}
                   : done.error();
    }
    return ending;
}

}  // namespace weir::cmd
