// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio list`, `prio explain` and `prio weights`: priorities, and why.
#include <cmath>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/time_text.hpp"
#include "cmd/common/wait_reason.hpp"

namespace weir::cmd {
namespace {

std::uint64_t id_at(const json_t* object) {
    return static_cast<std::uint64_t>(integer_at(object, "id"));
}

/// The terms that the policy adds up: those of the first job that has any.
std::vector<std::string> term_names(const json_t* answer) {
    std::vector<std::string> names;
    for (const json_t* job : items_at(answer, "jobs")) {
        const char* name = nullptr;
        json_t* given = nullptr;
        json_object_foreach(json_object_get(job, "contributions"), name, given) {
            names.emplace_back(name);
        }
        if (!names.empty()) {
            break;
        }
    }
    return names;
}

/// Every column: what each term gives.
std::string long_text(const json_t* answer, const Screen& screen) {
    std::vector<Column> layout{
        {"place", Align::right},   {"job"}, {"user"}, {"account"}, {"queue"}, {"qos"}, {"urgency", Align::right},
        {"priority", Align::right}};
    const std::vector<std::string> terms = term_names(answer);
    for (const std::string& term : terms) {
        layout.push_back({"+" + term, Align::right});
    }
    Table table(std::move(layout));
    for (const json_t* job : items_at(answer, "jobs")) {
        std::vector<std::string> row{std::to_string(integer_at(job, "rank")),
                                     job_name(id_at(job), screen.glyphs.unicode),
                                     text_at(job, "user"),
                                     text_at(job, "account"),
                                     text_at(job, "queue"),
                                     text_at(job, "qos"),
                                     std::to_string(integer_at(job, "urgency")),
                                     std::to_string(integer_at(job, "priority"))};
        const json_t* given = json_object_get(job, "contributions");
        for (const std::string& term : terms) {
            row.push_back(has_number(given, term.c_str()) ? fixed(number_at(given, term.c_str()), 1) : "");
        }
        table.add(std::move(row));
    }
    return table.empty() ? "" : table.text(screen);
}

Exit run_list(Context& context) {
    return with_instance(context, [&](Client& client) {
        Json payload = Json::object();
        payload.set("limit", context.args.integer("count", 50));
        if (context.args.has("user")) {
            auto userid = Users::of(client).id(context.args.text("user"));
            if (!userid) {
                return context.fail(userid.error());
            }
            payload.set("userid", *userid);
        }
        auto answer = client.call("job-priority.list", payload);
        if (!answer) {
            return context.fail(answer.error());
        }
        if (const std::int64_t all = integer_at(answer->get(), "matching");
            all > static_cast<std::int64_t>(items_at(answer->get(), "jobs").size())) {
            context.note("These are the first " + std::to_string(context.args.integer("count", 50)) + " of " +
                         std::to_string(all) + "; -c N shows N of them, -c 0 all.");
        }
        if (context.json) {
            context.print(json_text("weir.prio/1", *answer));
            return Exit::ok;
        }
        if (context.args.has("long")) {
            const std::string text = long_text(answer->get(), context.out);
            if (text.empty()) {
                context.note("No job is pending.");
            } else {
                context.print(text);
            }
            return Exit::ok;
        }
        const double now = instance_now(client);
        Table table({{"place", Align::right},
                     {"job"},
                     {"user"},
                     {"account", Align::left, 3, 8},
                     {"queue", Align::left, 4},
                     {"priority", Align::right},
                     {"waited", Align::right, 2},
                     {"fair share", Align::right, 1}});
        for (const json_t* job : items_at(answer->get(), "jobs")) {
            const json_t* factors = json_object_get(job, "factors");
            const double waited = std::max(0.0, now - number_at(job, "submit", now));
            table.add({std::to_string(integer_at(job, "rank")), job_name(id_at(job), context.out.glyphs.unicode),
                       text_at(job, "user"), text_at(job, "account"), text_at(job, "queue"),
                       std::to_string(integer_at(job, "priority")), duration_text(duration_from_seconds(waited)),
                       has_number(factors, "fairshare") ? fixed(number_at(factors, "fairshare"), 3) : ""});
        }
        if (table.empty()) {
            context.note("No job is pending.");
        } else {
            context.print(table.text(context.out));
        }
        return Exit::ok;
    });
}

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
                            if (policy != "multifactor") {
                                return (table.empty() ? "" : table.text(context.out)) + "policy " + policy +
                                       ", updated every " + span("update_interval_s") + "\n";
                            }
                            const double limits = number_at(answer.get(), "wait_after_limits");
                            return table.text(context.out) + "algorithm " + text_at(answer.get(), "algorithm") +
                                   ", half-life " + span("half_life_s") + ", updated every " +
                                   span("update_interval_s") + "\nwait counts after " + span("wait_after_s") +
                                   (limits > 0 ? " or " + fixed(limits, 1) + " time limits, whichever is longer" : "") +
                                   ", then for " + span("wait_max_s") + "\n";
                        });
}

}  // namespace

Command prio_list_command() {
    Command command;
    command.name = "prio list";
    command.summary = "pending jobs in the order in which they would start";
    command.examples = {"weir prio list  # the first fifty",
                        "weir prio list -u alice --long  # jobs of one user, with the contribution of each factor",
                        "weir prio list -c 1000 --json  # with all factors"};
    command.options = {{"user", 'u', "NAME", "jobs of one user"},
                       {"count", 'c', "N", "at most N (default 50; 0: all)", Kind::integer, 0, 1 << 30},
                       {"long", 'l', "", "all columns: the contribution of each factor", Kind::flag}};
    command.run = run_list;
    return command;
}

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
