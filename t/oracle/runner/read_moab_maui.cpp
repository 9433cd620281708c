// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's windows, targets, fair-share components and priorities.
// Must not know the formulas: libfairshare and libsched are asked.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/usage/metric.hpp"
#include "libfairshare/usage/window.hpp"
#include "libsched/priority/component_sum.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/moab_resources.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

constexpr double unit = 1e6;  // one unit of the file in the ledger's integers
constexpr NodeId user{0};
constexpr NodeId everybody{1};

std::optional<FairShareTarget> target_of(const Value* object, const char* key = "target") {
    const std::string mode = text_at(object, "mode");
    constexpr auto names = std::to_array<std::pair<std::string_view, TargetKind>>({
        {"", TargetKind::target},
        {"target", TargetKind::target},
        {"floor", TargetKind::floor},
        {"ceiling", TargetKind::ceiling},
        {"capabs", TargetKind::absolute_cap},
        {"caprel", TargetKind::relative_cap},
    });
    const Value* target = find(object, key);
    if (!is_number(target) || mode == "none") {
        return std::nullopt;
    }
    for (const auto& [name, kind] : names) {
        if (name == mode) {
            return FairShareTarget{kind, number_of(target)};
        }
    }
    throw std::runtime_error{"unknown mode " + mode};
}

double discrepancy(const std::optional<FairShareTarget>& target, double percent, bool is_ratio = false) {
    return target ? fs_discrepancy(*target, percent, is_ratio) : 0.0;
}

/// [[[DD:]HH:]MM:]SS.
Duration interval_of(const Case& one) {
    const std::string whole = text_at(one.inputs, "FSINTERVAL");
    const bool has_days = std::count(whole.begin(), whole.end(), ':') == 3;
    std::istringstream text{whole};
    double seconds = 0;
    int fields = 0;
    for (std::string field; std::getline(text, field, ':'); ++fields) {
        seconds = seconds * (fields == 1 && has_days ? 24 : 60) + std::stod(field);
    }
    return fields == 0 ? Duration{std::chrono::hours{24}} : seconds_of(seconds);
}

/// What the file says was used in each window, the current one first, charged to a real ledger at those dates.
class History {
  public:
    explicit History(const Case& one, std::size_t windows)
        : policy_{interval_of(one), static_cast<unsigned>(one.number_or({"FSDEPTH"}, static_cast<double>(windows))),
                  one.number_or({"FSDECAY"}, 1.0)},
          ledger_{2, checked(policy_)},
          now_{(Instant{} + 1000 * policy_.interval) + policy_.interval / 2} {}

    void add(NodeId payer, std::span<const double> by_window) {
        for (std::size_t i = by_window.size(); i-- > 0;) {
            ledger_.add(payer, static_cast<SignedCoreMicros>(std::llround(by_window[i] * unit)),
                        now_ - static_cast<std::int64_t>(i) * policy_.interval);
        }
    }
    double usage(NodeId payer) const { return static_cast<double>(ledger_.usage(payer, now_)) / unit; }
    double percent() const { return percent_of(ledger_.usage(user, now_), ledger_.usage(everybody, now_)); }

  private:
    static const WindowPolicy& checked(const WindowPolicy& policy) {
        if (const Status valid = policy.validate(); !valid) {
            throw std::runtime_error{valid.error().message};
        }
        return policy;
    }
    WindowPolicy policy_;
    WindowLedger ledger_;
    Instant now_;
};

void read_windows(const Case& one, Report& report) {
    const auto used = numbers_of(member(one.inputs, "user"));
    const auto total = numbers_of(member(one.inputs, "total"));
    History history{one, std::max(used.size(), total.size())};
    history.add(user, used);
    history.add(everybody, total);
    expect(one, report, "numerator", history.usage(user));
    expect(one, report, "denominator", history.usage(everybody));
    expect(one, report, "usage", history.percent() / 100);
    expect(one, report, "percent", history.percent());
    const auto target = target_of(one.inputs);
    expect(one, report, "delta", discrepancy(target, history.percent()));
    expect(one, report, "delta_percent_mode", discrepancy(target, history.percent(), true));
}

void read_mdiag(const Case& one, Report& report) {
    const auto total = numbers_of(member(one.inputs, "total_hours"));
    auto used = numbers_of(member(one.inputs, "user_percent_per_window"));
    for (std::size_t i = 0; i < used.size(); ++i) {
        used[i] *= total.at(i) / 100;
    }
    History history{one, total.size()};
    history.add(user, used);
    history.add(everybody, total);
    const FairShareTarget target = target_of(one.inputs, "FSTARGET").value();
    expect(one, report, "percent", history.percent());
    expect(one, report, "computed", history.percent());
    const Value* starred = member(one.expected, "starred");
    report.integer("starred", is_true(starred) ? 1 : 0, is_off_target(target, history.percent()) ? 1 : 0);
}

void read_decay_table(const Case& one, Report& report) {
    const WindowPolicy policy{std::chrono::hours{24}, 8, number_at(one.inputs, "FSDECAY")};
    const auto expected = numbers_of(member(one.expected, "percent"));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double got = 100 * policy.weight(static_cast<unsigned>(i));
        report.within("window " + std::to_string(i), expected[i], got, one.tol);
    }
}

void read_component(const Case& one, Report& report) {
    std::vector<FsPart> parts;
    for (const Value* cred : each(member(one.inputs, "creds"))) {
        report.leave(find(cred, "cred"), "whose target it is: names of credentials");
        const Value* cap = find(cred, "cap");
        parts.push_back({target_of(cred), number_at(cred, "usage"), number_at(cred, "weight"), number_of(cap)});
    }
    const bool is_ratio = is_true(find(one.inputs, "percent_based"));
    const double cap = one.number_or({"FSCAP"}, 0);
    expect(one, report, "component_sum", fs_component(parts, 1, cap, is_ratio));
    expect(one, report, "contribution", fs_component(parts, number_at(one.inputs, "FSWEIGHT"), cap, is_ratio));
}

/// base + min(FSWEIGHT * (target - use), cap) + minutes queued.
void read_site(const Case& one, Report& report) {
    const double off = discrepancy(target_of(one.inputs), number_at(one.inputs, "weighted_use"));
    const std::vector<Component> parts{
        {1, 0, {{1, number_at(one.inputs, "base"), 0}}},
        {1, number_at(one.inputs, "cap"), {{number_at(one.inputs, "FSWEIGHT"), off, 0}}},
        {1, 0, {{1, number_at(one.inputs, "queue_min"), 0}}},
    };
    expect(one, report, "priority", component_sum(parts));
}

void read_expansion(const Case& one, Report& report) {
    const auto seconds = [&](const char* in_seconds, const char* in_hours, double otherwise) {
        return seconds_of(one.number_or({in_seconds}, one.number_or({in_hours}, otherwise / 3600) * 3600));
    };
    const Duration queued = seconds("queue_s", "queue_h", 0);
    const Duration limit = seconds("wclimit_s", "wclimit_h", 0);
    const Duration shortest = seconds("XFMINWCLIMIT_s", "XFMINWCLIMIT_h", 120);
    expect(one, report, "xfactor", expansion_factor(queued, limit, shortest));
    expect(one, report, "doc", expansion_factor(queued, limit, shortest));
    expect(one, report, "source", expansion_factor(queued, limit, shortest, ExpansionRule::program));
}

/// diagnose -p: percent of the priority that each component contributes.
void read_percentages(const Case& one, Report& report) {
    const Value* points = member(one.expected, "points");
    for (const auto& [name, percent] : entries(find(one.inputs, "percent"))) {
        const Component component{number_at(one.inputs, "PRIORITY") / 100, 0, {{1, number_of(percent), 0}}};
        const double expected = number_at(points, name);
        report.within(name, expected, contribution(component), one.tol);
    }
}

void read_user_priority(const Case& one, Report& report) {
    const Component user_part{1, 0, {{number_at(one.inputs, "USERWEIGHT"), number_at(one.inputs, "PRIORITY"), 0}}};
    const Component minute{1, 0, {{number_at(one.inputs, "QUEUETIMEWEIGHT"), 1, 0}}};
    const double minutes = contribution(user_part) / contribution(minute);
    expect(one, report, "equivalent_queue_minutes", minutes);
    expect(one, report, "equivalent_queue_hours", minutes / 60);
    // The manual takes the points for seconds.
    expect(one, report, "doc_claim_minutes", number_at(one.inputs, "PRIORITY") / 60);
}

void read_components(const Case& one, Report& report) {
    std::vector<Component> components;
    for (const Value* entry : each(member(one.inputs, "components"))) {
        Component made{number_at(entry, "weight"), number_at(entry, "cap"), {}};
        for (const Value* part : each(member(entry, "subs"))) {
            made.parts.push_back({number_at(part, "w"), number_at(part, "v"), number_at(part, "cap")});
        }
        components.push_back(std::move(made));
    }
    expect(one, report, "priority", component_sum(components));
}

/// What a job is charged, and its processor-equivalents where it says of which machine it requests what.
void read_metric(const Case& one, Report& report) {
    const double seconds =
        3600 * (one.number_or({"seconds", "duration_s", "walltime_s"}, 0) / 3600 +
                one.number_or({"minutes", "duration_min"}, 0) / 60 + one.number_or({"hours", "duration_h"}, 0));
    const auto requested = requested_resources(one);
    const double equivalents = requested ? processor_equivalents(requested->held, requested->processors) : 0;
    expect_any(one, report,
               {"PE", "processor_equivalents", "processor_equivalent", "PEs", "proc_equivalents", "proc_equiv"},
               equivalents);
    const double per_second = seconds > 0 ? one.number_or({"cpu_used", "cpu_seconds"}, 0) / seconds : 0;
    const JobConsumption job{one.number_or({"procs", "processors"}, 0), one.number_or({"pe", "PE"}, equivalents),
                             per_second};
    const auto charged = [&](const char* name) {
        const auto policy = usage_policy_named(name, PercentSuffix::of_available);
        if (!policy) {
            throw std::runtime_error{policy.error().message};
        }
        return charged_processors(policy->metric, job) * seconds;
    };
    for (const char* name : {"DEDICATEDPS", "DEDICATEDPES", "UTILIZEDPS"}) {
        expect(one, report, name, charged(name));
    }
    expect(one, report, "dedicated_proc_hours", charged("DEDICATEDPS") / 3600);
    expect(one, report, "dedicated_pe_hours", charged("DEDICATEDPES") / 3600);
}

void read_cap(const Case& one, Report& report) {
    const auto cap = to_cap(text_at(one.inputs, "FSCAP"));
    if (!cap) {
        throw std::runtime_error{"FSCAP is no cap"};
    }
    const double used = number_at(one.inputs, "usage_ps");
    const double total = one.number_or({"total_ps"}, 0);
    const double request = number_at(one.inputs, "procs") * number_at(one.inputs, "wclimit_s");
    expect(one, report, "projected", cap_projection(*cap, used, total, request));
    expect(one, report, "projected_percent", cap_projection(*cap, used, total, request));
    report.integer("eligible", is_true(member(one.expected, "eligible")) ? 1 : 0,
                   cap_admits(*cap, used, total, request) ? 1 : 0);
}

void read_window_span(const Case& one, Report& report) {
    const WindowPolicy policy{seconds_of(number_at(one.inputs, "FSINTERVAL_s")),
                              static_cast<unsigned>(integer_at(one.inputs, "FSDEPTH")), 1.0};
    expect(one, report, "total_s", to_seconds(policy.span()));
}

/// A QoS's weights add to the global ones.
void read_service(const Case& one, Report& report) {
    const auto part = [&](const char* weight, double value) {
        return Subcomponent{one.number_or({weight}, 0), value, 0};
    };
    const double queued = one.number_or({"queue_min"}, 0);
    const double expansion = one.number_or({"xfactor"}, 0);
    const Component service{1,
                            0,
                            {part("QUEUETIMEWEIGHT", queued), part("QTWEIGHT", queued),
                             part("XFACTORWEIGHT", expansion), part("XFWEIGHT", expansion)}};
    expect(one, report, "service", contribution(service));
}

void read_moab_maui_case(const Case& one, Report& report) {
    if (one.has("user") && one.has("total")) {
        read_windows(one, report);
    } else if (one.has("user_percent_per_window")) {
        read_mdiag(one, report);
    } else if (one.has("creds")) {
        read_component(one, report);
    } else if (one.has("components")) {
        read_components(one, report);
    } else if (one.has("weighted_use")) {
        read_site(one, report);
    } else if (one.has("cpu_used") || requested_resources(one)) {
        read_metric(one, report);
    } else if (one.has("FSCAP") && one.has("usage_ps")) {
        read_cap(one, report);
    } else if (one.has("FSINTERVAL_s")) {
        read_window_span(one, report);
    } else if (one.has("QTWEIGHT") || one.has("XFWEIGHT")) {
        read_service(one, report);
    } else if (one.has("mode")) {
        expect(one, report, "delta", discrepancy(target_of(one.inputs), number_at(one.inputs, "usage")));
        expect(one, report, "delta_percent_mode",
               discrepancy(target_of(one.inputs), number_at(one.inputs, "usage"), true));
    } else if (one.has("wclimit_h") || one.has("wclimit_s")) {
        read_expansion(one, report);
    } else if (one.has("percent")) {
        read_percentages(one, report);
    } else if (one.has("raw")) {
        expect(one, report, "priority",
               maui_priority(number_at(one.inputs, "raw"), is_true(find(one.inputs, "negative_allowed")),
                             one.number_or({"system_prio"}, 0)));
    } else if (one.has("USERWEIGHT")) {
        read_user_priority(one, report);
    } else if (one.has("target") && one.has("current")) {
        expect_any(one, report, {"target_factor", "factor", "component", "value"},
                   nearness(number_at(one.inputs, "target"), number_at(one.inputs, "current")));
    } else if (is_list(find(one.expected, "percent"))) {
        read_decay_table(one, report);
    } else {
        throw std::runtime_error{"a case of another kind"};
    }
}

}  // namespace

void read_moab_maui(const Value* document, Report& report) {
    for_each_case(document, report, read_moab_maui_case);
}

}  // namespace weir::oracle
