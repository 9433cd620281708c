// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the facts restated from Slurm's own test suite, as far as a library can answer them. Must not know a formula.
// What its tools print, parse and refuse (sprio's and sshare's options, scontrol's ranges, top, salloc) is not asked.
#include <cmath>
#include <set>
#include <stdexcept>

#include "libsched/priority/explain.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_billing.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

constexpr double machine_cpus = 8;

/// Two accounts, QoS and partitions, numbered 1 and 2 as in the suite.
struct SuiteSite {
    PrioritySettings settings;

    SuiteSite(const Value* config, std::vector<double> association, std::vector<double> qos,
              std::vector<double> partition) {
        slurm::PriorityWeights weights;
        weights.assoc = number_at(config, "PriorityWeightAssoc");
        weights.job_size = number_at(config, "PriorityWeightJobSize");
        weights.partition = number_at(config, "PriorityWeightPartition");
        weights.qos = number_at(config, "PriorityWeightQOS");
        settings = slurm::priority_settings(slurm::priority_flags(text_at(config, "PriorityFlags")), false, weights);
        const std::string tres = text_at(config, "PriorityWeightTRES");  // "cpu=4000000"
        settings.resources = {{"cpu", std::stod(tres.substr(tres.find('=') + 1)), {machine_cpus}}};
        settings.association_priority = std::move(association);
        settings.qos_priority = std::move(qos);
        settings.queue_priority = std::move(partition);
    }

    /// The breakdown of a job of the account, QoS and partition with that index.
    Breakdown job(std::uint32_t index, double cpus, std::optional<std::uint32_t> given = std::nullopt) const {
        PriorityEngine engine{settings};
        JobInputs inputs;
        inputs.association = index;
        inputs.qos = static_cast<std::uint8_t>(index);
        inputs.queue = static_cast<std::uint16_t>(index);
        inputs.cores = static_cast<std::uint32_t>(cpus);
        inputs.extras.resources[0] = cpus;
        inputs.extras.given = given;
        return breakdown(engine, engine.insert(inputs), Instant{}, {});
    }
};

double points(const Breakdown& parts, Factor factor) {
    return parts.terms[index_of(factor)].contribution;
}

void compare(Report& report, const Value* row, const Breakdown& parts) {
    report.number("assoc", number_at(row, "assoc"), points(parts, Factor::association), 0);
    report.number("part", number_at(row, "part"), points(parts, Factor::queue), 0);
    report.number("qos", number_at(row, "qos"), points(parts, Factor::qos), 0);
    if (find(row, "cpu") != nullptr) {
        report.number("cpu", number_at(row, "cpu"), points(parts, Factor::resources), 0);
    }
}

void read_no_normal(const Value* test, Report& report) {
    const Value* partitions = member(test, "partitions");
    const double association = number_at(test, "assoc_priority");
    const double qos = number_at(test, "qos_priority");
    const SuiteSite site{member(test, "config"),
                         {0, association, association},
                         {0, qos, qos},
                         {0, number_at(partitions, "p1"), number_at(partitions, "p2")}};
    for (const Value* row : each(member(test, "expected"))) {
        const std::string job = text_at(row, "job");
        report.begin("test24.6 " + job);
        const bool has_both = find(row, "rows") != nullptr;
        std::int64_t rows = 0;
        if (find(row, "tres") != nullptr) {
            report.text("tres", text_at(row, "tres"), "cpu=C");
        }
        for (const std::uint32_t index : {1U, 2U}) {
            const std::string partition = "p" + std::to_string(index);
            if (has_both || job.ends_with(partition)) {
                ++rows;
                const Breakdown parts = site.job(index, 4);
                compare(report, has_both ? member(row, partition.c_str()) : row, parts);
                report.number("tres cpu", 4, points(parts, Factor::resources), 0);  // "cpu=C", here of 4 CPUs
            }
        }
        report.integer("rows", has_both ? integer_at(row, "rows") : 1, rows);
    }
}

void read_normal(const Value* test, Report& report) {
    const Value* config = member(test, "config");
    const Value* first = member(test, "test1");
    const auto pair = [&](const char* key, const char* one, const char* two) {
        const Value* values = member(first, key);
        return std::vector<double>{0, number_at(values, one), number_at(values, two)};
    };
    const SuiteSite site{config, pair("assoc_priorities", "ta1", "ta2"), pair("qos", "tq1", "tq2"),
                         pair("partitions", "p1", "p2")};
    const SuiteSite lowered{
        config, {0, 2000000, 2000000}, {0, 2000000, 2000000}, {0, 30000, 30000}};  // as test2 changes it
    const auto jobs = [&](const char* name, const SuiteSite& at) {
        for (const auto& [key, row] : entries(member(test, name))) {
            const std::string job = key;
            if (!job.starts_with("job ")) {
                continue;  // what the test sets up
            }
            report.begin("test24.7 " + std::string{name} + " " + job);
            const bool is_full = job.find("full") != std::string::npos;
            const Breakdown parts =
                at.job(job.find("p1/") != std::string::npos ? 1 : 2, is_full ? machine_cpus : machine_cpus / 2);
            compare(report, row, parts);
            const Value* norm = find(row, "norm");
            for (std::size_t i = 0; i < size_of(norm); ++i) {
                constexpr Factor factors[] = {Factor::association, Factor::queue, Factor::qos, Factor::resources};
                const Term& term = parts.terms[index_of(factors[i])];
                const double weight = factors[i] == Factor::resources ? at.settings.resources[0].weight : 1;
                report.number("norm", number_of(item(norm, i)), term.factor / weight, 0);
            }
        }
    };
    jobs("test1", site);
    jobs("test2", lowered);
    jobs("test3", site);
    report.begin("test24.7 test4");
    const Value* given = member(member(test, "test4"), "sprio");
    const Breakdown parts = site.job(2, machine_cpus / 2, static_cast<std::uint32_t>(integer_at(given, "priority")));
    report.integer("priority", integer_at(given, "priority"), parts.priority);
    report.number("fairshare", number_at(given, "fairshare"), points(parts, Factor::fairshare), 0);
    report.number("jobsize", number_at(given, "jobsize"), points(parts, Factor::size), 0);
    report.number("age", number_at(given, "age"), points(parts, Factor::wait), 0);
    report.number("site", number_at(given, "site"), points(parts, Factor::site), 0);
    report.leave(find(given, "nice"), "nice values, which a job with a given priority has not");
    compare(report, given, parts);
}

}  // namespace

void read_slurm_suite(const Value* document, Report& report) {
    static const std::set<std::string> about_tools{"source",    "test24.5_sitefactor",   "test25.1_113_x_sprio",
                                                   "test15.11", "test2.26_scontrol_top", "test_131_1"};
    for (const auto& [key, test] : entries(document)) {
        const std::string name = key;
        if (name.starts_with("test24.6")) {
            read_no_normal(test, report);
        } else if (name.starts_with("test24.7")) {
            read_normal(test, report);
        } else if (name == "test_130_3") {
            report.begin("test_130_3: equal jobs have the same priority, a held one 0");
            PrioritySettings settings;
            PriorityEngine engine{settings};
            JobInputs job;
            const auto one = engine.insert(job);
            const auto two = engine.insert(job);
            job.urgency = 0;
            report.integer("equal", engine.priority(one, Instant{}, {}), engine.priority(two, Instant{}, {}));
            report.integer("held", 0, engine.priority(engine.insert(job), Instant{}, {}));
        } else if (name == "test_144_8") {
            report.begin("test_144_8: without weights the bill is the cores");
            report.number("cpu=2", 2, slurm_cost("", "cpu=2,gres/gpu=1", ""), 0);
            report.number("cpu=4", 4, slurm_cost("", "cpu=4,gres/gpu=1", ""), 0);
        } else if (about_tools.contains(name)) {
            report.leave(test, "facts about what the tools print, parse and refuse");
        } else {
            throw std::runtime_error{"a test of another kind: " + name};
        }
    }
}

}  // namespace weir::oracle
