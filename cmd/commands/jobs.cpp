// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir jobs`: pending, running and ended jobs, with priority and place in the queue.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/instance_clock.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/table.hpp"

namespace weir::cmd {
namespace {

/// In the job's own queue. The job-manager has 0 as the priority of a job that a limit holds back, and places in place
/// of the priorities of the first jobs (`push = "head"`).
struct Place {
    std::int64_t rank = 0;
    std::int64_t of = 0;
    std::int64_t priority = -1;  ///< -1: not told
    bool is_held_back = false;   ///< it comes after all others
};
using Ranks = std::map<std::uint64_t, Place>;

/// The columns beside job-list's attributes.
struct Beside {
    Ranks ranks;
    std::map<std::uint64_t, JobIds> ids;
    std::map<std::uint64_t, std::string> partitions;  ///< by the partition's job
};

std::string time_text(const Job& job, double now) {
    if (job.run <= 0) {
        return "";
    }
    const double end = job.cleanup > 0 ? job.cleanup : job.inactive > 0 ? job.inactive : now;
    return duration_text(duration_from_seconds(std::max(0.0, end - job.run)));
}

/// Its other ids: "batch, there ƒ7J4Ab", "ƒ7J4Ab at the parent".
std::string elsewhere_text(const Job& job, const Beside& beside) {
    const auto ids = beside.ids.find(job.id);
    if (ids == beside.ids.end()) {
        return "";
    }
    std::string text;
    if (ids->second.child != 0) {
        const auto name = beside.partitions.find(ids->second.child);
        text = name != beside.partitions.end() ? name->second : job_name(ids->second.child);
        text += ids->second.below != 0 ? ", there " + job_name(ids->second.below) : "";
    }
    const std::string above = ids->second.above != 0 ? job_name(ids->second.above) + " at the parent" : "";
    return text + (text.empty() || above.empty() ? "" : ", ") + above;
}

std::int64_t priority_of(const Job& job, const Ranks& ranks) {
    const auto place = ranks.find(job.id);
    return place != ranks.end() && place->second.priority >= 0 ? place->second.priority : job.priority;
}

std::string state_info_text(const Job& job, const Ranks& ranks) {
    if (!job.note.empty()) {
        return job.note;
    }
    if ((job.state & FLUX_JOB_STATE_PENDING) == 0) {
        return ending_reason(job);
    }
    if (job.urgency == 0) {
        return "held; weir nice " + job_name(job.id) + " 0 lets it go";
    }
    const auto rank = ranks.find(job.id);
    const std::string place = rank == ranks.end()         ? ""
                              : rank->second.is_held_back ? "held back; weir why " + job_name(job.id) + " says why"
                                                          : "place " + std::to_string(rank->second.rank) + " of " +
                                                                std::to_string(rank->second.of);
    return job.urgency == 31 ? "expedited" + (place.empty() ? "" : ", " + place) : place;
}

std::string info_text(const Job& job, const Beside& beside) {
    const std::string state = state_info_text(job, beside.ranks), elsewhere = elsewhere_text(job, beside);
    return state + (state.empty() || elsewhere.empty() ? "" : "; ") + elsewhere;
}

void set_ids(Json& entry, const JobIds& ids) {
    const std::pair<const char*, std::uint64_t> others[] = {
        {"parent_id", ids.above}, {"child", ids.child}, {"child_id", ids.below}};
    for (const auto& [name, id] : others) {
        if (id != 0) {
            entry.set(name, id);
        }
    }
}

Json json_of(const Job& job, const Users& users, const Beside& beside) {
    const Ranks& ranks = beside.ranks;
    Json entry = Json::object();
    entry.set("id", job.id).set("job", job_name(job.id));
    entry.set("user", users.name(job.userid)).set("userid", job.userid).set("account", job.account);
    entry.set("queue", job.queue).set("name", job.name).set("state", state_text(job));
    entry.set("urgency", job.urgency)
        .set("priority", job.priority)
        .set("cores", job.cores)
        .set("t_submit", job.submitted);
    if (job.nodes > 0) {
        entry.set("nodes", job.nodes);
    }
    if (const auto rank = ranks.find(job.id); rank != ranks.end()) {
        entry.set("rank", rank->second.rank).set("of", rank->second.of);
        entry.set("is_held_back", rank->second.is_held_back);
        entry.set("priority", priority_of(job, ranks));
    }
    const std::pair<const char*, double> times[] = {
        {"t_run", job.run}, {"t_cleanup", job.cleanup}, {"t_inactive", job.inactive}, {"duration", job.duration}};
    for (const auto& [name, value] : times) {
        if (value > 0) {
            entry.set(name, value);
        }
    }
    if (!job.note.empty()) {
        entry.set("note", job.note);
    }
    if (const auto code = exit_code_of(job)) {
        entry.set("exit_code", *code);
    }
    if (const auto signal = signal_of(job)) {
        entry.set("signal", *signal);
    }
    if (const auto ids = beside.ids.find(job.id); ids != beside.ids.end()) {
        set_ids(entry, ids->second);
    }
    return entry;
}

/// The places of the pending ones of `jobs`, from job-priority; empty if the module is not loaded.
Ranks queue_ranks(Client& client, const std::vector<Job>& jobs) {
    Json ids = Json::array();
    for (const Job& job : jobs) {
        if ((job.state & FLUX_JOB_STATE_PENDING) != 0) {
            ids.append(Json::own(json_integer(static_cast<json_int_t>(job.id))));
        }
    }
    Ranks ranks;
    if (json_array_size(ids.get()) == 0) {
        return ranks;
    }
    Json request = Json::object();
    request.set("ids", std::move(ids));
    if (auto answer = client.call("job-priority.places", request)) {
        for (const json_t* place : items_at(answer->get(), "places")) {
            const auto number = [place](std::size_t i) { return json_integer_value(json_array_get(place, i)); };
            const bool has_priority = json_array_size(place) > 3;  // not from an older module
            ranks[static_cast<std::uint64_t>(number(0))] = {number(1), number(2), has_priority ? number(3) : -1,
                                                            json_is_true(json_array_get(place, 4))};
        }
    }
    return ranks;
}

std::map<std::uint64_t, JobIds> other_ids(Client& client, const std::vector<Job>& jobs) {
    std::vector<std::uint64_t> ids;
    for (const Job& job : jobs) {
        ids.push_back(job.id);
    }
    return ids_of(client, ids);
}

/// A job that asks for whole nodes has no number of cores until it has them.
std::string size_text(const Job& job) {
    return job.cores > 0 || job.nodes == 0 ? std::to_string(job.cores)
                                           : std::to_string(job.nodes) + (job.nodes == 1 ? " node" : " nodes");
}

Table empty_table() {
    return Table({{"job"},
                  {"user"},
                  {"account", Align::left, 2, 8},
                  {"queue", Align::left, 3},
                  {"name", Align::left, 5, 6},
                  {"state"},
                  {"cores", Align::right},
                  {"priority", Align::right, 1},
                  {"time", Align::right},
                  {"info", Align::left, 4, 10}});
}

std::vector<std::string> row_of(const Job& job, const Users& users, const Beside& beside, double now, Glyphs glyphs) {
    const std::int64_t priority = priority_of(job, beside.ranks);
    const bool shows_priority = (job.state & FLUX_JOB_STATE_PENDING) != 0 && priority >= 0;
    return {job_name(job.id, glyphs.unicode),
            users.name(job.userid),
            job.account,
            job.queue,
            job.name,
            state_text(job),
            size_text(job),
            shows_priority ? std::to_string(priority) : "",
            time_text(job, now),
            info_text(job, beside)};
}

/// Pending jobs of one queue by their places, in the lines that they have. The job-manager lists a job that a limit
/// holds back after the held ones; those without a place come last.
void sort_pending(std::vector<Job>& jobs, const Ranks& ranks) {
    std::map<std::string, std::vector<std::size_t>> lines_of;
    for (std::size_t line = 0; line < jobs.size(); ++line) {
        if ((jobs[line].state & FLUX_JOB_STATE_PENDING) != 0) {
            lines_of[jobs[line].queue].push_back(line);
        }
    }
    const auto place = [&ranks](const Job& job) {
        const auto rank = ranks.find(job.id);
        return rank == ranks.end() ? std::numeric_limits<std::int64_t>::max() : rank->second.rank;
    };
    for (const auto& [queue, lines] : lines_of) {
        std::vector<Job> sorted;
        for (const std::size_t line : lines) {
            sorted.push_back(std::move(jobs[line]));
        }
        std::stable_sort(sorted.begin(), sorted.end(), [&](const Job& a, const Job& b) { return place(a) < place(b); });
        for (std::size_t i = 0; i < lines.size(); ++i) {
            jobs[lines[i]] = std::move(sorted[i]);
        }
    }
}

/// Requests one job more than is shown, to know whether there are more.
Exit show(Context& context, Client& client, JobQuery query, const Users& users) {
    const std::int64_t shown_max = std::exchange(query.limit, query.limit == 0 ? 0 : query.limit + 1);
    auto listed = list_users_jobs(client, query);
    if (!listed) {
        return context.fail(listed.error());
    }
    std::vector<Job>& jobs = *listed;
    const bool is_cut = shown_max != 0 && static_cast<std::int64_t>(jobs.size()) > shown_max;
    if (is_cut) {
        jobs.resize(static_cast<std::size_t>(shown_max));
    }
    const Beside beside{queue_ranks(client, jobs), other_ids(client, jobs), partition_names(client)};
    sort_pending(jobs, beside.ranks);
    const double now = instance_now(client);
    Json list = Json::array();
    Table table = empty_table();
    for (const Job& job : jobs) {
        if (context.json) {
            list.append(json_of(job, users, beside));
        } else {
            table.add(row_of(job, users, beside, now, context.out.glyphs));
        }
    }
    if (context.json) {
        Json answer = Json::object();
        answer.set("jobs", std::move(list)).set("has_more", is_cut);
        context.print(json_text("weir.jobs/1", answer));
    } else if (table.empty()) {
        context.note((query.states & FLUX_JOB_STATE_INACTIVE) != 0
                         ? "No jobs."
                         : "No jobs are pending or running. For ended jobs: weir jobs -a");
    } else {
        context.print(table.text(context.out));
    }
    if (is_cut) {
        context.note("There are more than these " + std::to_string(shown_max) + "; -c N shows N of them, -c 0 all.");
    }
    return Exit::ok;
}

Exit run_jobs(Context& context) {
    const Args& args = context.args;
    return with_instance(context, [&](Client& client) {
        const Users users = Users::of(client);
        JobQuery query;
        query.limit = args.integer("count", 1000);
        query.queue = args.text("queue");
        query.states |= args.has("all") ? FLUX_JOB_STATE_INACTIVE : 0;
        if (args.has("user")) {
            auto userid = users.id(args.text("user"));
            if (!userid) {
                return context.fail(userid.error());
            }
            query.userid = *userid;
        }
        const bool may_be_former = args.has("all");  // ended jobs name queues that are gone
        if (query.queue.empty() || may_be_former) {
            return show(context, client, query, users);
        }
        if (const Status known = check_queue(client, query.queue); !known) {
            return context.fail(known.error());
        }
        return show(context, client, query, users);
    });
}

}  // namespace

Command jobs_command() {
    Command command;
    command.name = "jobs";
    command.summary = "list pending and running jobs";
    command.examples = {"weir jobs  # pending jobs in queue order, and running jobs",
                        "weir jobs -a -c 20  # also ended jobs, at most twenty",
                        "weir jobs -u alice --json  # jobs of one user, as JSON for a program"};
    command.options = {{"all", 'a', "", "also list ended jobs", Kind::flag},
                       {"user", 'u', "NAME", "jobs of one user"},
                       {"queue", 'q', "NAME", "jobs of one queue"},
                       {"count", 'c', "N", "at most N (default 1000; 0: all)", Kind::integer, 0, 1 << 30}};
    command.run = run_jobs;
    return command;
}

}  // namespace weir::cmd
