// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files about billing and decay of usage in a slurmctld. Must not know the formulas.
#include <cmath>
#include <stdexcept>

#include "libfairshare/usage/reset.hpp"
#include "libfairshare/usage/slurm_usage.hpp"
#include "libfairshare/usage/step_decay.hpp"
#include "t/oracle/runner/slurm_billing.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_text.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

void read_slurm_billing(const Value* document, Report& report) {
    for (const Value* row : each(member(document, "cases"))) {
        const std::string weights = text_at(row, "weights");
        report.begin(text_at(row, "flag") + " " + weights + " " + text_at(row, "job"));
        const double cost = slurm_cost(weights, text_at(row, "tres"), text_at(row, "flag"));
        // scontrol prints whole numbers, and no bill at all where it is 0
        const double printed = is_null(member(row, "billing")) ? 0 : number_at(row, "billing");
        report.number("billing", printed, std::floor(cost), 0);
    }
}

void read_slurm_decay(const Value* document, Report& report) {
    const ShareTree tree = tree_of({{"@u", std::nullopt, 1, {}}});
    const NodeId leaf = node_at(tree, "@u");
    for (const Value* row : each(member(document, "cases"))) {
        const double half_life = number_at(row, "half_life_s");
        const double elapsed = number_at(row, "elapsed_s");
        report.begin("half-life " + std::to_string(half_life) + " s, " + std::to_string(elapsed) + " s later");
        const SlurmDecay decay{duration_from_seconds(half_life)};
        SlurmUsage usage{tree, decay};
        usage.add(leaf, static_cast<long double>(integer_at(row, "usage_before")));
        usage.decay(duration_from_seconds(elapsed));
        report.integer("usage_after", integer_at(row, "usage_after"), static_cast<std::int64_t>(usage.usage(leaf)));
        const auto compare = [&](const char* key, double got) {
            if (find(row, key) != nullptr) {
                report.number(key, number_at(row, key), got, 1e-14);
            }
        };
        compare("ratio", std::floor(static_cast<double>(usage.usage(leaf))) / number_at(row, "usage_before"));
        compare("formula", decay.after(duration_from_seconds(elapsed)));
        compare("true_half", half_life_factor(duration_from_seconds(elapsed), duration_from_seconds(half_life)));
    }
}

void read_slurm_reset(const Value* document, Report& report) {
    if (text_at(document, "tz") != "UTC") {
        throw std::runtime_error{"resets in the time zone " + text_at(document, "tz")};
    }
    const auto seconds = [](Instant at) { return static_cast<std::int64_t>(to_seconds(at)); };
    for (const Value* row : each(member(document, "cases"))) {
        report.begin(text_at(row, "period") + ", last " + text_at(row, "last_reset_before_utc"));
        const auto period = reset_period_named(text_at(row, "period"));
        if (!period) {
            throw std::runtime_error{period.error().message};
        }
        const Instant last = instant_from_seconds(number_at(row, "last_reset_before"));
        const auto due =
            due_reset(*period, last, instant_from_seconds(number_at(row, "now")), {}, MissedResets::each_pass);
        report.integer("last_reset_after", integer_at(row, "last_reset_after"), seconds(due.value_or(last)));
        report.integer("usage_cleared", is_true(member(row, "usage_cleared")) ? 1 : 0, due ? 1 : 0);
    }
    const Value* catch_up = find(document, "monthly_catch_up");
    Instant last = slurm_instant(text_at(catch_up, "last_reset_before"), Instant::min());
    for (const Value* row : each(find(catch_up, "passes"))) {
        report.begin("monthly, pass " + text_at(row, "pass_utc"));
        report.leave(find(row, "pass_no"), "numbers of passes");
        last = due_reset(ResetPeriod::monthly, last, slurm_instant(text_at(row, "pass_utc"), Instant::min()), {},
                         MissedResets::each_pass)
                   .value_or(last);
        report.integer("last_reset", seconds(slurm_instant(text_at(row, "last_reset_utc"), Instant::min())),
                       seconds(last));
    }
}

}  // namespace weir::oracle
