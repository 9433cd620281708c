// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the common end of most commands: open the instance, print text or JSON, map an error.
#pragma once
#include <string>
#include <utility>

#include "cmd/cli/command.hpp"
#include "cmd/common/client.hpp"
#include "cmd/common/jobs.hpp"

namespace weir::cmd {

/// The JSON of a command: `schema` first, then the members of `answer`, indented.
inline std::string json_text(const std::string& schema, const Json& answer) {
    Json out = Json::object();
    out.set("schema", schema);
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(answer.get(), key, value) {
        out.set(key, Json::ref(value));
    }
    return out.dump(JSON_INDENT(2)) + "\n";
}

/// Opens the instance, runs `body(client)`, prints its error.
template <typename Body>
Exit with_instance(Context& context, Body&& body) {
    auto client = Client::open(context.uri);
    if (!client) {
        return context.fail(client.error());
    }
    return std::forward<Body>(body)(*client);
}

/// The same with the job that the first word names: runs `body(client, job)`.
template <typename Body>
Exit with_job(Context& context, Body&& body) {
    const auto id = parse_job(context.args.words.front());
    if (!id) {
        return context.fail(Exit::usage, id.error().message);
    }
    return with_instance(context, [&](Client& client) {
        const auto job = find_job(client, *id);
        return job ? std::forward<Body>(body)(client, *job) : context.fail(job.error());
    });
}

/// Sends one request; prints the JSON answer, or the text that `show` makes of it.
template <typename Show>
Exit ask_and_show(Context& context, const std::string& topic, const Json& payload, const std::string& schema,
                  Show&& show) {
    return with_instance(context, [&](Client& client) {
        auto answer = client.call(topic, payload);
        if (!answer) {
            return context.fail(answer.error());
        }
        context.print(context.json ? json_text(schema, *answer) : std::forward<Show>(show)(*answer));
        return Exit::ok;
    });
}

}  // namespace weir::cmd
