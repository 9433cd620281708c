// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_figures.hpp.
#include "cmd/sim/partition_figures.hpp"

#include "cmd/common/table.hpp"
#include "cmd/common/text.hpp"

namespace weir::cmd {

namespace {

void add(std::vector<PartitionFigures>& figures, const std::vector<SimPartition>& partitions,
         std::optional<std::size_t> around) {
    const std::string above = around ? figures[*around].name + "/" : "";
    for (const SimPartition& one : partitions) {
        const std::string scheduler = one.partitions.empty() ? name_of(one.scheduler) : std::string();
        figures.push_back({above + one.name, scheduler, one.cores, {}, around});
        add(figures, one.partitions, figures.size() - 1);
    }
}

}  // namespace

std::vector<PartitionFigures> no_figures(const SimTree& tree) {
    std::vector<PartitionFigures> figures;
    add(figures, tree.partitions, std::nullopt);
    return figures;
}

void add_outcome(std::vector<PartitionFigures>& partitions, const Outcome& outcome) {
    for (std::optional<std::size_t> at = outcome.job.partition - 1U; at; at = partitions[*at].around) {
        partitions.at(*at).totals.add(outcome);
    }
}

std::string partitions_table(const std::vector<PartitionFigures>& partitions, Duration makespan, const Screen& screen) {
    const auto right = [](const char* title, int drop) { return Column{title, Align::right, drop}; };
    Table table({{"partition"},
                 right("cores", 1),
                 right("jobs", 0),
                 right("wait, mean", 0),
                 right("longest", 2),
                 right("slowdown, mean", 0),
                 right("greatest", 3),
                 right("utilisation", 0)});
    for (const PartitionFigures& one : partitions) {
        const Totals& totals = one.totals;
        table.add({printable(one.name), grouped(one.cores), grouped(static_cast<std::int64_t>(totals.jobs())),
                   duration_text(duration_from_seconds(totals.wait_mean_s())), duration_text(totals.wait_max()),
                   fixed(totals.slowdown_mean(), 2), fixed(totals.slowdown_max(), 1),
                   percent(totals.utilization(one.cores, makespan))});
    }
    return table.text(screen);
}

Json partitions_json(const std::vector<PartitionFigures>& partitions, Duration makespan) {
    Json out = Json::array();
    for (const PartitionFigures& one : partitions) {
        const Totals& totals = one.totals;
        Json partition = Json::object();
        partition.set("name", one.name)
            .set("cores", static_cast<long long>(one.cores))
            .set("scheduler", one.scheduler)
            .set("jobs", totals.jobs())
            .set("wait_s", mean_and_max(totals.wait_mean_s(), to_seconds(totals.wait_max())))
            .set("bounded_slowdown", mean_and_max(totals.slowdown_mean(), totals.slowdown_max()))
            .set("utilization", totals.utilization(one.cores, makespan));
        out.append(std::move(partition));
    }
    return out;
}

Json mean_and_max(double mean, double max) {
    Json out = Json::object();
    out.set("mean", mean).set("max", max);
    return out;
}

void add_refused(Skipped& refused, const SimJob& job, const Refusal& refusal) {
    refused.add(refusal.kind, "job " + std::to_string(job.number) + " " + refusal.why);
}

}  // namespace weir::cmd
