// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir tree`: the instance and its children, nested as they run.
#include <algorithm>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/view/instance_tree.hpp"

namespace weir::cmd {
namespace {

Json json_of(const Instance& instance) {
    Json modules = Json::array(), serves = Json::array(), children = Json::array();
    for (const std::string& name : instance.modules) {
        modules.append(Json::string(name));
    }
    for (const std::string& queue : instance.serves) {
        serves.append(Json::string(queue));
    }
    for (const Instance& child : instance.children) {
        children.append(json_of(child));
    }
    Json jobs = Json::object();
    jobs.set("pending", instance.jobs.pending).set("running", instance.jobs.running);
    jobs.set("inactive", instance.jobs.inactive).set("failed", instance.jobs.failed);
    jobs.set("canceled", instance.jobs.canceled);
    Json json = Json::object();
    json.set("uri", instance.uri).set("level", instance.level).set("version", instance.version);
    if (instance.jobid != 0) {
        json.set("jobid", instance.jobid).set("job", job_name(instance.jobid));
    }
    if (!instance.policy.settings.empty()) {
        Json policy = Json::object();
        policy.set("tree", instance.policy.tree).set("settings", instance.policy.settings);
        policy.set("from", instance.policy.from).set("refused", instance.policy.refused);
        json.set("policy", std::move(policy));
    }
    if (instance.lost_since > 0) {
        json.set("lost_since", instance.lost_since);
    }
    if (instance.is_drained) {
        json.set("drained", true);
    }
    if (!instance.problem.empty()) {
        json.set("problem", instance.problem);
    }
    if (instance.down) {
        Json down = Json::object();
        down.set("since", instance.down->since).set("deaths", instance.down->deaths).set("why", instance.down->why);
        down.set("next", instance.down->next).set("log", instance.down->log);
        json.set("down", std::move(down));
    }
    json.set("serves", std::move(serves)).set("modules", std::move(modules)).set("jobs", std::move(jobs));
    json.set("cores", instance.cores).set("cores_busy", instance.cores_busy.value_or(0));
    return std::move(json.set("children", std::move(children)));
}

bool has_module(const Instance& instance, const std::string& name) {
    return std::find(instance.modules.begin(), instance.modules.end(), name) != instance.modules.end();
}

/// Of instances that refuse this user and are shown all the same.
bool has_told(const Instance& instance) {
    return instance.is_told || std::any_of(instance.children.begin(), instance.children.end(), has_told);
}

Exit run_tree(Context& context) {
    return with_instance(context, [&](Client& client) {
        const Instance instance = instance_tree(client);
        if (has_told(instance)) {
            context.note(
                "Of a partition that belongs to another user you see the jobs of this instance that wait and run in "
                "it, "
                "as in weir partition list. Its cores in use, its own jobs, those that have ended and the instances in "
                "it are kept from you.");
        }
        if (!instance.modules.empty() && !has_module(instance, "job-route")) {
            context.note(
                "The module job-route is not loaded in this instance: children that it may have are not shown.");
        }
        context.print(context.json ? json_text("weir.tree/1", json_of(instance))
                                   : instance_tree_text(instance, context.out));
        return Exit::ok;
    });
}

}  // namespace

Command tree_command() {
    Command command;
    command.name = "tree";
    command.summary = "show the instance and the child instances in it";
    command.examples = {"weir tree  # queues, cores and jobs of every level",
                        "weir tree --json  # the same as JSON for a program",
                        "weir --uri local:///run/weir/local-0 tree  # for another instance"};
    command.run = run_tree;
    return command;
}

}  // namespace weir::cmd
