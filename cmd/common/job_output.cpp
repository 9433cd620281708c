// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the way from a job at the parent to the child that ran it.
#include "cmd/common/job_output.hpp"

#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"

namespace weir::cmd {
namespace {

Result<JobOutput> local_output(Client& client, std::uint64_t id, std::int64_t offset) {
    JobOutput output;
    while (true) {
        Json payload = Json::object();
        payload.set("id", id).set("offset", offset);
        auto answer = client.call("job-exec.output", payload);
        if (!answer) {
            return answer.error();
        }
        const std::string part = text_at(answer->get(), "data");
        output.data += part;
        output.path = text_at(answer->get(), "path");
        output.is_complete = json_is_true(json_object_get(answer->get(), "eof"));
        offset = integer_at(answer->get(), "next", offset + static_cast<std::int64_t>(part.size()));
        if (part.empty() || output.is_complete) {
            return output;
        }
    }
}

}  // namespace

Result<JobOutput> job_output(Client& client, std::uint64_t id, std::int64_t offset) {
    const auto here_or_below = [&]() -> Result<JobOutput> {
        const auto routed = find_routed(client, id);
        if (!routed) {
            return local_output(client, id, offset);
        }
        auto child = Client::open(routed->uri, child_answer_s);
        return child ? local_output(*child, routed->local_id, offset) : child.error();
    };
    auto output = here_or_below();
    if (!output && output.error().code == std::errc::no_such_file_or_directory) {
        return Error{output.error().code,
                     "no output is stored of " + job_name(id) +
                         ": it has not started, was simulated, or ran in a partition that is gone."};
    }
    return output;
}

}  // namespace weir::cmd
