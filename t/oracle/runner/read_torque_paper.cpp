// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the Torque/Maui node-load paper's numbers. Must not know the formula: libsched's load_threshold is asked.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "libsched/priority/load_threshold.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

LoadThreshold::Standing standing_of(const Case& one) {
    const LoadThreshold rule{one.number_or({"k"}, 1), one.number_or({"P_th"}, 55)};
    const double gain = rule.gained(seconds_of(number_at(one.inputs, "t_wait_s")), number_at(one.inputs, "E_resource"));
    return rule.standing(number_at(one.inputs, "Y"), gain);
}

void read_job(const Case& one, Report& report) {
    const LoadThreshold::Standing got = standing_of(one);
    expect(one, report, "raw", got.raw);
    expect(one, report, "P", got.priority);
    expect(one, report, "P_printed", got.priority);
    if (const Value* reserves = find(one.expected, "reserve")) {
        report.integer("reserve", is_true(reserves) ? 1 : 0, got.reserves ? 1 : 0);
    }
}

void read_score(const Case& one, Report& report) {
    const ResourceWeights weights{number_at(one.inputs, "W_CPU"), number_at(one.inputs, "W_RAM"),
                                  number_at(one.inputs, "CPU_min"), number_at(one.inputs, "RAM_min")};
    const ResourceScore got = resource_score({number_at(one.inputs, "CPU_load"), number_at(one.inputs, "CPU_speed"),
                                              number_at(one.inputs, "RAM_usage"), number_at(one.inputs, "RAM_size")},
                                             weights);
    expect(one, report, "E_CPU", got.cpu);
    expect(one, report, "E_RAM", got.ram);
    expect(one, report, "E", got.score);
}

void read_average(const Case& one, Report& report) {
    const LoadThreshold rule{one.number_or({"k"}, 1), one.number_or({"P_th"}, 55)};
    const auto expected = numbers_of(member(one.expected, "E"));
    std::size_t i = 0;
    for (const Value* pair : each(member(one.inputs, "pairs"))) {  // points gained, minutes
        const auto numbers = numbers_of(pair);
        const auto got = rule.average_score(0, numbers.at(0), seconds_of(numbers.at(1) * 60));
        report.number("E " + std::to_string(i), expected.at(i), got.value_or(-1), one.tol);
        ++i;
    }
}

/// Jobs by the last word of the id of the case that describes them ("torque-job1"), else as the paper prints them.
std::map<std::string, LoadThreshold::Standing> jobs_of(const Value* document) {
    const LoadThreshold rule;
    const auto printed = [&](double base, int seconds) {
        return rule.standing(base, rule.gained(std::chrono::seconds{seconds}, 1.25));
    };
    std::map<std::string, LoadThreshold::Standing> jobs{
        {"job1", printed(10, 120)}, {"job2", printed(15, 100)}, {"job3", printed(8, 238)}};
    for (const Value* entry : each(member(document, "cases"))) {
        const Case one{text_at(entry, "id"), member(entry, "inputs"), member(entry, "expected"), 0};
        if (one.has("t_wait_s")) {
            jobs[one.id.substr(one.id.rfind('-') + 1)] = standing_of(one);
        }
    }
    return jobs;
}

void read_order(const Value* document, const Case& one, Report& report) {
    const auto jobs = jobs_of(document);
    auto got = texts_of(member(one.inputs, "jobs"));
    std::stable_sort(got.begin(), got.end(), [&](const std::string& a, const std::string& b) {
        const auto& left = jobs.at(a);
        const auto& right = jobs.at(b);
        return left.priority != right.priority ? left.priority > right.priority : left.raw > right.raw;
    });
    const auto expected = texts_of(member(one.expected, "order"));
    report.integer("jobs", static_cast<std::int64_t>(expected.size()), static_cast<std::int64_t>(got.size()));
    for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
        report.text("place " + std::to_string(i), expected[i], got[i]);
    }
}

}  // namespace

void read_torque_paper(const Value* document, Report& report) {
    for_each_case(document, report, [&](const Case& one, Report& into) {
        if (one.has("jobs")) {
            read_order(document, one, into);
        } else if (one.has("t_wait_s")) {
            read_job(one, into);
        } else if (one.has("W_CPU")) {
            read_score(one, into);
        } else if (one.has("pairs")) {
            read_average(one, into);
        } else if (find(one.expected, "reduction_percent") != nullptr) {
            constexpr auto why = "the paper gives neither job sizes nor arrivals nor absolute waits";
            into.leave(one.inputs, why);
            into.leave(one.expected, why);
            into.excuse("doc/adr/0091-other-systems.md");
            into.fail("reduction_percent", "as printed", std::string{"cannot be computed: "} + why);
        } else {
            throw std::runtime_error{"a case of another kind"};
        }
    });
}

}  // namespace weir::oracle
