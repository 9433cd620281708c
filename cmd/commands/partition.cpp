// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir partition ...`: the partitions that an instance keeps, and changes of them, which job-route makes.
#include <algorithm>
#include <array>
#include <functional>
#include <sstream>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/wait_reason.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t size_max = 1 << 24;
constexpr std::size_t words_shown = 60;  ///< of the reason for a death
constexpr std::size_t rules_shown = 16;
constexpr const char* memory_option = "memory-per-node";

/// "up", "drained", "down since ...": as in `weir tree`.
std::string standing_text(const PartitionState& state) {
    if (state.is_down) {
        return down_text(state, real_now());
    }
    const auto old =
        std::count_if(state.jobs.begin(), state.jobs.end(), [](const PartitionJob& job) { return !job.is_current; });
    const auto current = std::find_if(state.jobs.begin(), state.jobs.end(),
                                      [](const PartitionJob& job) { return job.is_current && !job.drained.empty(); });
    return state.state + (current == state.jobs.end() ? "" : "; drained: " + printable(current->drained)) +
           (old == 0   ? ""
            : old == 1 ? ", an older instance ends its jobs"
                       : ", older instances end theirs");
}

std::string size_text(const PartitionState& state) {
    return state.nodes == 0 ? std::to_string(state.cores)
                            : std::to_string(state.nodes) + "x" + std::to_string(state.cores);
}

/// "debug", or "debug, then batch".
std::string queues_text(const PartitionState& state) {
    return listed(state.queues) + (state.overflow.empty() ? "" : ", then " + listed(state.overflow));
}

std::string list_text(const std::vector<PartitionState>& states, const Screen& screen) {
    if (states.empty()) {
        return "This instance keeps no partitions: write [[partition]] into its configuration.\n";
    }
    const auto has = [&states](std::string PartitionState::*text) {
        return std::any_of(states.begin(), states.end(),
                           [text](const PartitionState& state) { return !(state.*text).empty(); });
    };
    const bool has_rules = has(&PartitionState::rules), has_limits = has(&PartitionState::limits_text);
    std::vector<Column> columns{{"partition"}, {"queues", Align::left, 2, 10}};
    if (has_rules) {
        columns.push_back({"takes", Align::left, 0, rules_shown});
    }
    if (has_limits) {
        columns.push_back({"limits", Align::left, 0, rules_shown});
    }
    columns.insert(columns.end(), {{"cores", Align::right},
                                   {"scheduler", Align::left, 1},
                                   {"waiting", Align::right},
                                   {"running", Align::right},
                                   {"job", Align::left, 3},
                                   {"state", Align::left, 0, words_shown}});
    Table table(columns);
    for (const PartitionState& state : states) {
        std::int64_t pending = 0, running = 0;
        for (const PartitionJob& job : state.jobs) {
            pending += job.pending;
            running += job.running;
        }
        std::vector<std::string> row{state.name, queues_text(state)};
        if (has_rules) {
            row.push_back(state.rules.empty() ? "all" : state.rules);
        }
        if (has_limits) {
            row.push_back(state.limits_text.empty() ? "none" : state.limits_text);
        }
        row.insert(row.end(), {size_text(state), state.scheduler.empty() ? "Flux's own" : state.scheduler,
                               std::to_string(pending), std::to_string(running),
                               state.job == 0 ? "" : job_name(state.job, screen.glyphs.unicode), standing_text(state)});
        table.add(std::move(row));
    }
    return table.text(screen);
}

Json json_of(const PartitionState& state) {
    Json queues = Json::array(), overflow = Json::array(), jobs = Json::array(), json = Json::object();
    for (const std::string& queue : state.overflow) {
        overflow.append(queue);
    }
    for (const std::string& queue : state.queues) {
        queues.append(queue);
    }
    for (const PartitionJob& job : state.jobs) {
        Json one = Json::object();
        one.set("id", job.job).set("current", job.is_current).set("attached", job.is_attached).set("uri", job.uri);
        one.set("cores", job.cores)
            .set("pending", job.pending)
            .set("running", job.running)
            .set("own", job.own)
            .set("drained", job.drained);
        jobs.append(std::move(one));
    }
    json.set("name", state.name).set("state", state.state).set("queues", std::move(queues));
    json.set("overflow", std::move(overflow)).set("place", static_cast<long long>(state.place));
    const auto takes = Json::parse(state.takes);
    const auto limits = Json::parse(state.limits);
    json.set("takes", takes ? takes->share() : Json::object()).set("rules", state.rules);
    json.set("limits", limits ? limits->share() : Json::object());
    json.set("scheduler", state.scheduler).set("start", state.start);
    json.set("nodes", state.nodes).set("cores", state.cores).set("deaths", state.deaths).set("why", state.why);
    json.set("memory_per_node_mib", state.memory_per_node_mib).set("log", state.log);
    return std::move(json.set("instances", std::move(jobs)));
}

Exit run_partition_list(Context& context) {
    return with_instance(context, [&](Client& client) {
        const auto states = partition_states(client);
        if (!states) {
            return context.fail(states.error());
        }
        Json list = Json::array();
        std::string waiting;
        for (const PartitionState& state : *states) {
            const std::string waits = start_wait(client, state).text;
            Json one = json_of(state);
            one.set("waits", waits);
            list.append(std::move(one));
            waiting += waits.empty() ? "" : "The partition " + state.name + " " + waits + ".\n";
        }
        Json answer = Json::object();
        answer.set("partitions", std::move(list));
        context.print(context.json ? json_text("weir.partitions/1", answer)
                                   : list_text(*states, context.out) + waiting);
        return Exit::ok;
    });
}

std::string named_text(const Context& context) {
    return "The partition " + context.args.words.front();
}

/// `done`: what the answer means.
Exit ask_for(Context& context, Json request, const std::function<std::string(const json_t*)>& done) {
    return with_instance(context, [&](Client& client) {
        const auto answer = client.call("job-route.partition-change", request);
        if (!answer) {
            return context.fail(answer.error());
        }
        if (context.json) {
            context.print(json_text("weir.partition/1", request));
        } else {
            const bool is_same = json_is_true(json_object_get(answer->get(), "unchanged"));
            context.note(is_same ? named_text(context) + " has this size already: nothing was changed."
                                 : done(answer->get()));
        }
        for (const json_t* warning : items_at(answer->get(), "warnings")) {
            context.note("warning: " + std::string(json_is_string(warning) ? json_string_value(warning) : ""));
        }
        return Exit::ok;
    });
}

Exit ask_for(Context& context, Json request, const std::string& done) {
    return ask_for(context, std::move(request), [&done](const json_t* /*answer*/) { return done; });
}

Json request_of(const Context& context, const char* op) {
    Json request = Json::object(), names = Json::array();
    request.set("op", op);
    if (context.args.words.size() == 1) {
        request.set("name", context.args.words.front());
    } else {
        for (const std::string& name : context.args.words) {
            names.append(name);
        }
        request.set("names", std::move(names));
    }
    if (context.args.has("kill")) {
        request.set("kill", true);
    }
    return request;
}

/// --cores, --nodes, --cores-per-node and --memory-per-node into a table or a request. false: none is there.
bool set_size(const Context& context, Json& into) {
    bool is_there = false;
    for (const char* key : {"cores", "nodes", "cores-per-node"}) {
        if (context.args.has(key)) {
            into.set(key, context.args.integer(key, 0));
            is_there = true;
        }
    }
    if (context.args.has(memory_option)) {
        into.set(memory_option, context.args.text(memory_option));
        is_there = true;
    }
    return is_there;
}

Json option_list(const Args& args, const char* option) {
    const auto found = args.values.find(option);
    if (found == args.values.end()) {
        return {};
    }
    Json list = Json::array();
    for (const std::string& text : found->second) {
        list.append(text);
    }
    return list;
}

Json number_or_text(const std::string& value) {
    const auto number = parse_integer(value, 1, size_max);
    return number ? Json::own(json_integer(*number)) : Json::string(value);
}

/// Of --takes: a number for cores and nodes, a text for durations, else names.
Json rule_value(const std::string& key, const std::string& value) {
    const auto begins = [&key](const char* with) { return key.rfind(with, 0) == 0; };
    if (begins("duration-")) {
        return Json::string(value);
    }
    if (begins("cores-") || begins("nodes-")) {
        return number_or_text(value);
    }
    Json names = Json::array();
    std::istringstream all(value);
    for (std::string name; std::getline(all, name, ',');) {
        names.append(name);
    }
    return names;
}

Json limit_value(const std::string& /*key*/, const std::string& value) {
    return number_or_text(value);
}

/// An option KEY=VALUE, which may be repeated, as a table of its name.
struct PairOption {
    const char* name;
    const char* table;
    const char* right;  ///< how it is written
    Json (*value_of)(const std::string& key, const std::string& value);
};
constexpr std::array<PairOption, 2> pair_options{
    {{"takes", "takes", "KEY=VALUE, as duration-max=1h or accounts=bio,chem", rule_value},
     {"limit", "limits", "KEY=N, as user-running-jobs-max=2 or cores-max=64", limit_value}}};

/// Sets the option's table, if it was given. Errors: not KEY=VALUE.
Status set_pairs(const Args& args, const PairOption& option, Json& into) {
    const auto given = args.values.find(option.name);
    if (given == args.values.end()) {
        return Done{};
    }
    Json table = Json::object();
    for (const std::string& pair : given->second) {
        const std::size_t sign = pair.find('=');
        if (sign == std::string::npos || sign == 0 || sign + 1 == pair.size()) {
            return Error{std::errc::invalid_argument,
                         std::string("--") + option.name + " " + pair + ": write " + option.right + "."};
        }
        const std::string key = pair.substr(0, sign);
        table.set(key.c_str(), option.value_of(key, pair.substr(sign + 1)));
    }
    into.set(option.table, std::move(table));
    return Done{};
}

constexpr const char* no_size = "say how large it is: --cores N, or --nodes N --cores-per-node M.";

Exit run_partition_add(Context& context) {
    const Args& args = context.args;
    Json table = Json::object();
    table.set("name", args.words.front());
    if (!set_size(context, table)) {
        return context.fail(Exit::usage, no_size);
    }
    table.set("queues", option_list(args, "queue")).set("overflow", option_list(args, "overflow"));
    table.set("properties", option_list(args, "property"));
    table.set("options", option_list(args, "scheduler-option"));
    for (const PairOption& option : pair_options) {
        if (const auto done = set_pairs(args, option, table); !done) {
            return context.fail(Exit::usage, done.error().message);
        }
    }
    for (const char* key : {"hosts", "scheduler", "idle-time"}) {
        if (args.has(key)) {
            table.set(key, args.text(key));
        }
    }
    if (args.has("on-demand")) {
        table.set("start", "on-demand");
    }
    Json request = Json::object();
    request.set("op", "add").set("table", std::move(table));
    return ask_for(context, std::move(request), named_text(context) + " is there. See: weir partition list");
}

/// How the present instance ends, by --kill.
std::string end_text(const Context& context) {
    return context.args.has("kill") ? " ends with its jobs." : " ends when its running jobs have ended.";
}

/// A new instance replaces the present one: of a drained partition when it is resumed.
Exit ask_for_another(Context& context, Json request) {
    const std::string name = context.args.words.front();
    const std::string waiting =
        context.args.has("kill") ? "" : " While the machine has no room for both, jobs wait. See: weir partition list";
    return ask_for(context, std::move(request), [&](const json_t* answer) {
        return json_is_true(json_object_get(answer, "drained"))
                   ? named_text(context) + " is drained: its new instance starts after weir partition resume " + name +
                         "; the old one" + end_text(context)
                   : "A new instance of the partition " + name + " starts; the old one" + end_text(context) + waiting;
    });
}

Exit run_partition_remove(Context& context) {
    return ask_for(context, request_of(context, "remove"), named_text(context) + end_text(context));
}

Exit run_partition_resize(Context& context) {
    Json request = request_of(context, "resize");
    if (!set_size(context, request)) {
        return context.fail(Exit::usage, no_size);
    }
    return ask_for_another(context, std::move(request));
}

Exit run_partition_restart(Context& context) {
    return ask_for_another(context, request_of(context, "restart"));
}

/// "The partition a", "The partitions a and b".
std::string all_text(const std::vector<std::string>& names) {
    return (names.size() == 1 ? "The partition " : "The partitions ") + listed(names);
}

/// What drain and resume say: of those that changed, `changed_text` of their names; of the others that they are
/// `is_so`.
std::string drain_text(const Context& context, const json_t* answer, const std::string& is_so,
                       const std::function<std::string(const std::vector<std::string>&)>& changed_text) {
    std::vector<std::string> changed, same;
    for (const json_t* name : items_at(answer, "same")) {
        same.emplace_back(json_is_string(name) ? json_string_value(name) : "");
    }
    for (const std::string& name : context.args.words) {
        if (std::find(same.begin(), same.end(), name) == same.end()) {
            changed.push_back(name);
        }
    }
    const std::string unchanged = same.empty() ? "" : all_text(same) + (same.size() == 1 ? " is " : " are ") + is_so;
    return changed.empty() ? unchanged + ": nothing was changed."
                           : changed_text(changed) + (same.empty() ? "" : "\n" + unchanged + ".");
}

Exit run_partition_drain(Context& context) {
    return ask_for(context, request_of(context, "drain"), [&context](const json_t* answer) {
        return drain_text(context, answer, "drained already", [](const std::vector<std::string>& names) {
            std::string resume = "weir partition resume";
            for (const std::string& name : names) {
                resume += " " + name;
            }
            return all_text(names) + (names.size() == 1 ? " starts" : " start") +
                   " no more jobs. They wait here:  " + resume;
        });
    });
}

Exit run_partition_resume(Context& context) {
    return ask_for(context, request_of(context, "resume"), [&context](const json_t* answer) {
        return drain_text(context, answer, "not drained", [](const std::vector<std::string>& names) {
            return all_text(names) + (names.size() == 1 ? " takes" : " take") + " jobs again.";
        });
    });
}

const Words several_names{"NAME...", 1, SIZE_MAX};
const Option kill_option{"kill", 0, "", "end the running jobs as well", Kind::flag};

std::vector<Option> size_options() {
    return {{"cores", 'c', "N", "cores in all, on any nodes", Kind::integer, 1, size_max},
            {"nodes", 'N', "N", "nodes", Kind::integer, 1, size_max},
            {"cores-per-node", 0, "N", "with --nodes: cores on each", Kind::integer, 1, size_max},
            {memory_option, 0, "SIZE", "memory on each node, as 64GiB, for jobs that request some"}};
}

Command named_command(const char* name, const char* summary, Exit (*run)(Context&), std::vector<std::string> examples,
                      std::vector<Option> options = {}) {
    Command command;
    command.name = name;
    command.summary = summary;
    command.examples = std::move(examples);
    command.words = {"NAME", 1, 1};
    command.options = std::move(options);
    command.run = run;
    return command;
}

}  // namespace

Command partition_list_command() {
    Command command;
    command.name = "partition list";
    command.summary = "show the partitions that the instance keeps";
    command.examples = {"weir partition list  # size, jobs and state of each",
                        "weir partition list --json  # the same as JSON, with every instance",
                        "weir --uri /run/weir/batch partition list  # the partitions of a partition"};
    command.run = run_partition_list;
    return command;
}

Command partition_add_command() {
    std::vector<Option> options = size_options();
    options.insert(options.end(),
                   {{"queue", 'q', "NAME", "a queue that it serves (default: its name); may be repeated"},
                    {"overflow", 0, "NAME", "a queue whose jobs it runs while none of its own wait; may be repeated"},
                    {"takes", 0, "K=V", "a rule: only jobs that meet it, as duration-max=1h; may be repeated"},
                    {"limit", 0, "K=N", "a limit of what runs in it, as user-running-jobs-max=2; may be repeated"},
                    {"scheduler", 0, "NAME", "easy, fcfs or the name of a module (default: easy; in Flux, Flux's own)"},
                    {"scheduler-option", 0, "K=V", "an argument of the scheduler; may be repeated"},
                    {"hosts", 0, "LIST", "only these hosts"},
                    {"property", 0, "NAME", "only nodes with this property; may be repeated"},
                    {"on-demand", 0, "", "start it when a job waits for it", Kind::flag},
                    {"idle-time", 0, "D", "end it after so long without a job", Kind::text}});
    return named_command(
        "partition add", "start a further partition", run_partition_add,
        {"weir partition add more --queue batch --cores 4  # four more cores for the queue batch",
         "weir partition add night --queue batch -N 2 --cores-per-node 8 --takes duration-min=12h  # for long jobs",
         "weir partition add spare --queue batch -c 2 --on-demand --idle-time 10m  # only while jobs need it"},
        std::move(options));
}

Command partition_remove_command() {
    return named_command("partition remove", "end a partition after its running jobs", run_partition_remove,
                         {"weir partition remove more  # its waiting jobs go to other partitions",
                          "weir partition remove more --kill  # at once, with its running jobs",
                          "weir partition remove more && weir partition list  # what is left"},
                         {kill_option});
}

Command partition_resize_command() {
    std::vector<Option> options = size_options();
    options.push_back(kill_option);
    return named_command("partition resize", "replace a partition by a larger or smaller one", run_partition_resize,
                         {"weir partition resize batch --cores 6  # running jobs end in the old instance",
                          "weir partition resize batch -N 3 --cores-per-node 8  # three nodes",
                          "weir partition resize batch --cores 6 --kill  # at once"},
                         std::move(options));
}

Command partition_drain_command() {
    Command command = named_command("partition drain", "start no more jobs in partitions", run_partition_drain,
                                    {"weir partition drain batch  # its running jobs continue",
                                     "weir partition drain batch debug  # both, or neither if a name is wrong",
                                     "weir partition resume batch  # the opposite"});
    command.words = several_names;
    return command;
}

Command partition_resume_command() {
    Command command = named_command("partition resume", "start jobs in drained partitions again", run_partition_resume,
                                    {"weir partition resume batch  # jobs go there again",
                                     "weir partition resume batch debug && weir tree  # and how many wait there",
                                     "weir partition drain batch  # the opposite"});
    command.words = several_names;
    return command;
}

Command partition_restart_command() {
    return named_command("partition restart", "replace a partition's instance by a new one", run_partition_restart,
                         {"weir partition restart batch  # running jobs end in the old instance",
                          "weir partition restart batch --kill  # at once",
                          "weir partition restart batch && weir partition list  # what the new one waits for"},
                         {kill_option});
}

}  // namespace weir::cmd
