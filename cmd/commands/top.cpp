// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir top`: the live picture of an instance.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/top/top_session.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t rows_live = 200;
constexpr std::int64_t rows_max = 2000;
constexpr std::array<const char*, 6> row_orders{"tree", "name", "used", "ratio", "running", "waiting"};

Json share_json(const ShareLine& share) {
    Json json = Json::object();
    json.set("path", share.path).set("entitled", share.entitled).set("used", share.used);
    json.set("running_cores", share.running_cores).set("pending_jobs", share.pending_jobs);
    return std::move(json.set("is_shut", share.is_shut));
}

Json partition_json(const PartitionLine& partition) {
    Json json = Json::object();
    json.set("name", partition.name).set("scheduler", partition.policy).set("problem", partition.problem);
    json.set("cores", partition.cores).set("cores_busy", partition.cores_busy.value_or(0));
    json.set("pending", partition.pending);
    return std::move(json.set("running", partition.running).set("inactive", partition.finished));
}

Json job_json(const QueueLine& job) {
    Json json = Json::object(), terms = Json::object();
    for (const auto& [name, contribution] : job.terms) {
        terms.set(name.c_str(), contribution);
    }
    json.set("id", job.job).set("user", job.user).set("account", job.account).set("queue", job.queue);
    json.set("cores", job.cores).set("priority", job.priority).set("waited_s", to_seconds(job.waited));
    return std::move(json.set("terms", std::move(terms)));
}

Json scene_json(const LiveAnswer& answer) {
    Json shares = Json::array(), partitions = Json::array(), queue = Json::array(), jobs = Json::object();
    for (const ShareLine& share : answer.scene.shares) {
        shares.append(share_json(share));
    }
    for (const PartitionLine& partition : answer.scene.partitions) {
        partitions.append(partition_json(partition));
    }
    for (const QueueLine& job : answer.scene.queue) {
        queue.append(job_json(job));
    }
    jobs.set("pending", answer.jobs.pending).set("running", answer.jobs.running);
    jobs.set("inactive", answer.jobs.inactive).set("started", answer.started);
    Json json = Json::object();
    json.set("now", answer.now).set("revision", answer.revision).set("nodes", answer.nodes);
    json.set("left_out", answer.left_out).set("jobs", std::move(jobs)).set("shares", std::move(shares));
    json.set("partitions", std::move(partitions)).set("queue", std::move(queue));
    return std::move(json.set("queue_matches", answer.queue_matches));
}

Exit run_top(Context& context) {
    SceneQuery query;
    query.share_rows = query.queue_rows = context.args.integer("rows", rows_live);
    query.order = context.args.text("order", "tree");
    query.match = context.args.text("match");
    if (std::find(row_orders.begin(), row_orders.end(), query.order) == row_orders.end()) {
        return context.fail(
            Exit::usage, "--order is one of tree, name, used, ratio, running and waiting, not '" + query.order + "'.");
    }
    return with_instance(context, [&](Client& client) {
        TopSession session(std::move(client), query);
        const auto first = session.look();
        if (!first) {
            return context.fail(first.error());
        }
        const bool is_once = context.json || context.args.has("once");
        if (!is_once && context.out.escapes) {
            session.run(*first);
            return Exit::ok;
        }
        if (!is_once && stream_facts(STDOUT_FILENO).is_terminal) {
            context.note(
                "weir: TERM says that this terminal cannot move its cursor, so here is one picture and no more. "
                "If it can, set TERM (TERM=xterm weir top).");
        }
        context.print(context.json ? json_text("weir.top/1", scene_json(*first))
                                   : session.picture(*first, context.out));
        return Exit::ok;
    });
}

}  // namespace

Command top_command() {
    Command command;
    command.name = "top";
    command.summary = "watch shares, partitions and the queue; keys sort, filter, open and explain";
    command.examples = {"weir top  # a picture each second; h lists the keys, q ends",
                        "weir top --once --order ratio  # one picture, who is furthest above his share first",
                        "weir top --match physics  # only names that contain a text"};
    command.options = {{"once", 0, "", "print one picture; so does output that is no terminal", Kind::flag},
                       {"order", 0, "KEY", "order of siblings: tree (default), name, used, ratio, running, waiting"},
                       {"match", 0, "TEXT", "show only accounts and users whose names contain it"},
                       {"rows", 0, "N", "rows of shares and of the queue that are asked for (default 200)",
                        Kind::integer, 1, rows_max}};
    command.run = run_top;
    return command;
}

}  // namespace weir::cmd
