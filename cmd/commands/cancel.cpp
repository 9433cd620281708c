// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir cancel`: a fatal exception of type "cancel" (RFC 21) on jobs, or on all of a user's. A partition runs
// other users' jobs: it is left out unless it is named or --partitions is given. In a partition a copy is the job of
// the user who submitted it to the parent.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"

namespace weir::cmd {
namespace {

using Ids = std::vector<std::uint64_t>;

Status cancel(const Context& context, Client& client, std::uint64_t id) {
    auto origin = origin_of(client, id);
    if (!origin) {
        return origin.error();
    }
    Json payload = Json::object();
    payload.set("id", origin->id).set("type", "cancel").set("severity", 0);
    if (context.args.has("message")) {
        payload.set("note", context.args.text("message"));
    }
    const auto answer = (origin->instance ? *origin->instance : client).call("job-manager.raise", payload);
    return answer ? Status(Done{}) : Status(answer.error());
}

std::string listed_jobs(const Ids& ids, bool unicode) {
    std::vector<std::string> names;
    for (const std::uint64_t id : ids) {
        names.push_back(job_name(id, unicode));
    }
    return listed(names);
}

Json names_of(const Ids& ids) {
    Json names = Json::array();
    for (const std::uint64_t id : ids) {
        names.append(Json::string(job_name(id)));
    }
    return names;
}

Exit report(const Context& context, const Ids& done, const Ids& left_out) {
    if (context.json) {
        Json answer = Json::object();
        answer.set("count", static_cast<long long>(done.size())).set("jobs", names_of(done));
        context.print(json_text("weir.cancel/1", answer.set("left_out", names_of(left_out))));
        return Exit::ok;
    }
    context.note(done.size() == 1 ? "Canceled 1 job." : "Canceled " + std::to_string(done.size()) + " jobs.");
    if (!left_out.empty()) {
        context.note("Left out: " + listed_jobs(left_out, context.err.glyphs.unicode) +
                     (left_out.size() == 1 ? ", a partition that serves" : ", partitions that serve") +
                     " everybody. To cancel them with all their jobs:  weir cancel --partitions --all");
    }
    return Exit::ok;
}

/// The partitions that this command may not cancel. Errors: it is not known which jobs these are.
Result<std::set<std::uint64_t>> partitions_to_spare(const Context& context, Client& client) {
    if (context.args.has("partitions")) {
        return std::set<std::uint64_t>();
    }
    auto jobs = partition_jobs(client);
    return jobs ? std::move(jobs)
                : Error{jobs.error().code, "nothing was canceled, since it is not known which jobs are partitions: " +
                                               jobs.error().message};
}

/// Only the instance's owner, as whom copies are submitted, may cancel them in a partition.
Result<Ids> jobs_to_cancel(Client& client, const JobQuery& query) {
    Ids ids;
    const auto take = [&ids](const Job& job) { ids.push_back(job.id); };
    if (client.attribute("security.owner") != std::to_string(getuid())) {
        const auto done = list_jobs(client, query, take);
        return done ? Result<Ids>(std::move(ids)) : done.error();
    }
    const auto jobs = list_users_jobs(client, query);
    if (!jobs) {
        return jobs.error();
    }
    std::for_each(jobs->begin(), jobs->end(), take);
    return ids;
}

/// One by one: a request for all jobs would cancel the partitions too.
Exit cancel_all(Context& context, Client& client) {
    JobQuery query;
    query.limit = 0;  // all of them
    query.userid = getuid();
    if (context.args.has("user")) {
        const auto named = Users::of(client).id(context.args.text("user"));
        if (!named) {
            return context.fail(named.error());
        }
        query.userid = *named;
    }
    const auto partitions = partitions_to_spare(context, client);
    if (!partitions) {
        return context.fail(partitions.error());
    }
    Ids chosen, left_out, done;
    const auto jobs = jobs_to_cancel(client, query);
    if (!jobs) {
        return context.fail(jobs.error());
    }
    for (const std::uint64_t id : *jobs) {
        if (partitions->count(id) > 0) {
            left_out.push_back(id);
        } else {
            chosen.push_back(id);
        }
    }
    for (const std::uint64_t id : chosen) {
        if (const Status canceled = cancel(context, client, id)) {
            done.push_back(id);
        } else if (canceled.error().code != std::errc::no_such_file_or_directory) {  // not one that has ended since
            return context.fail(canceled.error());
        }
    }
    return report(context, done, left_out);
}

Exit cancel_each(Context& context, Client& client, const Ids& ids) {
    const auto partitions = partitions_to_spare(context, client);
    if (!partitions) {
        return context.fail(partitions.error());
    }
    Exit worst = Exit::ok;
    Ids done, left_out;
    for (const std::uint64_t id : ids) {
        if (partitions->count(id) > 0) {
            left_out.push_back(id);
            worst = context.fail(Exit::failed, job_name(id) +
                                                   " is a partition: all jobs in it end with it. To cancel it:  "
                                                   "weir cancel --partitions " +
                                                   job_name(id));
        } else if (const Status canceled = cancel(context, client, id)) {
            done.push_back(id);
        } else {
            worst = context.fail(explained(canceled.error(), id, client,
                                           "it belongs to another user; you can cancel your own jobs only."));
        }
    }
    if (context.json) {
        (void)report(context, done, left_out);
    } else if (worst != Exit::ok && !done.empty()) {
        context.note("Canceled " + listed_jobs(done, context.err.glyphs.unicode) + ".");
    }
    return worst;
}

Exit run_cancel(Context& context) {
    const Args& args = context.args;
    if (args.has("all") == !args.words.empty()) {
        return context.fail(Exit::usage, "name the jobs, or use --all.\nUsage: weir cancel [OPTIONS] JOB... | --all");
    }
    Ids ids;
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
    command.examples = {
        "weir cancel ƒ7J4Ab  # one job, pending or running",
        "weir cancel -m \"wrong input\" ƒ7J4Ab ƒ7J4Ac  # two jobs, with a reason that is kept with them",
        "weir cancel --all  # all of your jobs, but no partitions"};
    command.words = {"JOB...", 0, SIZE_MAX};
    command.options = {{"message", 'm', "TEXT", "reason; it is kept with the job"},
                       {"all", 0, "", "all your pending and running jobs", Kind::flag},
                       {"user", 'u', "NAME", "with --all: jobs of another user (only the instance's owner)"},
                       {"partitions", 0, "", "also partitions, with all users' jobs in them", Kind::flag}};
    command.run = run_cancel;
    return command;
}

}  // namespace weir::cmd
