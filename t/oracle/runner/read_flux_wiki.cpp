// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the Flux wiki's statements about its priority plugin. Must not know a formula: the engine, the ledger and the
// algorithms are asked.
#include <algorithm>
#include <stdexcept>

#include "broker/services/job-manager/jobtap/priority_default.hpp"
#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/usage/decay.hpp"
#include "libsched/priority/engine.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// A job that has these factors, and what the engine makes of them. A user factor need not be one of the thirty that
/// urgency knows, so it comes in as the site's value.
void read_sum(const Value* inputs, const Value* expected, double tol, Report& report) {
    const Value* weights = member(inputs, "weights");
    const Value* factors = member(inputs, "factors");
    constexpr std::uint32_t machine = 1000000;
    const double fairshare = number_at(factors, "fair_share");
    PrioritySettings settings;
    settings.weights.fill(0);
    const auto weigh = [&](Factor factor, const char* key) {
        settings.weights[index_of(factor)] = number_at(weights, key);
    };
    weigh(Factor::wait, "wait");
    weigh(Factor::fairshare, "fair_share");
    weigh(Factor::qos, "qos");
    weigh(Factor::queue, "queue");
    weigh(Factor::size, "job_size");
    weigh(Factor::site, "user");
    settings.qos_priority = {number_at(factors, "qos"), 1};
    settings.queue_priority = {number_at(factors, "queue"), 1};
    settings.machine_cores = machine;
    PriorityEngine engine{settings};
    JobInputs job;
    job.eligible = Instant{};
    job.cores = static_cast<std::uint32_t>(number_at(factors, "job_size") * machine);
    job.extras.site = number_at(factors, "user");
    const auto slot = engine.insert(job);
    const Instant now = Instant{} + duration_from_seconds(number_at(factors, "wait") * to_seconds(settings.wait_max));
    report.number("priority", number_at(expected, "priority"), engine.priority(slot, now, {&fairshare, 1}), tol);
}

void read_wait(const Value* inputs, const Value* expected, double tol, Report& report) {
    const Duration wait_max = duration_from_seconds(number_at(inputs, "max_wait_s"));
    const auto waits = numbers_of(member(inputs, "wait_s"));
    for (std::size_t i = 0; i < waits.size(); ++i) {
        report.number("factor", number_of(item(member(expected, "factor"), i)),
                      wait_factor(duration_from_seconds(waits[i]), wait_max), tol);
    }
}

/// Two users with equal shares: who used as entitled, who used nothing; and one who is served but entitled to nothing.
void read_served(const Value* expected, double tol, Report& report) {
    const ShareTree tree =
        tree_of({{"@even", std::nullopt, 1, {}}, {"@idle", std::nullopt, 1, {}}, {"@nothing", std::nullopt, 0, {}}});
    const std::vector<CoreMicros> usage{200, 100, 0, 100};
    const Standings standings = evaluate(*algorithm_named("served-share"), tree, usage);
    report.number("perfectly_serviced", number_at(expected, "perfectly_serviced"), standings.factor[1], tol);
    report.number("under_serviced", number_at(expected, "under_serviced"), standings.factor[2], tol);
    report.number("over_serviced", number_at(expected, "over_serviced"), standings.factor[3], tol);
}

void read_half_life(const Value* inputs, const Value* expected, double tol, Report& report) {
    DecayFrame decay{duration_from_seconds(number_at(inputs, "half_life_s"))};
    const Instant begin = instant_from_seconds(1.78e9);
    decay.set_frame(decay.frame_for(begin));
    const auto usage = static_cast<CoreMicros>(number_at(inputs, "usage") * 1e6);
    const auto weights = decay.weights_worth(usage, begin);
    const auto ages = numbers_of(member(inputs, "age_s"));
    for (std::size_t i = 0; i < ages.size(); ++i) {
        const auto reading = decay.reading(begin + duration_from_seconds(ages[i]));
        report.number("usage", number_of(item(member(expected, "usage"), i)),
                      core_seconds(DecayFrame::scaled(DecayFrame::shifted(weights, reading.frame_shift), reading)),
                      tol);
    }
}

void read_fcfs(const Value* inputs, const Value* expected, Report& report) {
    const Value* priorities = member(expected, "priorities");
    for (std::size_t i = 0; i < static_cast<std::size_t>(integer_at(inputs, "n")); ++i) {
        report.integer("priority", integer_of(item(priorities, i)),
                       broker::jobs::default_priority(i, integer_at(inputs, "first_priority")));
    }
}

/// A user may choose any urgency up to the default, 16 (the job manager refuses more).
void read_user(const Value* expected, Report& report) {
    const PrioritySettings settings;
    JobInputs job;
    const double unchanged = user_factor(settings, job);
    double highest = -1;
    for (job.urgency = 1; job.urgency <= 16; ++job.urgency) {
        highest = std::max(highest, user_factor(settings, job) - unchanged);
    }
    report.text("effect", text_at(expected, "allowed_effect"), highest <= 0 ? "<=0" : ">0");
}

}  // namespace

void read_flux_wiki(const Value* document, Report& report) {
    for_each_case(document, report, [](const Case& one, Report& into) {
        const auto gives = [&](const char* key) { return find(one.expected, key) != nullptr; };
        if (gives("priority")) {
            read_sum(one.inputs, one.expected, one.tol, into);
        } else if (gives("factor")) {
            read_wait(one.inputs, one.expected, one.tol, into);
        } else if (gives("perfectly_serviced")) {
            read_served(one.expected, one.tol, into);
        } else if (gives("usage")) {
            read_half_life(one.inputs, one.expected, one.tol, into);
        } else if (gives("priorities")) {
            read_fcfs(one.inputs, one.expected, into);
        } else if (gives("allowed_effect")) {
            into.leave(find(one.inputs, "rule"), "a rule in words; its effect is compared");
            read_user(one.expected, into);
        } else {
            throw std::runtime_error{"a case of another kind"};
        }
    });
}

}  // namespace weir::oracle
