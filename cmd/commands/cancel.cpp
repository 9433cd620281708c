// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir cancel`: a fatal exception of type "cancel" (RFC 21) on jobs, or on all of a user's.
#include <unistd.h>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"

namespace weir::cmd {
namespace {

Exit cancel_all(Context& context, Client& client) {
    std::uint32_t userid = getuid();
    if (context.args.has("user")) {
        auto named = Users::of(client).id(context.args.text("user"));
        if (!named) {
            return context.fail(named.error());
        }
        userid = *named;
    }
    Json payload = Json::object();
    payload.set("dry_run", false).set("userid", userid).set("severity", 0).set("type", "cancel");
    payload.set("states", static_cast<int>(FLUX_JOB_STATE_ACTIVE));
    if (context.args.has("message")) {
        payload.set("note", context.args.text("message"));
    }
    auto answer = client.call("job-manager.raiseall", payload);
    if (!answer) {
        return context.fail(answer.error());
    }
    const std::int64_t count = integer_at(answer->get(), "count");
    if (context.json) {
        context.print(json_text("weir.cancel/1", *answer));
    } else {
        context.note(count == 1 ? "Canceled 1 job." : "Canceled " + std::to_string(count) + " jobs.");
    }
    return Exit::ok;
}

Exit cancel_each(Context& context, Client& client, const std::vector<std::uint64_t>& ids) {
    Exit worst = Exit::ok;
    Json done = Json::array();
    for (const std::uint64_t id : ids) {
        Json payload = Json::object();
        payload.set("id", id).set("type", "cancel").set("severity", 0);
        if (context.args.has("message")) {
            payload.set("note", context.args.text("message"));
        }
        if (auto answer = client.call("job-manager.raise", payload)) {
            done.append(Json::string(job_name(id)));
        } else {
            worst = context.fail(explained(answer.error(), id, client,
                                           "it belongs to another user; you can cancel your own jobs only."));
        }
    }
    if (context.json) {
        Json answer = Json::object();
        answer.set("count", json_array_size(done.get())).set("jobs", std::move(done));
        context.print(json_text("weir.cancel/1", answer));
    }
    return worst;
}

Exit run(Context& context) {
    const Args& args = context.args;
    if (args.has("all") == !args.words.empty()) {
        return context.fail(Exit::usage, "name the jobs, or say --all.\nUsage: weir cancel [OPTIONS] JOB... | --all");
    }
    std::vector<std::uint64_t> ids;
    for (const std::string& word : args.words) {
        auto id = parse_job(word);
        if (!id) {
            return context.fail(Exit::usage, id.error().message);
        }
        ids.push_back(*id);
    }
    return with_instance(context, [&](Client& client) {
        return args.has("all") ? cancel_all(context, client) : cancel_each(context, client, ids);
    });
}

}  // namespace

Command cancel_command() {
    Command command;
    command.name = "cancel";
    command.summary = "end jobs";
    command.examples = {"weir cancel ƒ7J4Ab  # one job, waiting or running",
                        "weir cancel -m \"wrong input\" ƒ7J4Ab ƒ7J4Ac  # two, with a reason that stays with them",
                        "weir cancel --all  # all of your own"};
    command.words = {"JOB...", 0, SIZE_MAX};
    command.options = {{"message", 'm', "TEXT", "reason, kept with the job"},
                       {"all", 0, "", "every waiting and running job of yours", Kind::flag},
                       {"user", 'u', "NAME", "with --all: of another user (the instance's owner alone)"}};
    command.run = run;
    return command;
}

}  // namespace weir::cmd
