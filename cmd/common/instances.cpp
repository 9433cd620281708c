// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the questions behind instances.hpp.
#include "cmd/common/instances.hpp"

#include <algorithm>

#include "cmd/common/instance_clock.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"
#include "libfairshare/base/json/r.hpp"

namespace weir::cmd {
namespace {

constexpr int depth_max = 16;
constexpr const char* partition_prefix = "weir.partition.";

void ask_instance(Client& client, Instance& instance, int depth) {
    instance.uri = client.uri();
    instance.version = client.attribute("version").value_or("");
    instance.level =
        static_cast<int>(parse_integer(client.attribute("instance-level").value_or("0"), 0, 1000).value_or(0));
    if (auto answer = client.call("module.list")) {
        for (const json_t* module : items_at(answer->get(), "mods")) {
            instance.modules.push_back(text_at(module, "name"));
        }
    }
    if (auto answer = client.call("resource.sched-status")) {
        instance.cores = cores_of_r(json_object_get(answer->get(), "all"));
        instance.cores_busy = cores_of_r(json_object_get(answer->get(), "allocated"));
    }
    instance.jobs = job_counts(client);
    std::vector<PolicyState> policies;
    if (auto answer = client.call("job-priority.weights")) {
        instance.policy = policy_state(json_object_get(answer->get(), "in_force"));
        policies = policies_below(json_object_get(answer->get(), "in_force"));
    }
    if (depth >= depth_max) {
        return;
    }
    std::vector<PartitionState> states = partition_states(client);
    std::erase_if(states, [](const PartitionState& state) { return !state.is_down; });
    for (const ChildEntry& entry : children_of(client)) {
        const auto is_it = [&](const PartitionState& state) { return entry.serves == std::vector{state.name}; };
        if (entry.state != "attached" && std::any_of(states.begin(), states.end(), is_it)) {
            continue;  // told below
        }
        Instance child;
        child.uri = entry.uri;
        if (auto below = Client::open(entry.uri, child_answer_s)) {
            ask_instance(*below, child, depth + 1);
        } else {
            child.problem = below.error().message.substr(0, below.error().message.find('\n'));
        }
        for (const PolicyState& told : policies) {  // of an instance that we may not ask
            child.policy = told.jobid == entry.jobid && child.policy.settings.empty() ? told : child.policy;
        }
        child.jobid = entry.jobid;
        child.lost_since = entry.lost_since;
        child.serves = entry.serves;
        instance.children.push_back(std::move(child));
    }
    for (const PartitionState& state : states) {
        Instance child;
        child.serves = {state.name};
        child.problem = down_text(state, real_now());
        child.down = state;
        instance.children.push_back(std::move(child));
    }
}

}  // namespace

std::int64_t cores_of_r(json_t* document) {
    if (!json_is_object(document)) {
        return 0;
    }
    const auto r = decode_r(document);
    return r ? static_cast<std::int64_t>(core_count(r->resources)) : 0;
}

PolicyState policy_state(const json_t* in_force) {
    return {text_at(in_force, "settings"), integer_at(in_force, "tree"), text_at(in_force, "from"),
            text_at(in_force, "refused"), static_cast<std::uint64_t>(integer_at(in_force, "jobid"))};
}

std::vector<PolicyState> policies_below(const json_t* in_force) {
    std::vector<PolicyState> policies;
    for (const json_t* child : items_at(in_force, "children")) {
        policies.push_back(policy_state(child));
    }
    return policies;
}

std::string policy_text(const PolicyState& policy, bool is_child) {
    if (policy.settings.empty()) {
        return "";
    }
    const bool is_own = is_child && policy.from == "own";
    return printable(std::to_string(policy.tree) + "/" + policy.settings) + (!policy.refused.empty() ? " refused"
                                                                             : is_own                ? " own"
                                                                                                     : "");
}

JobCounts job_counts(Client& client) {
    JobCounts counts;
    if (auto answer = client.call("job-list.job-stats", Json::object())) {
        const json_t* states = json_object_get(answer->get(), "job_states");
        counts.pending = integer_at(states, "depend") + integer_at(states, "priority") + integer_at(states, "sched");
        counts.running = integer_at(states, "run") + integer_at(states, "cleanup");
        counts.inactive = integer_at(states, "inactive");
        counts.failed = integer_at(answer->get(), "failed");
    }
    return counts;
}

std::vector<PartitionState> partition_states(Client& client) {
    std::vector<PartitionState> states;
    const std::string prefix = partition_prefix;
    const auto answer = client.call("attr.list", Json::object());
    for (const json_t* name : items_at(answer ? answer->get() : nullptr, "names")) {
        const std::string text = json_is_string(name) ? json_string_value(name) : "";
        const auto value = text.compare(0, prefix.size(), prefix) == 0 ? client.attribute(text) : std::nullopt;
        const auto json = value ? Json::parse(*value) : Result<Json>(Error{});
        if (json) {
            const json_t* j = json->get();
            states.push_back({text.substr(prefix.size()), text_at(j, "state") == "down", number_at(j, "since"),
                              static_cast<int>(integer_at(j, "deaths")), text_at(j, "why"), number_at(j, "next"),
                              static_cast<std::uint64_t>(integer_at(j, "job")), text_at(j, "log")});
        }
    }
    return states;
}

Status publish(Client& client, const PartitionState& state) {
    Json value = Json::object();
    value.set("state", state.is_down ? "down" : "up").set("since", state.since).set("deaths", state.deaths);
    value.set("why", state.why).set("next", state.next).set("log", state.log);
    value.set("job", state.job);
    Json payload = Json::object();
    payload.set("name", partition_prefix + state.name).set("value", value.dump());
    const auto done = client.call("attr.set", payload, 5);
    return done ? Status(Done{}) : Status(done.error());
}

std::string down_text(const PartitionState& state, double now) {
    const std::string deaths =
        state.deaths == 1 ? std::string("1 death") : std::to_string(state.deaths) + " deaths in a row, the last";
    const std::string next = state.job != 0 ? "it is starting as " + job_name(state.job)
                             : state.next >= now
                                 ? "next try in " + duration_text(duration_from_seconds(state.next - now))
                             : now - state.next < 10. ? std::string("it starts again now")
                                                      : "the next start is overdue: is `weir start` still running?";
    return "down since " + local_time(state.since) + ", " + deaths + ": " + printable(state.why) + "; " + next;
}

std::vector<ChildEntry> children_of(Client& client) {
    std::vector<ChildEntry> children;
    if (auto answer = client.call("job-route.tree", Json::object())) {
        for (const json_t* child : items_at(answer->get(), "children")) {
            ChildEntry entry;
            entry.jobid = static_cast<std::uint64_t>(integer_at(child, "jobid"));
            entry.uri = text_at(child, "uri");
            entry.state = text_at(child, "state");
            entry.lost_since = number_at(child, "lost_since");
            for (const json_t* queue : items_at(child, "serves")) {
                entry.serves.emplace_back(json_is_string(queue) ? json_string_value(queue) : "");
            }
            children.push_back(std::move(entry));
        }
    }
    return children;
}

std::map<std::uint64_t, std::string> partition_names(Client& client) {
    std::map<std::uint64_t, std::string> names;
    for (const ChildEntry& child : children_of(client)) {
        std::string& name = names[child.jobid];
        for (const std::string& queue : child.serves) {
            name += (name.empty() ? "" : ", ") + queue;
        }
    }
    return names;
}

std::set<std::uint64_t> partition_jobs(Client& client) {
    std::set<std::uint64_t> ids;
    if (auto answer = client.call("job-route.tree", Json::object())) {
        for (const json_t* child : items_at(answer->get(), "children")) {
            ids.insert(static_cast<std::uint64_t>(integer_at(child, "jobid")));
        }
        for (const json_t* id : items_at(answer->get(), "instances")) {
            ids.insert(static_cast<std::uint64_t>(json_integer_value(id)));
        }
    }
    return ids;
}

Instance instance_tree(Client& client) {
    Instance instance;
    ask_instance(client, instance, 0);
    return instance;
}

std::string scheduler_of(const Instance& instance) {
    for (const std::string_view prefix : {"sched-weir-", "sched-"}) {
        for (const std::string& name : instance.modules) {
            if (name.starts_with(prefix)) {
                return name.substr(prefix.size());
            }
        }
    }
    return "";
}

}  // namespace weir::cmd
