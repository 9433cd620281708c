// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio explain` and `prio weights`: priorities, and why.
#include <algorithm>
#include <cmath>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/usage_decay.hpp"
#include "cmd/view/priority_text.hpp"

namespace weir::cmd {
namespace {

Exit run_explain(Context& context) {
    auto id = parse_job(context.args.words[0]);
    if (!id) {
        return context.fail(Exit::usage, id.error().message);
    }
    return with_instance(context, [&](Client& client) {
        *id = id_here(client, *id);
        auto answer = explained_job(client, *id);
        if (!answer) {
            return context.fail(answer.error());
        }
        context.print(context.json ? json_text("weir.prio-explain/1", *answer)
                                   : priority_text(answer->get(), context.out));
        return Exit::ok;
    });
}

/// "partition batch", or "child instance ƒ7J4Ab" where no partition of that name is configured.
std::string child_text(const std::vector<ChildEntry>& children, std::uint64_t jobid) {
    const auto found = std::find_if(children.begin(), children.end(),
                                    [jobid](const ChildEntry& child) { return child.jobid == jobid; });
    return found != children.end() && !found->partition.empty() ? "partition " + printable(found->partition)
                                                                : "child instance " + job_name(jobid);
}

/// Whose settings these are, and which children have others.
std::string whose_policy(Client& client, const json_t* in_force) {
    const PolicyState here = policy_state(in_force);
    if (here.settings.empty()) {
        return "";
    }
    std::string text = "revision " + policy_text(here, false) + " (share tree/settings)" +
                       (here.from == "parent" ? ", the parent's" : "") + "\n";
    const std::vector<ChildEntry> children = children_of(client);
    for (const PolicyState& child : policies_below(in_force)) {
        const std::string who = child_text(children, child.jobid);
        if (!child.refused.empty()) {
            text += who + " does not take it: " + printable(child.refused) + "\n";
        } else if (child.from == "own") {
            text += who + " has a policy of its own: " + policy_text(child, false) + "\n";
        }
    }
    return text;
}

std::string weights_text(Client& client, const json_t* answer, const Screen& screen) {
    Table table({{"term"}, {"weight", Align::right}});
    const char* name = nullptr;
    json_t* weight = nullptr;
    json_object_foreach(json_object_get(answer, "weights"), name, weight) {
        const double value = json_number_value(weight);
        table.add({name, fixed(value, value == std::floor(value) ? 0 : 3)});
    }
    const auto span = [answer](const char* key) {
        return duration_text(duration_from_seconds(number_at(answer, key)));
    };
    const std::string policy = text_at(answer, "policy");
    const std::string whose = whose_policy(client, json_object_get(answer, "in_force"));
    if (policy != "multifactor") {
        return (table.empty() ? "" : table.text(screen)) + "policy " + policy + ", updated every " +
               span("update_interval_s") + "\n" + whose;
    }
    const double limits = number_at(answer, "wait_after_limits");
    return table.text(screen) + "algorithm " + text_at(answer, "algorithm") + ", " +
           decay_words(usage_decay_of(answer)) + ", updated every " + span("update_interval_s") +
           "\nwait counts after " + span("wait_after_s") +
           (limits > 0 ? " or " + fixed(limits, 1) + " time limits, whichever is longer" : "") + ", then for " +
           span("wait_max_s") + "\n" + whose;
}

Exit run_weights(Context& context) {
    return with_instance(context, [&](Client& client) {
        const auto answer = client.call("job-priority.weights", Json::object());
        if (!answer) {
            return context.fail(answer.error());
        }
        context.print(context.json ? json_text("weir.prio-weights/1", *answer)
                                   : weights_text(client, answer->get(), context.out));
        return Exit::ok;
    });
}

}  // namespace

Command prio_explain_command() {
    Command command;
    command.name = "prio explain";
    command.summary = "how a job's priority is computed, and which jobs are ahead of it";
    command.examples = {"weir prio explain ƒ7J4Ab  # every term of the sum",
                        "weir prio explain ƒ7J4Ab --json  # for a program", "weir nice ƒ7J4Ab 5  # lower it"};
    command.words = {"JOB", 1, 1};
    command.run = run_explain;
    return command;
}

Command prio_weights_command() {
    Command command;
    command.name = "prio weights";
    command.summary = "the weights and settings behind all priorities";
    command.examples = {"weir prio weights  # weights, half-life, interval",
                        "weir prio weights --json  # for a program", "weir prio list  # the resulting order"};
    command.run = run_weights;
    return command;
}

}  // namespace weir::cmd
