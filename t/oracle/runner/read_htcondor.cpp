// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HTCondor's user priorities, slices and quotas. Must not know the formulas.
#include "libfairshare/algorithms/htcondor.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

Duration span_of(const Case& one) {
    return seconds_of(one.number_or({"elapsed_s", "seconds"}, 0) + one.number_or({"hours"}, 0) * 3600 +
                      one.number_or({"days"}, 0) * 86400);
}

void read_decay(const Case& one, Report& report) {
    Htcondor rule;
    rule.half_life = seconds_of(one.number_or({"halflife_s", "PRIORITY_HALFLIFE"}, to_seconds(rule.half_life)));
    double rup = one.number_or({"rup0"}, rule.least);
    for (const Value* step : each(find(one.inputs, "steps"))) {
        const auto numbers = numbers_of(step);
        rup = rule.real_priority(rup, numbers.at(0), seconds_of(numbers.at(1)));
    }
    rup = rule.real_priority(rup, one.number_or({"used"}, 0), span_of(one));
    expect(one, report, "rup", rup);
    expect(one, report, "eup", effective_priority(rup, one.number_or({"factor"}, 1)));
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

void compare(const Case& one, Report& report, const char* key, const Named& who, const std::vector<double>& got) {
    const Value* expected = member(one.expected, key);
    for (std::size_t i = 0; i < who.names.size(); ++i) {
        report.number(who.names[i], number_at(expected, who.names[i].c_str()), got[i], one.tol);
    }
}

void read_pie(const Case& one, Report& report) {
    const Named who = named(member(one.inputs, "eup"));
    std::vector<PieSubmitter> submitters;
    for (std::size_t i = 0; i < who.names.size(); ++i) {
        PieSubmitter made;
        made.effective_priority = who.values[i];
        const auto bound = [&](const char* key, double otherwise) {
            const Value* value = find(find(one.inputs, key), who.names[i].c_str());
            return is_number(value) ? number_of(value) : otherwise;
        };
        made.wanted = bound("wanted", made.wanted);
        made.floor = bound("floor", made.floor);
        made.ceiling = bound("ceiling", made.ceiling);
        submitters.push_back(made);
    }
    compare(one, report, "slices", who, pie_slices(submitters, number_at(one.inputs, "cores")));
}

void read_quota(const Case& one, Report& report) {
    const Named who = named(member(one.inputs, "quota"));
    const Value* allowed = find(one.inputs, "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION");
    compare(one, report, "effective", who,
            effective_quotas(who.values, number_at(one.inputs, "slots"), allowed == nullptr || is_true(allowed)));
}

void read_case(const Case& one, Report& report) {
    if (one.has("quota")) {
        read_quota(one, report);
    } else if (is_object(find(one.inputs, "eup"))) {
        read_pie(one, report);
    } else if (one.has("rup")) {
        expect(one, report, "eup", effective_priority(number_at(one.inputs, "rup"), one.number_or({"factor"}, 1000)));
    } else if (one.has("rup0") || one.has("steps")) {
        read_decay(one, report);
    }  // else nothing is compared, which fails
}

}  // namespace

void read_htcondor(const Value* document, Report& report) {
    for_each_case(document, report, read_case);
}

}  // namespace weir::oracle
