// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HTCondor's user priorities and slices. Must not know the formulas.
#include <stdexcept>

#include "libfairshare/algorithms/htcondor.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/htcondor_groups_cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

Duration span_of(const Case& one) {
    return seconds_of(3600 * (one.hours_or({"elapsed", "time"}, 0) + one.number_or({"seconds"}, 0) / 3600 +
                              one.number_or({"hours"}, 0) + one.number_or({"days"}, 0) * 24));
}

Htcondor rule_of(const Case& one) {
    Htcondor rule;
    const double half_life =
        one.number_or({"PRIORITY_HALFLIFE", "halflife_s", "half_life_s"}, to_seconds(rule.half_life));
    rule.half_life = seconds_of(half_life);
    rule.least = one.number_or({"floor", "min_rup", "MIN_PRIORITY"}, rule.least);
    return rule;
}

double factor_of(const Case& one, double otherwise) {
    return one.number_or({"factor", "prio_factor", "priority_factor", "DEFAULT_PRIO_FACTOR"}, otherwise);
}

/// How much more a newcomer is entitled to than one with this effective priority.
void compare_newcomer(const Case& one, Report& report, double rup) {
    const Htcondor rule;
    const std::vector<PieSubmitter> two{{effective_priority(rule.least, 1), 1e9, 0},
                                        {effective_priority(rup, 1), 1e9, 0}};
    const auto slices = pie_slices(two, 1);
    expect_any(one, report, {"newcomer_ratio", "ratio", "newcomer_deserves", "times"}, slices[0] / slices[1]);
}

void read_htcondor_decay(const Case& one, Report& report) {
    const Htcondor rule = rule_of(one);
    double rup = one.number_or({"rup0", "rup_start", "start"}, rule.least);
    for (const Value* step : each(find(one.inputs, "steps"))) {
        const auto numbers = numbers_of(step);
        rup = rule.real_priority(rup, numbers.at(0), seconds_of(numbers.at(1)));
    }
    rup = rule.real_priority(rup, one.number_or({"used", "cores", "cores_used", "resources_used"}, 0), span_of(one));
    expect_any(one, report, {"rup", "real_priority", "real_user_priority"}, rup);
    expect_any(one, report, {"eup", "effective_priority"}, effective_priority(rup, factor_of(one, 1)));
    compare_newcomer(one, report, rup);
}

/// The object's members in a fixed order.
struct Named {
    std::vector<std::string> names;
    std::vector<double> values;
};

Named named(const Value* object) {
    Named made;
    for (const auto& [name, value] : entries(object)) {
        made.names.emplace_back(name);
        made.values.push_back(number_of(value));
    }
    return made;
}

void read_pie(const Case& one, Report& report) {
    const Named who = named(member(one.inputs, "eup"));
    std::vector<PieSubmitter> submitters;
    for (std::size_t i = 0; i < who.names.size(); ++i) {
        PieSubmitter made;
        made.effective_priority = who.values[i];
        const auto bound = [&](std::initializer_list<std::string_view> keys, double otherwise) {
            const Value* value = find_spelled(one.input(keys), {who.names[i]});
            return is_number(value) ? number_of(value) : otherwise;
        };
        made.wanted = bound({"wanted", "demand", "requested", "limit"}, made.wanted);
        made.floor = bound({"floor", "floors"}, made.floor);
        made.ceiling = bound({"ceiling", "ceilings"}, made.ceiling);
        submitters.push_back(made);
    }
    const auto cores = one.number({"cores", "slots", "pie"});
    if (!cores) {
        throw std::runtime_error{"\"cores\" is missing"};
    }
    const auto slices = pie_slices(submitters, *cores);
    const Value* expected = find_spelled(one.expected, {"slices", "slots", "cores", "share"});
    for (std::size_t i = 0; i < who.names.size(); ++i) {
        if (expected != nullptr && find(expected, who.names[i]) != nullptr) {
            report.number(who.names[i], number_at(expected, who.names[i]), slices[i], one.tol);
        }
    }
}

void read_htcondor_case(const Case& one, Report& report) {
    if (has_condor_groups(one)) {
        read_condor_groups(one, report);
    } else if (is_object(find(one.inputs, "eup"))) {
        read_pie(one, report);
    } else if (one.has("rup")) {
        const double rup = number_at(one.inputs, "rup");
        expect_any(one, report, {"eup", "effective_priority"}, effective_priority(rup, factor_of(one, 1000)));
        compare_newcomer(one, report, rup);
    } else {
        read_htcondor_decay(one, report);
    }
}

}  // namespace

void read_htcondor(const Value* document, Report& report) {
    for_each_case(document, report, read_htcondor_case);
}

}  // namespace weir::oracle
