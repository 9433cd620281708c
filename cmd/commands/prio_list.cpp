// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir prio list`: pending jobs in the order of their priorities, and for routed jobs the partition, the place
// there and the estimated start.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

/// The most forecasts in one list: each takes a scheduler up to some tens of milliseconds.
constexpr std::size_t forecasts_max = 50;

/// The terms that the policy adds up: those of the first job that has any.
std::vector<std::string> term_names(const std::vector<Json>& jobs) {
    std::vector<std::string> names;
    for (const Json& job : jobs) {
        const char* name = nullptr;
        json_t* given = nullptr;
        json_object_foreach(json_object_get(job.get(), "contributions"), name, given) {
            names.emplace_back(name);
        }
        if (!names.empty()) {
            break;
        }
    }
    return names;
}

bool is_held_back(const json_t* job) {
    return json_is_true(json_object_get(job, "is_held_back"));
}

/// By a limit, or by its urgency: it is in no place of the queue.
bool is_out_of_queue(const json_t* job) {
    return is_held_back(job) || integer_at(job, "urgency") == 0;
}

std::string place_text(const json_t* job) {
    return is_out_of_queue(job) ? "-" : std::to_string(integer_at(job, "rank"));
}

bool is_parents(const json_t* job) {
    return json_is_true(json_object_get(job, "is_parents"));
}

/// The factor of fair share, where it is a term here.
std::string fair_share_text(const json_t* job) {
    const json_t* factors = json_object_get(job, "factors");
    return is_parents(job)                    ? "parent"
           : has_number(factors, "fairshare") ? fixed(number_at(factors, "fairshare"), 3)
                                              : "";
}

/// Why places repeat, or are missing: those of another user in a private instance, or what the options leave out.
std::string places_text(const std::vector<Json>& jobs) {
    std::map<std::string, std::int64_t> last;
    bool has_gaps = false;
    for (const Json& job : jobs) {
        if (!is_out_of_queue(job.get())) {
            std::int64_t& place = last[text_at(job.get(), "queue")];
            const std::int64_t before = std::exchange(place, integer_at(job.get(), "rank"));
            has_gaps = has_gaps || place != before + 1;
        }
    }
    return std::string(last.size() > 1 ? "Places are counted in each queue\n" : "") +
           (has_gaps ? "Jobs that are not shown have the places between\n" : "");
}

/// What the words in some rows mean, where a row has them: a place of "-", and terms that the parent has.
std::string words_text(const std::vector<Json>& jobs) {
    const auto has = [&jobs](bool (*is_so)(const json_t*)) {
        return std::any_of(jobs.begin(), jobs.end(), [is_so](const Json& job) { return is_so(job.get()); });
    };
    return std::string(has(is_out_of_queue) ? "- held back, whatever its priority (weir why JOB says why)\n" : "") +
           (has(is_parents) ? "The parent instance decides the priorities of jobs that came from there (weir prio "
                              "explain JOB shows the terms)\n"
                            : "");
}

/// A column for the contribution of each term.
Table long_table(const std::vector<Json>& jobs, Glyphs glyphs) {
    std::vector<Column> layout{
        {"place", Align::right},   {"job"}, {"user"}, {"account"}, {"queue"}, {"qos"}, {"urgency", Align::right},
        {"priority", Align::right}};
    const std::vector<std::string> terms = term_names(jobs);
    for (const std::string& term : terms) {
        layout.push_back({"+" + term, Align::right});
    }
    Table table(std::move(layout));
    for (const Json& entry : jobs) {
        const json_t* job = entry.get();
        std::vector<std::string> row{place_text(job),
                                     job_name(id_at(job), glyphs.unicode),
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
    return table;
}

/// The partition and the place there: "batch #3"; "batch/low #1" in a partition of that partition; "here #2" in this
/// instance itself. Empty: no scheduler has the job.
std::string partition_text(const json_t* job) {
    const std::string inside = text_at(job, "inside");
    const std::string name = id_at(job, "child") == 0
                                 ? (has_number(job, "place") ? "here" : "")
                                 : text_at(job, "partition") + (inside.empty() ? "" : "/" + inside);
    return name + (has_number(job, "place") ? " #" + std::to_string(integer_at(job, "place")) : "");
}

bool job_may_move(const json_t* job) {
    return json_array_size(json_object_get(job, "may_start_in")) > 0;
}

/// "in 3h 34m", with a sign where another partition may start the job earlier.
std::string start_text(const json_t* job, double now) {
    const double start = number_at(job, "t_estimate");
    return start <= 0     ? ""
           : start <= now ? "now"
                          : "in " + duration_text(duration_from_seconds(start - now)) + (job_may_move(job) ? " *" : "");
}

/// What the sign means, where a row has it.
std::string sign_text(const std::vector<Json>& jobs, double now) {
    const bool has_sign = std::any_of(jobs.begin(), jobs.end(),
                                      [now](const Json& job) { return start_text(job.get(), now).ends_with('*'); });
    return has_sign ? "* in that partition; it may start earlier in another one that takes it (weir why JOB names it)\n"
                    : "";
}

bool has_partitions_of(const std::vector<Json>& jobs) {
    return std::any_of(jobs.begin(), jobs.end(), [](const Json& job) { return job.at("partition"); });
}

bool has_starts_of(const std::vector<Json>& jobs) {
    return std::any_of(jobs.begin(), jobs.end(), [](const Json& job) { return job.at("t_estimate"); });
}

/// Why the last two columns have no entry in some rows. Of a job that is held back the place says it.
std::string empty_text(const std::vector<Json>& jobs, double now) {
    const bool has_partitions = has_partitions_of(jobs), has_starts = has_starts_of(jobs);
    bool has_none_yet = false, has_no_start = false;
    for (std::size_t i = 0; i < jobs.size() && i < forecasts_max; i++) {
        const json_t* job = jobs[i].get();
        const bool is_in_queue = !is_out_of_queue(job);
        has_none_yet = has_none_yet || (is_in_queue && partition_text(job).empty());
        has_no_start = has_no_start || (is_in_queue && start_text(job, now).empty());
    }
    std::string text;
    if (has_partitions && has_none_yet) {
        text += "A job without a partition waits here until one has room for it\n";
    }
    if (has_starts && has_no_start) {
        text += "A job without a start: its scheduler estimates none (weir why JOB says for what it waits)\n";
    }
    if ((has_partitions || has_starts) && jobs.size() > forecasts_max) {
        text += "Starts and places in partitions are those of the first " + std::to_string(forecasts_max) +
                " jobs alone (weir why JOB has them of any job)\n";
    }
    return text;
}

Table short_table(const std::vector<Json>& jobs, Glyphs glyphs, double now) {
    const bool has_partitions = has_partitions_of(jobs), has_starts = has_starts_of(jobs);
    std::vector<Column> columns{{"place", Align::right},
                                {"job"},
                                {"user"},
                                {"account", Align::left, 3, 8},
                                {"queue", Align::left, 4},
                                {"priority", Align::right},
                                {"waited", Align::right, 2},
                                {"fair share", Align::right, 1}};
    if (has_partitions) {
        columns.push_back({"partition"});
    }
    if (has_starts) {
        columns.push_back({"starts", Align::right});
    }
    Table table(std::move(columns));
    for (const Json& entry : jobs) {
        const json_t* job = entry.get();
        const double waited = std::max(0.0, now - number_at(job, "submit", now));
        std::vector<std::string> row{place_text(job),
                                     job_name(id_at(job), glyphs.unicode),
                                     text_at(job, "user"),
                                     text_at(job, "account"),
                                     text_at(job, "queue"),
                                     std::to_string(integer_at(job, "priority")),
                                     duration_text(duration_from_seconds(waited)),
                                     fair_share_text(job)};
        if (has_partitions) {
            row.push_back(partition_text(job));
        }
        if (has_starts) {
            row.push_back(start_text(job, now));
        }
        table.add(std::move(row));
    }
    return table;
}

/// Adds {child, partition, child_id} to the jobs that a partition has.
void add_partitions(Client& client, std::vector<Json>& jobs) {
    std::vector<std::uint64_t> ids;
    for (const Json& job : jobs) {
        ids.push_back(id_at(job.get()));
    }
    const auto known = ids_of(client, ids);
    if (known.empty()) {
        return;
    }
    const std::map<std::uint64_t, std::string> names = partition_names(client);
    for (Json& job : jobs) {
        const auto found = known.find(id_at(job.get()));
        if (found == known.end() || found->second.child == 0) {
            continue;
        }
        const auto name = names.find(found->second.child);
        job.set("child", found->second.child).set("child_id", found->second.below);
        job.set("partition", name != names.end() ? name->second : std::string());
    }
}

/// Of the partitions behind the first: "low", "low/left". One that is not configured is named by its job.
std::string inside_text(const std::vector<Hop>& hops) {
    std::string text;
    for (std::size_t i = 1; i < hops.size(); i++) {
        text += (i > 1 ? "/" : "") + (hops[i].partition.empty() ? job_name(hops[i].child) : hops[i].partition);
    }
    return text;
}

/// Adds {place, t_estimate} from the scheduler of the job, here or in the partition; may_start_in with an estimate of a
/// partition, and inside with a place in a partition of a partition. A partition that does not answer is asked once.
void add_starts(Client& client, std::vector<Json>& jobs) {
    std::map<std::uint64_t, bool> is_silent;
    for (std::size_t i = 0; i < jobs.size() && i < forecasts_max; i++) {
        const json_t* job = jobs[i].get();
        const std::uint64_t child = id_at(job, "child");
        if (is_silent[child]) {
            continue;
        }
        Json answer, others;
        std::string inside;
        if (child == 0) {
            Json payload = Json::object();
            payload.set("id", id_at(job));
            if (auto here = client.call("sched.why", payload)) {
                answer = std::move(*here);
            }
        } else if (auto told = ask_about(client, id_at(job), "sched.why", Json())) {
            is_silent[child] = told->error && told->error->code == std::errc::timed_out;
            answer = std::move(told->answer);
            others = may_start_in(told->hops);
            inside = inside_text(told->hops);
        }
        for (const char* key : {"place", "t_estimate"}) {
            if (has_number(answer.get(), key)) {
                jobs[i].set(key, answer.at(key));
            }
        }
        if (others && has_number(answer.get(), "t_estimate")) {
            jobs[i].set("may_start_in", std::move(others));
        }
        if (!inside.empty() && has_number(answer.get(), "place")) {
            jobs[i].set("inside", inside);
        }
    }
}

/// By the name of a queue that it serves, or by its job.
bool is_in(const json_t* job, const std::string& partition) {
    const auto id = parse_job(partition);
    const std::string names = ", " + text_at(job, "partition") + ", ";
    return id_at(job, "child") != 0 &&
           (names.find(", " + partition + ", ") != std::string::npos || (id && id_at(job, "child") == *id));
}

/// A name that is a queue may be a partition that has not started. Errors: ENOENT with the partitions that there are;
/// those of partition_states().
Status check_partition(Client& client, const std::string& name) {
    const auto id = parse_job(name);
    std::set<std::string> known;
    for (const auto& [child, names] : partition_names(client)) {
        if ((id && child == *id) || (", " + names + ", ").find(", " + name + ", ") != std::string::npos) {
            return Done{};
        }
        known.insert(printable(names));
    }
    const auto states = partition_states(client);
    for (const PartitionState& partition : states ? *states : std::vector<PartitionState>()) {  // it may be off or down
        if (partition.name == name) {
            return Done{};
        }
        known.insert(printable(partition.name));
    }
    std::string list;
    for (const std::string& names : known) {
        list += (list.empty() ? "" : ", ") + names;
    }
    if (check_queue(client, name)) {
        return Done{};
    }
    if (!states) {
        return states.error();
    }
    return Error{std::errc::no_such_file_or_directory,
                 "there is no partition \"" + name + "\"; " +
                     (known.empty() ? "this instance has no partitions." : "there are: " + list + ".")};
}

/// The queue and the partition that are asked for are there. Errors: ENOENT.
Status check_places(Client& client, const Args& args) {
    const Status queue = args.has("queue") ? check_queue(client, args.text("queue")) : Status(Done{});
    return queue && args.has("partition") ? check_partition(client, args.text("partition")) : queue;
}

/// Of the jobs that job-priority does not rank yet, those that the filters let pass. A guest of a private instance is
/// told of his own.
std::string unranked_text(Client& client, const Args& args) {
    constexpr std::int64_t counted_max = 1000;
    JobQuery query;
    query.states = FLUX_JOB_STATE_DEPEND | FLUX_JOB_STATE_PRIORITY;
    query.queue = args.text("queue");
    query.limit = counted_max;
    if (args.has("user")) {
        const auto userid = Users::of(client).id(args.text("user"));
        query.userid = userid ? std::optional(*userid) : std::nullopt;
    }
    std::int64_t count = 0;
    const Status done = list_jobs(client, query, [&count](const Job&) { count++; });
    return !done || count == 0 ? ""
           : count == 1 ? "1 more job has no priority yet (weir jobs shows it, weir why JOB says for what it waits)"
                        : std::to_string(count) + (count == counted_max ? " or more" : "") +
                              " more jobs have no priority yet (weir jobs shows them, weir why JOB says for what one "
                              "waits)";
}

/// The jobs of job-priority's list that pass the filters. job-priority filters users; queues and partitions are
/// filtered here.
Result<std::vector<Json>> chosen_jobs(Client& client, const Args& args, Json& answer) {
    const std::int64_t count = args.integer("count", 50);
    const bool is_sorted_out = args.has("queue") || args.has("partition");
    if (const Status known = check_places(client, args); !known) {
        return known.error();
    }
    Json payload = Json::object();
    payload.set("limit", is_sorted_out ? 0 : count);
    if (args.has("user")) {
        auto userid = Users::of(client).id(args.text("user"));
        if (!userid) {
            return userid.error();
        }
        payload.set("userid", *userid);
    }
    auto listed = client.call("job-priority.list", payload);
    if (!listed) {
        return listed.error();
    }
    answer = std::move(*listed);
    std::vector<Json> jobs;
    for (json_t* job : items_at(answer.get(), "jobs")) {
        if (!args.has("queue") || text_at(job, "queue") == args.text("queue")) {
            jobs.push_back(Json::ref(job));
        }
    }
    add_partitions(client, jobs);
    if (args.has("partition")) {
        std::erase_if(jobs, [&](const Json& job) { return !is_in(job.get(), args.text("partition")); });
    }
    if (is_sorted_out) {
        answer.set("matching", jobs.size());
    }
    if (count != 0 && jobs.size() > static_cast<std::size_t>(count)) {
        jobs.resize(static_cast<std::size_t>(count));
    }
    return jobs;
}

Exit run_list(Context& context) {
    return with_instance(context, [&](Client& client) {
        Json answer;
        auto jobs = chosen_jobs(client, context.args, answer);
        if (!jobs) {
            return context.fail(jobs.error());
        }
        if (const std::int64_t all = integer_at(answer.get(), "matching");
            all > static_cast<std::int64_t>(jobs->size())) {
            context.note("These are the first " + std::to_string(jobs->size()) + " of " + std::to_string(all) +
                         "; -c N shows N of them, -c 0 all.");
        }
        if (!context.args.has("long") || context.json) {
            add_starts(client, *jobs);
        }
        if (context.json) {
            Json list = Json::array();
            for (const Json& job : *jobs) {
                list.append(job.share());
            }
            context.print(json_text("weir.prio/1", answer.set("jobs", std::move(list))));
            return Exit::ok;
        }
        const Glyphs glyphs = context.out.glyphs;
        const double now = instance_now(client);
        Table table = context.args.has("long") ? long_table(*jobs, glyphs) : short_table(*jobs, glyphs, now);
        if (table.empty()) {
            const bool is_chosen =
                context.args.has("user") || context.args.has("queue") || context.args.has("partition");
            context.note(is_chosen ? "None of these jobs is pending." : "No job is pending.");
        } else {
            context.print(table.text(context.out) + places_text(*jobs) + words_text(*jobs) +
                          (context.args.has("long") ? "" : sign_text(*jobs, now) + empty_text(*jobs, now)));
        }
        if (const std::string unranked = unranked_text(client, context.args);
            !unranked.empty() && !context.args.has("partition")) {
            context.note(unranked + ".");
        }
        return Exit::ok;
    });
}

}  // namespace

Command prio_list_command() {
    Command command;
    command.name = "prio list";
    command.summary = "pending jobs in the order in which they would start";
    command.examples = {
        "weir prio list  # the first fifty, with the scheduler's estimated start",
        "weir prio list -u alice --long  # jobs of one user, with the contribution of each factor",
        "weir prio list --partition batch --json  # the jobs pending in one partition, with all factors"};
    command.options = {{"user", 'u', "NAME", "jobs of one user"},
                       {"queue", 'q', "NAME", "jobs of one queue"},
                       {"partition", 'p', "NAME", "jobs in one partition: a queue that it serves, or its job id"},
                       {"count", 'c', "N", "at most N (default 50; 0: all)", Kind::integer, 0, 1 << 30},
                       {"long", 'l', "", "all columns: the contribution of each factor", Kind::flag}};
    command.run = run_list;
    return command;
}

}  // namespace weir::cmd
