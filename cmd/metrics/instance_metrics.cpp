// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of metrics.
#include "cmd/metrics/instance_metrics.hpp"

#include <map>
#include <optional>

#include "cmd/common/instances.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/metrics/open_metrics.hpp"

namespace weir::cmd {
namespace {

/// What the modules answer; empty where one does not.
struct Answers {
    Json metrics, stats, jobs, route;
    bool is_refused_jobs = false;  ///< a guest in a private instance
};

Json answer_of(Client& client, const char* topic, const Json& payload = Json::object()) {
    auto answer = client.call(topic, payload, child_answer_s);
    return answer ? std::move(*answer) : Json();
}

Answers ask(Client& client, const Json& depth) {
    Answers answers{answer_of(client, "job-priority.metrics", depth),
                    answer_of(client, "job-priority.stats-get"),
                    {},
                    answer_of(client, "job-route.stats-get")};
    auto jobs = client.call("job-list.job-stats", Json::object(), child_answer_s);
    answers.is_refused_jobs = !jobs && jobs.error().code == std::errc::operation_not_permitted;
    answers.jobs = jobs ? std::move(*jobs) : Json();
    return answers;
}

/// One family with a sample for each path that has the member.
void add_shares(OpenMetrics& out, const json_t* metrics) {
    struct Family {
        const char *name, *unit, *key, *help;
    };
    for (const Family& family :
         {Family{"weir_share_entitled_ratio", "ratio", "entitled", "Part of the machine that the path is entitled to."},
          Family{"weir_share_used_ratio", "ratio", "used", "Part of all decayed usage that is the path's."},
          Family{"weir_share_usage_core_seconds", "seconds", "usage_core_s",
                 "Decayed usage in core-seconds, or in the cost of jobs where billing weights are set."},
          Family{"weir_share_level", "", "level_fs",
                 "Level fair share: above 1 is below its share among its siblings."},
          Family{"weir_share_factor", "", "factor", "Fair-share factor, 0 to 1; users have one with --users."},
          Family{"weir_share_running_cores", "", "running_cores", "Cores that jobs of the path have now."}}) {
        out.gauge(family.name, family.unit, family.help);
        for (const json_t* node : items_at(metrics, "nodes")) {
            if (has_number(node, family.key)) {
                out.sample(number_at(node, family.key), {{"path", text_at(node, "path")}});
            }
        }
    }
    out.gauge("weir_share_tree_revision", "", "Revision of the share tree that is in force.");
    out.sample(number_at(metrics, "revision"));
    out.gauge("weir_share_paths_left_out", "", "Paths without series: there are more than the bound.");
    out.sample(number_at(metrics, "left_out"));
    out.gauge("weir_share_evaluated_timestamp_seconds", "seconds",
              "When the shares above were evaluated, of the instance's clock.");
    if (has_number(metrics, "evaluated_at")) {
        out.sample(number_at(metrics, "evaluated_at"));
    }
}

void add_timing(OpenMetrics& out, const json_t* metrics, const char* key, const std::string& name,
                const std::string& help) {
    const json_t* timing = json_object_get(metrics, key);
    out.summary(name, "seconds", help);
    out.sum_and_count(number_at(timing, "total_s"), integer_at(timing, "count"));
}

void add_work(OpenMetrics& out, const json_t* metrics, const json_t* stats) {
    const json_t* waits = json_object_get(metrics, "waits");
    std::vector<double> bounds;
    std::vector<std::int64_t> counts;
    for (const json_t* bound : items_at(waits, "bounds_s")) {
        bounds.push_back(json_number_value(bound));
    }
    for (const json_t* count : items_at(waits, "counts")) {
        counts.push_back(json_integer_value(count));
    }
    out.histogram("weir_job_wait_seconds", "seconds", "Waits from submission to allocation, of the instance's clock.");
    out.buckets(bounds, counts, number_at(waits, "sum_s"));
    add_timing(out, metrics, "passes", "weir_priority_pass_seconds", "Full passes over the pending jobs.");
    add_timing(out, metrics, "pushes", "weir_priority_push_seconds",
               "Requests to the jobtap plugin, to their answers.");
    add_timing(out, metrics, "commits", "weir_state_commit_seconds", "Transactions of the state file.");
    add_timing(out, metrics, "reports", "weir_link_report_seconds",
               "Reports of usage to the parent, to their acknowledgements.");
    out.gauge("weir_state_commit_lag_seconds", "seconds", "Age of the oldest change that is not in the state file.");
    out.sample(number_at(metrics, "commit_lag_s"));
    out.counter("weir_state_commit_failures", "", "Tries to write the state file that failed.");
    out.sample(number_at(stats, "state_failures"));
    out.gauge("weir_priority_plugin_up", "", "1: the jobtap plugin answers.");
    out.sample(text_at(stats, "plugin") == "present" ? 1 : 0);
    out.gauge("weir_priority_synced", "", "1: the job journal has been read.");
    out.sample(json_is_true(json_object_get(stats, "synced")) ? 1 : 0);
    const json_t* uplink = json_object_get(stats, "uplink");
    if (const std::string state = text_at(uplink, "state"); !state.empty() && state != "none") {
        out.gauge("weir_link_up", "", "1: this instance is attached to its parent.");
        out.sample(state == "attached" ? 1 : 0);
        out.gauge("weir_link_unacknowledged_records", "", "Records of usage that the parent has not acknowledged.");
        out.sample(number_at(uplink, "unacknowledged"));
    }
}

void add_jobs(OpenMetrics& out, const json_t* stats) {
    out.gauge("weir_queue_jobs", "", "Jobs of a queue by state; queue \"\" is that of an instance without queues.");
    std::map<std::string, const json_t*> queues;
    for (const json_t* queue : items_at(stats, "queues")) {
        queues[text_at(queue, "name")] = json_object_get(queue, "job_states");
    }
    if (queues.empty()) {
        queues[""] = json_object_get(stats, "job_states");
    }
    for (const auto& [name, states] : queues) {
        out.sample(number_at(states, "depend") + number_at(states, "priority") + number_at(states, "sched"),
                   {{"queue", name}, {"state", "pending"}});
        out.sample(number_at(states, "run") + number_at(states, "cleanup"), {{"queue", name}, {"state", "running"}});
    }
}

/// Of all instances of one partition: after a change the old one ends with its last job, beside the new one.
struct PartitionSums {
    bool is_up = false;    ///< any serves
    bool is_known = true;  ///< false: the other sums are not, for an instance did not answer
    std::int64_t pending = 0, running = 0, cores = 0;
    std::optional<std::int64_t> cores_busy = 0;  ///< absent: an instance did not tell
    std::optional<EstimateErrors> estimates;
};

/// By the partitions' names. What is no partition has no series.
std::map<std::string, PartitionSums> partition_sums(const Instance& top) {
    std::map<std::string, PartitionSums> partitions;
    for (const Instance& child : top.children) {
        if (child.partition.empty()) {
            continue;
        }
        PartitionSums& sums = partitions[child.partition];
        sums.is_up = sums.is_up || ((child.problem.empty() || child.is_told) && child.lost_since == 0);
        sums.pending += child.jobs.pending;
        sums.running += child.jobs.running;
        sums.cores += child.cores;
        sums.is_known = sums.is_known && (child.is_told || child.cores_busy);
        sums.cores_busy =
            sums.cores_busy && child.cores_busy ? std::optional(*sums.cores_busy + *child.cores_busy) : std::nullopt;
        if (child.estimates) {
            EstimateErrors& estimates = sums.estimates ? *sums.estimates : sums.estimates.emplace();
            estimates.count += child.estimates->count;
            estimates.total_s += child.estimates->total_s;
        }
    }
    return partitions;
}

void add_estimates(OpenMetrics& out, const std::optional<EstimateErrors>& own,
                   const std::map<std::string, PartitionSums>& partitions) {
    out.summary(
        "weir_sched_estimate_error_seconds", "seconds",
        "From a head job's first estimated start to its start, early or late, in a partition; without a name it is "
        "this instance.");
    if (own) {
        out.sum_and_count(own->total_s, own->count, {{"partition", ""}});
    }
    for (const auto& [name, sums] : partitions) {
        if (sums.estimates) {
            out.sum_and_count(sums.estimates->total_s, sums.estimates->count, {{"partition", name}});
        }
    }
}

void add_partitions(OpenMetrics& out, const std::map<std::string, PartitionSums>& partitions) {
    out.gauge("weir_partition_up", "", "1: an instance that serves the partition answers and is attached.");
    for (const auto& [name, sums] : partitions) {
        out.sample(sums.is_up ? 1 : 0, {{"partition", name}});
    }
    out.gauge("weir_partition_jobs", "", "Jobs in the partition by state.");
    for (const auto& [name, sums] : partitions) {
        if (sums.is_known) {
            out.sample(static_cast<double>(sums.pending), {{"partition", name}, {"state", "pending"}});
            out.sample(static_cast<double>(sums.running), {{"partition", name}, {"state", "running"}});
        }
    }
    out.gauge("weir_partition_cores", "", "Cores of the partition, and those that jobs have.");
    for (const auto& [name, sums] : partitions) {
        if (sums.is_known) {
            out.sample(static_cast<double>(sums.cores), {{"partition", name}, {"state", "all"}});
        }
        if (sums.cores_busy) {
            out.sample(static_cast<double>(*sums.cores_busy), {{"partition", name}, {"state", "busy"}});
        }
    }
}

}  // namespace

std::string instance_metrics(Client& client, const MetricsOptions& options) {
    Json payload = Json::object();
    payload.set("depth", options.depth).set("users", options.with_users);
    const Answers answers = ask(client, payload);
    OpenMetrics out;
    out.gauge("weir_up", "", "1: the module answers.");
    out.sample(answers.metrics && answers.stats ? 1 : 0, {{"module", "job-priority"}});
    out.sample(answers.jobs || answers.is_refused_jobs ? 1 : 0, {{"module", "job-list"}});
    out.sample(answers.route ? 1 : 0, {{"module", "job-route"}});
    if (answers.metrics && answers.stats) {
        add_shares(out, answers.metrics.get());
        add_work(out, answers.metrics.get(), answers.stats.get());
    }
    if (answers.jobs) {
        add_jobs(out, answers.jobs.get());
    }
    const Instance top = instance_tree(client);
    const std::map<std::string, PartitionSums> partitions = partition_sums(top);
    add_estimates(out, top.estimates, partitions);
    if (answers.route) {
        add_partitions(out, partitions);
    }
    return out.str();
}

}  // namespace weir::cmd
