// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests to each service.
#include "cmd/common/instance_facts.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/routed.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"
#include "cmd/view/share_rows.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t scene_rows = 15;
constexpr std::int64_t ended_jobs_max = 5000;

/// Fills in the paths of associations by "account/@user" and by path, and by "@user" for jobs that name no account: the
/// first in the order of the rows. What stays empty has none. O(rows), of which there may be a hundred thousand.
void find_leaves(const std::vector<ShareRow>& rows, std::unordered_map<std::string, std::string>& leaves) {
    const auto put = [&leaves](const std::string& key, const std::string& path) {
        if (const auto wanted = leaves.find(key); wanted != leaves.end() && wanted->second.empty()) {
            wanted->second = path;
        }
    };
    for (const ShareRow& row : rows) {
        const std::size_t at = row.path.rfind("/@");
        if (at != std::string::npos && !leaves.empty()) {
            const std::size_t above = at == 0 ? std::string::npos : row.path.rfind('/', at - 1);
            put(row.path.substr(above == std::string::npos ? 0 : above + 1), row.path);
            put(row.path.substr(at + 1), row.path);
            put(row.path, row.path);
        }
    }
}

/// The jobs that ran, from those that the instance still lists. Partitions are left out, since their jobs are listed.
Status add_charges(Client& client, const Users& users, double now, InstanceFacts& facts) {
    std::unordered_map<std::string, std::string> leaves;
    std::vector<std::string> keys;  // of the charges
    const auto partitions = partition_jobs(client);
    if (!partitions) {
        return partitions.error();
    }
    JobQuery query;
    query.states = FLUX_JOB_STATE_RUNNING;
    query.states |= FLUX_JOB_STATE_INACTIVE;
    query.limit = ended_jobs_max;
    double oldest_end = now;
    const auto done = list_jobs(client, query, [&](const Job& job) {
        oldest_end = job.inactive > 0 ? std::min(oldest_end, job.inactive) : oldest_end;
        if (job.run <= 0 || partitions->count(job.id) > 0) {
            return;
        }
        const std::string user = "@" + users.name(job.userid);
        keys.push_back(job.account.empty() ? user : job.account + "/" + user);
        leaves.emplace(keys.back(), "");
        const double end = job.cleanup > 0 ? job.cleanup : job.inactive > 0 ? job.inactive : now;
        facts.charges.push_back({"", static_cast<double>(job.cores), job.run - now, std::min(0., end - now)});
    });
    find_leaves(facts.rows, leaves);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        facts.charges[i].path = leaves.at(keys[i]);
    }
    // Jobs are forgotten oldest first, so every job that ended after the oldest one that is listed is listed, too.
    facts.known_since_s = oldest_end - now;
    return done;
}

/// The scheduler's answer about a pending job, from the instance in which it waits; empty without an answer.
/// `unasked`: children that are not asked; one that hangs becomes one of them.
Json schedulers_answer(Client& client, std::uint64_t id, std::set<std::uint64_t>& unasked) {
    Json payload = Json::object();
    payload.set("id", id);
    if (auto answer = client.call("sched.why", payload)) {
        return std::move(*answer);
    }
    const auto place = client.call("job-route.locate", payload);
    const std::uint64_t child = place ? id_at(place->get(), "child") : 0;
    if (child == 0 || unasked.count(child) > 0) {
        return {};
    }
    auto told = ask_about(client, id, "sched.why", Json());
    if (told && told->error && told->error->code == std::errc::timed_out) {
        unasked.insert(child);
    }
    Json answer = told ? std::move(told->answer) : Json();
    if (answer) {
        answer.set("may_start_in", may_start_in(told->hops));
    }
    return answer;
}

PendingRow pending_row(Client& client, const json_t* entry, const std::string& reader, double now,
                       std::set<std::uint64_t>& unasked) {
    const auto id = static_cast<std::uint64_t>(integer_at(entry, "id"));
    PendingRow row;
    row.place = integer_at(entry, "rank");
    row.job = job_name(id);
    row.user = text_at(entry, "user");
    row.account = text_at(entry, "account");
    row.account = row.account.substr(row.account.rfind('/') + 1);
    row.queue = text_at(entry, "queue");
    row.priority = integer_at(entry, "priority");
    row.is_own = row.user == reader;
    if (const auto job = find_job(client, id)) {
        row.cores = job->cores;
        row.limit_s = job->duration;
    }
    const Json why = schedulers_answer(client, id, unasked);
    if (const double start = number_at(why.get(), "t_estimate"); start > 0) {
        row.start_s = std::max(0., start - now);
        row.may_move = json_array_size(json_object_get(why.get(), "may_start_in")) > 0;
    } else {
        row.note = why ? "behind " + std::to_string(std::max<std::int64_t>(0, integer_at(why.get(), "place") - 1)) +
                             " jobs; no estimate"
                       : "no estimate";
    }
    return row;
}

/// `way`: of the box around it.
InstanceBox box_of(const Instance& instance, const std::string& way) {
    InstanceBox box;
    box.name = instance_name(instance.name, instance.jobid);
    box.has_queues = !instance.name.empty();
    box.cores = instance.cores;
    box.cores_busy = instance.cores_busy;
    box.waiting = instance.jobs.pending;
    box.running = instance.jobs.running;
    box.problem = instance.lost_since > 0 ? "lost since " + local_time(instance.lost_since)
                  : instance.is_told      ? ""
                                          : instance.problem;
    if (instance.jobid != 0 && box.problem.empty() && !instance.is_told) {
        box.way = (way.empty() ? "" : way + "/") + std::to_string(instance.jobid);
    }
    for (const Instance& child : instance.children) {
        box.children.push_back(box_of(child, box.way));
    }
    return box;
}

JobTerms terms_of(const json_t* explained, std::uint64_t id) {
    JobTerms job;
    job.job = job_name(id);
    job.user = text_at(explained, "user");
    job.note =
        "place " + std::to_string(integer_at(explained, "rank")) + " of " + std::to_string(integer_at(explained, "of"));
    job.priority = integer_at(explained, "priority");
    for (const json_t* term : items_at(explained, "terms")) {
        job.terms.emplace_back(text_at(term, "name"), number_at(term, "contribution"));
    }
    return job;
}

/// The decay of usage, and the time since which the jobs explain it.
Status add_usage(Client& client, double now, InstanceFacts& facts) {
    const auto weights = client.call("job-priority.weights", Json::object());
    if (!weights) {
        return weights.error();
    }
    facts.decay = usage_decay_of(weights->get());
    const Status done = add_charges(client, Users::of(client), now, facts);
    if (facts.decay.is_window() || text_at(weights->get(), "charging") == "at-dispatch" ||
        json_is_true(json_object_get(weights->get(), "billed"))) {
        facts.known_since_s = 0;  // usage is not decayed core-seconds: the jobs do not explain it
    }
    return done;
}

}  // namespace

Result<std::pair<JobTerms, JobTerms>> two_jobs_of(Client& client, std::uint64_t id) {
    const auto explain = [&](std::uint64_t of) {
        Json payload = Json::object();
        payload.set("id", of);
        return client.call("job-priority.explain", payload);
    };
    const auto own = explain(id);
    if (!own) {
        return explained(own.error(), id, client, own.error().message);
    }
    if (integer_at(own->get(), "rank") == 0) {
        return Error{std::errc::no_such_file_or_directory,
                     job_name(id) + " is not pending: its priority has no further effect. See: weir prio list"};
    }
    Json first_two = Json::object();
    first_two.set("queue", text_at(own->get(), "queue")).set("limit", 2LL);
    const auto firsts = client.call("job-priority.list", first_two);
    if (!firsts) {
        return firsts.error();
    }
    for (const json_t* entry : items_at(firsts->get(), "jobs")) {
        const auto other = static_cast<std::uint64_t>(integer_at(entry, "id"));
        if (other == id) {
            continue;
        }
        const auto its = explain(other);
        if (!its) {
            return its.error();
        }
        auto mine = terms_of(own->get(), id), theirs = terms_of(its->get(), other);
        const bool is_first = integer_at(own->get(), "rank") < integer_at(its->get(), "rank");
        return is_first ? std::pair(std::move(mine), std::move(theirs)) : std::pair(std::move(theirs), std::move(mine));
    }
    return Error{std::errc::no_such_file_or_directory,
                 job_name(id) + " is the only pending job of its queue: no other is ahead of it"};
}

std::vector<ShareRow> share_rows_of(const ShareView& view) {
    std::vector<ShareRow> rows;
    for (const TreeRow& row : tree_rows(view.nodes, {})) {
        const ShareNode& node = view.nodes[row.index];
        rows.push_back({node.path, node.shares, node.entitled, node.used, node.usage_core_s, {}});
    }
    return rows;
}

Result<QueueScene> queue_scene(Client& client, const std::string& user, double now,
                               std::optional<std::uint32_t> guest) {
    Json question = Json::object();
    question.set("limit", scene_rows);
    const auto answer = client.call_for(guest, "job-priority.list", question);
    if (!answer) {
        return answer.error();
    }
    QueueScene scene;
    scene.pending = integer_at(answer->get(), "of");
    std::set<std::uint64_t> unasked;
    for (const ChildEntry& child : children_of(client)) {
        if (!may_open(child)) {
            unasked.insert(child.jobid);
        }
    }
    for (const json_t* entry : items_at(answer->get(), "jobs")) {
        scene.queue.push_back(pending_row(client, entry, user, now, unasked));
    }
    return scene;
}

InstanceBox instance_boxes(Client& client) {
    InstanceBox top = box_of(instance_tree(client), "");
    top.name = top_instance_name;  // one that does not answer has no level
    return top;
}

Result<InstanceFacts> usage_facts(Client& client, const ShareView& view) {
    InstanceFacts facts;
    facts.rows = share_rows_of(view);
    facts.all_core_s = view.all_core_s;
    const Status done = add_usage(client, view.now, facts);
    return done ? Result<InstanceFacts>(std::move(facts)) : Result<InstanceFacts>(done.error());
}

Result<InstanceFacts> instance_facts(Client& client, const FactsQuery& query) {
    const auto tree = client.call("job-priority.tree-get", Json::object());
    if (!tree) {
        return tree.error();
    }
    const double now = number_at(tree->get(), "now");
    const ShareView view = share_view_of(tree->get());
    auto scene = queue_scene(client, query.user, now);
    if (!scene) {
        return scene.error();
    }
    auto facts = usage_facts(client, view);
    if (!facts) {
        return facts.error();
    }
    facts->top = instance_boxes(client);
    facts->title = "Fair share on " + grouped(facts->top.cores) + " cores";
    facts->subtitle = "State of " + local_time(now) + ". Share tree revision " + std::to_string(view.revision) +
                      (view.author.empty() ? "" : " by " + printable(view.author)) +
                      (view.reason.empty() ? "." : ": " + printable(view.reason) + ".");
    facts->queue = std::move(scene->queue);
    facts->pending = scene->pending;
    if (query.job) {
        auto two_jobs = two_jobs_of(client, *query.job);
        if (!two_jobs) {
            return two_jobs.error();
        }
        facts->two_jobs = std::move(*two_jobs);
    }
    return facts;
}

}  // namespace weir::cmd
