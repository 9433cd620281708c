// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio explain` and `prio weights`: priorities, and why.
#include <cmath>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/time_text.hpp"
#include "cmd/common/wait_reason.hpp"

namespace weir::cmd {
namespace {

/// "2h 5m", "8 cores"; units that say nothing to people are left out.
std::string raw_text(const json_t* term) {
    const std::string unit = text_at(term, "unit");
    const double raw = number_at(term, "raw");
    if (unit == "s") {
        return duration_text(duration_from_seconds(raw));
    }
    const bool is_whole = raw == static_cast<double>(static_cast<std::int64_t>(raw));
    return fixed(raw, is_whole ? 0 : 3) + (unit.empty() || unit == "factor" ? "" : " " + unit);
}

std::string terms_text(const json_t* answer, const Screen& screen) {
    Table table({{"term"},
                 {"raw", Align::right},
                 {"factor", Align::right},
                 {"weight", Align::right},
                 {"adds", Align::right},
                 {"of the sum", Align::right, 1}});
    for (const json_t* term : items_at(answer, "terms")) {
        const double weight = number_at(term, "weight");
        const bool is_part = has_number(term, "factor");  // of a greatest: under multifactor
        table.add({text_at(term, "name"), raw_text(term), is_part ? fixed(number_at(term, "factor"), 4) : "",
                   fixed(weight, is_part || weight == std::floor(weight) ? 0 : 3),
                   fixed(number_at(term, "contribution"), is_part ? 1 : 3), percent(number_at(term, "share"))});
    }
    for (const json_t* part : items_at(answer, "resources")) {
        table.add({"  " + text_at(part, "name"), fixed(number_at(part, "amount"), 2),
                   fixed(number_at(part, "factor"), 4), fixed(number_at(part, "weight"), 0),
                   fixed(number_at(part, "contribution"), 1), ""});
    }
    return table.text(screen);
}

std::string explain_text(const json_t* answer, const Screen& screen) {
    const std::string name = job_name(id_at(answer), screen.glyphs.unicode);
    std::string text = name + " of " + text_at(answer, "user");
    const std::string account = text_at(answer, "account");
    text +=
        (account.empty() ? "" : " (" + account + ")") + ": priority " + std::to_string(integer_at(answer, "priority"));
    if (integer_at(answer, "rank") > 0) {
        text +=
            ", place " + std::to_string(integer_at(answer, "rank")) + " of " + std::to_string(integer_at(answer, "of"));
    }
    text += "\n";
    const std::string bypass = text_at(answer, "bypass");
    if (!bypass.empty()) {
        text += "It is " + bypass + ": the sum below does not count.\n";
    }
    text += items_at(answer, "terms").empty() ? "" : "\n" + terms_text(answer, screen);
    const auto ahead = items_at(answer, "ahead");
    if (!ahead.empty()) {
        Table table({{"ahead of it"},
                     {"user"},
                     {"account", Align::left, 1, 8},
                     {"queue", Align::left, 2},
                     {"priority", Align::right},
                     {"why", Align::left, 0, 16}});
        for (const json_t* job : ahead) {
            table.add({job_name(id_at(job), screen.glyphs.unicode), text_at(job, "user"), text_at(job, "account"),
                       text_at(job, "queue"), std::to_string(integer_at(job, "priority")),
                       printable(text_at(job, "why"))});
        }
        text += "\n" + table.text(screen);
    }
    const auto words = items_at(answer, "words");
    text += words.empty() ? "" : "\n";
    for (const json_t* line : words) {
        text += std::string(json_is_string(line) ? json_string_value(line) : "") + "\n";
    }
    if (const json_t* reason = json_object_get(answer, "scheduler")) {
        text += "\n" + wait_text("It", reason, screen.glyphs.unicode);
    }
    return text;
}

Exit run_explain(Context& context) {
    auto id = parse_job(context.args.words[0]);
    if (!id) {
        return context.fail(Exit::usage, id.error().message);
    }
    return with_instance(context, [&](Client& client) {
        *id = id_here(client, *id);
        Json payload = Json::object();
        payload.set("id", *id);
        auto answer = client.call("job-priority.explain", payload);
        if (!answer && answer.error().code == std::errc::no_such_file_or_directory) {
            return context.fail(Exit::no_such, job_name(*id) + " does not wait at " + client.uri() +
                                                   ": priorities are for waiting jobs. See: weir jobs -a");
        }
        if (!answer) {
            return context.fail(answer.error());
        }
        if (const auto job = find_job(client, *id)) {
            Json reason = wait_reason(*job, ask_wait_facts(client, *job));
            if (text_at(reason.get(), "reason") != "not-waiting") {
                answer->set("scheduler", std::move(reason));
            }
        }
        context.print(context.json ? json_text("weir.prio-explain/1", *answer)
                                   : explain_text(answer->get(), context.out));
        return Exit::ok;
    });
}

/// Whose settings these are, and which children have others.
std::string whose_policy(const json_t* in_force) {
    const PolicyState here = policy_state(in_force);
    if (here.settings.empty()) {
        return "";
    }
    std::string text = "revision " + policy_text(here, false) + " (share tree/settings)" +
                       (here.from == "parent" ? ", the parent's" : "") + "\n";
    for (const PolicyState& child : policies_below(in_force)) {
        const std::string who = "child instance " + job_name(child.jobid);
        if (!child.refused.empty()) {
            text += who + " does not take it: " + printable(child.refused) + "\n";
        } else if (child.from == "own") {
            text += who + " has a policy of its own: " + policy_text(child, false) + "\n";
        }
    }
    return text;
}

Exit run_weights(Context& context) {
    return ask_and_show(context, "job-priority.weights", Json::object(), "weir.prio-weights/1",
                        [&](const Json& answer) {
                            Table table({{"term"}, {"weight", Align::right}});
                            const char* name = nullptr;
                            json_t* weight = nullptr;
                            json_object_foreach(json_object_get(answer.get(), "weights"), name, weight) {
                                const double value = json_number_value(weight);
                                table.add({name, fixed(value, value == std::floor(value) ? 0 : 3)});
                            }
                            const auto span = [&](const char* key) {
                                return duration_text(duration_from_seconds(number_at(answer.get(), key)));
                            };
                            const std::string policy = text_at(answer.get(), "policy");
                            const std::string whose = whose_policy(json_object_get(answer.get(), "in_force"));
                            if (policy != "multifactor") {
                                return (table.empty() ? "" : table.text(context.out)) + "policy " + policy +
                                       ", updated every " + span("update_interval_s") + "\n" + whose;
                            }
                            const double limits = number_at(answer.get(), "wait_after_limits");
                            return table.text(context.out) + "algorithm " + text_at(answer.get(), "algorithm") +
                                   ", half-life " + span("half_life_s") + ", updated every " +
                                   span("update_interval_s") + "\nwait counts after " + span("wait_after_s") +
                                   (limits > 0 ? " or " + fixed(limits, 1) + " time limits, whichever is longer" : "") +
                                   ", then for " + span("wait_max_s") + "\n" + whose;
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
