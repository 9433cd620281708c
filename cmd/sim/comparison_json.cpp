// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the members of "weir.sim-compare/1". Times are seconds of the log.
#include <algorithm>
#include <cmath>

#include "cmd/sim/comparison_text.hpp"
#include "cmd/sim/figures.hpp"
#include "cmd/sim/job_log.hpp"
#include "cmd/sim/never_started.hpp"
#include "cmd/sim/picture_axes.hpp"
#include "cmd/sim/pictures.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

template <typename Items, typename Each>
Json list(const Items& items, Each each) {
    Json array = Json::array();
    for (const auto& item : items) {
        array.append(each(item));
    }
    return array;
}

Json number(double value) {
    return Json::own(json_real(value));
}

Json party_json(const char* kind, const std::string& name, const PartyMetrics& metrics) {
    Json out = Json::object();
    out.set(kind, name)
        .set("jobs", metrics.jobs)
        .set("wait_mean_s", metrics.wait_s)
        .set("slowdown_mean", metrics.slowdown)
        .set("delivered_core_s", metrics.delivered_core_s)
        .set("allotted_core_s", metrics.allotted_core_s)
        .set("under_service", metrics.under_service())
        .set("starving_longest_s", to_seconds(metrics.starving_longest));
    return out;
}

/// Part of all usage, account by account, at each look.
Json usage_json(const Measured& policy, std::size_t account) {
    return list(policy.usage, [&](const UsageSample& sample) {
        const double all = sample.usage_core_s[0];
        return number(all > 0 ? sample.usage_core_s[account] / all : 0);
    });
}

Json window_json(const Comparison& comparison, const Measured& policy) {
    Json out = Json::object();
    out.set("from_s", to_seconds(comparison.window_begin)).set("to_s", to_seconds(comparison.window_end));
    out.set("jobs", list(policy.window, [](const WindowJob& job) {
                Json one = Json::object();
                one.set("job", static_cast<long long>(job.outcome.job.number))
                    .set("user", job.outcome.job.user)
                    .set("cores", job.outcome.job.cores)
                    .set("start_s", to_seconds(job.outcome.start))
                    .set("end_s", to_seconds(job.outcome.end()));
                return one;
            }));
    return out;
}

/// Parties with jobs that have no party below them.
Json users_json(const Yardstick& yardstick, const Measured& policy) {
    const auto& parties = yardstick.users.parties;
    std::vector<bool> is_user(parties.size(), true);
    for (const Party& party : parties) {
        is_user[party.parent] = false;
    }
    Json users = Json::array();
    for (std::size_t i = 1; i < parties.size() && i < policy.by_user.size(); ++i) {
        if (is_user[i] && policy.by_user[i].jobs > 0) {
            users.append(party_json("user", parties[i].name, policy.by_user[i]));
        }
    }
    return users;
}

Json accounts_json(const Comparison& comparison, const Measured& policy) {
    const auto& parties = comparison.yardstick.accounts.parties;
    const auto shown = shown_accounts(comparison, usage_panels_max);
    Json accounts = Json::array();
    for (std::size_t i = 1; i < parties.size() && i < policy.by_account.size(); ++i) {
        Json account = party_json("account", parties[i].name, policy.by_account[i]);
        if (std::find(shown.begin(), shown.end(), i) != shown.end()) {
            account.set("usage", usage_json(policy, i));
        }
        accounts.append(std::move(account));
    }
    return accounts;
}

/// What a picture draws over time, or over jobs.
void add_series(Json& out, const Comparison& comparison, const Measured& policy) {
    out.set("looks_s", list(policy.usage, [](const UsageSample& sample) { return number(to_seconds(sample.at)); }));
    out.set("load", list(policy.load, [](const MachineSample& sample) {
                Json one = Json::object();
                one.set("from_s", to_seconds(sample.from)).set("busy_cores", sample.busy);
                one.set("waiting_cores", sample.waiting);
                return one;
            }));
    out.set("wait_ecdf", list(policy.wait_ecdf, [](const std::pair<double, double>& point) {
                Json one = Json::array();
                one.append(number(point.first)).append(number(point.second));
                return one;
            }));
    out.set("distance", list(distance_series(comparison, policy), [](const auto& look) {
                return look.second ? number(*look.second) : Json::own(json_null());
            }));
}

Json policy_json(const Comparison& comparison, const Measured& policy) {
    Json values = Json::object(), intervals = Json::object();
    for (const Figure& figure : figures()) {
        const auto value = figure.of(policy);
        values.set(figure.key, value ? number(*value) : Json::own(json_null()));
        if (const auto in = figure.interval != nullptr ? figure.interval(policy) : std::nullopt) {
            Json ends = Json::array();
            ends.append(number(in->low)).append(std::isinf(in->high) ? Json::own(json_null()) : number(in->high));
            intervals.set(figure.key, std::move(ends));
        }
    }
    Json settings = Json::object(), files = Json::array();
    if (const auto source = comparison.provenance.policies.find(policy.name);
        source != comparison.provenance.policies.end()) {
        auto parsed = Json::parse(source->second.settings);
        settings = parsed ? std::move(*parsed) : std::move(settings);
        files = source_files_json(source->second.files);
    }
    Json out = Json::object();
    out.set("name", policy.name)
        .set("scheduler", policy.scheduler)
        .set("order", policy.order)
        .set("settings", std::move(settings))
        .set("files", std::move(files))
        .set("complete", policy.is_complete)
        .set("fair_start_sampled", policy.is_fair_start_sampled())
        .set("figures", std::move(values))
        .set("intervals_95", std::move(intervals))
        .set("accounts", accounts_json(comparison, policy))
        .set("users", users_json(comparison.yardstick, policy));
    add_never_started(out, policy.never_started);
    add_without_shares(out, policy.without_shares);
    if (!policy.partitions.empty()) {
        out.set("partitions", partitions_json(policy.partitions, policy.machine.makespan))
            .set("refused", skipped_json(policy.refused));
    }
    add_series(out, comparison, policy);
    out.set("window", window_json(comparison, policy));
    return out;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
    const Yardstick& yardstick = comparison.yardstick;
    const std::vector<double> entitled = yardstick.accounts.entitled();
    Json accounts = Json::array();
    for (std::size_t i = 1; i < entitled.size(); ++i) {
        Json one = Json::object();
        one.set("account", yardstick.accounts.parties[i].name).set("entitled", entitled[i]);
        accounts.append(std::move(one));
    }
    Json out = Json::object();
    out.set("schema", "weir.sim-compare/1")
        .set("log", yardstick.log)
        .set("cores", static_cast<long long>(yardstick.cores))
        .set("jobs", yardstick.jobs)
        .set("half_life_s", to_seconds(yardstick.half_life))
        .set("begin_s", to_seconds(comparison.begin))
        .set("end_s", to_seconds(comparison.end));
    if (yardstick.share_tree.empty()) {
        out.set("share_tree", Json::own(json_null()));
    } else {
        out.set("share_tree", yardstick.share_tree);
    }
    out.set("provenance", provenance_json(comparison.provenance));
    out.set("entitlements", std::move(accounts));
    out.set("policies",
            list(comparison.policies, [&](const Measured& policy) { return policy_json(comparison, policy); }));
    return out.dump(JSON_COMPACT | JSON_REAL_PRECISION(12)) + "\n";
}

}  // namespace weir::cmd
