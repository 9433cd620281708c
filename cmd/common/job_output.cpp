// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the way from a job at the parent to the child that ran it.
#include "cmd/common/job_output.hpp"

#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"

namespace weir::cmd {
namespace {

/// One part. job-route knows which instance has it, and of a job that runs elsewhere that there may be more.
Result<Json> part(Client& client, std::uint64_t id, const Json& question) {
    auto told = ask_about(client, id, "job-exec.output", question);
    if (told && !told->error) {
        return std::move(told->answer);
    }
    const Error error = told ? *told->error : told.error();
    if (error.code != std::errc::function_not_supported) {
        return error;
    }
    Json payload = question.deep_copy();
    payload.set("id", id);
    return client.call("job-exec.output", payload);
}

Result<JobOutput> stream_output(Client& client, std::uint64_t id, const char* stream) {
    JobOutput output;
    std::int64_t offset = 0;
    while (true) {
        Json question = Json::object();
        question.set("offset", offset).set("stream", stream);
        const auto answer = part(client, id, question);
        if (!answer) {
            return answer.error();
        }
        output.data += text_at(answer->get(), "data");
        output.path = text_at(answer->get(), "path");
        output.is_complete = json_is_true(json_object_get(answer->get(), "eof"));
        const std::int64_t next = integer_at(answer->get(), "offset", offset);
        if (next == offset || output.is_complete) {
            return output;
        }
        offset = next;
    }
}

/// What others say of the job does not name it, or not as it is named to people.
Error named(const Error& error, std::uint64_t id) {
    return {error.code, job_name(id) + ": " + error.message};
}

/// Of a job of this instance, which is a stock Flux.
Result<JobOutput> logged_output(Client& client, std::uint64_t id) {
    Json keys = Json::array(), question = Json::object();
    question.set("id", id).set("keys", std::move(keys.append("guest.output"))).set("flags", 0);
    const auto answer = client.call("job-info.lookup", question);
    if (!answer && answer.error().code == std::errc::no_such_file_or_directory) {
        return Error{answer.error().code,
                     "no output is stored of " + job_name(id) +
                         ": it has not started, was simulated, or ran in a partition, whose output a stock Flux keeps "
                         "only in the file of --output."};
    }
    if (!answer) {
        return named(answer.error(), id);
    }
    JobOutput output = read_output_log(text_at(answer->get(), "guest.output"));
    if (output.data.empty() && !output.path.empty()) {
        return Error{std::errc::no_such_file_or_directory,
                     "the output of " + job_name(id) + " is in the file " + output.path + "."};
    }
    return output;
}

}  // namespace

Result<JobOutput> job_output(Client& client, std::uint64_t id) {
    auto output = stream_output(client, id, "stdout");
    if (!output && output.error().code == std::errc::function_not_supported) {
        return logged_output(client, id);
    }
    if (!output && output.error().code == std::errc::no_such_file_or_directory) {
        return Error{output.error().code,
                     "no output is stored of " + job_name(id) +
                         ": it has not started, was simulated, or ran in a partition that is gone."};
    }
    if (!output) {
        return named(output.error(), id);
    }
    const auto errors = stream_output(client, id, "stderr");
    if (errors && errors->path != output->path) {
        output->data += errors->data;
    }
    return output;
}

}  // namespace weir::cmd
