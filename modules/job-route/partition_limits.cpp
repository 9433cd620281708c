// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_limits.hpp.
#include "modules/job-route/partition_limits.hpp"

namespace weir::route {
namespace {

std::string amount_text(std::int64_t number, const std::string& one) {
    return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

/// "2 jobs, 16 cores"; empty where there are none.
std::string pair_text(const std::optional<std::int64_t>& jobs, const std::optional<std::int64_t>& cores) {
    return (jobs ? amount_text(*jobs, "job") : "") + (jobs && cores ? ", " : "") +
           (cores ? amount_text(*cores, "core") : "");
}

bool is_of_user(LimitHit::Kind kind) {
    return kind == LimitHit::Kind::user_running_jobs || kind == LimitHit::Kind::user_cores;
}

bool is_of_cores(LimitHit::Kind kind) {
    return kind == LimitHit::Kind::cores || kind == LimitHit::Kind::user_cores;
}

}  // namespace

std::string limits_text(const PartitionLimits& limits) {
    const std::string all = pair_text(limits.running_jobs, limits.cores);
    const std::string user = pair_text(limits.user_running_jobs, limits.user_cores);
    return user.empty() ? all : all + (all.empty() ? "" : "; ") + "a user " + user;
}

void LimitCounts::change(std::uint32_t user, Held by) {
    const auto apply = [by](Held& held) {
        held.jobs += by.jobs;
        held.cores += by.cores;
    };
    apply(total_);
    const auto found = users_.try_emplace(user).first;
    apply(found->second);
    if (found->second == Held{}) {
        users_.erase(found);
    }
}

void LimitCounts::add(const LimitCounts& other) {
    for (const auto& [user, held] : other.users_) {
        change(user, held);
    }
}

LimitCounts::Held LimitCounts::of(std::uint32_t user) const {
    const auto found = users_.find(user);
    return found != users_.end() ? found->second : Held{};
}

std::int64_t LimitCounts::count(LimitHit::Kind kind, std::uint32_t user) const {
    const Held held = is_of_user(kind) ? of(user) : total_;
    return is_of_cores(kind) ? held.cores : held.jobs;
}

std::optional<LimitHit> LimitCounts::hit(const PartitionLimits& limits, std::uint32_t user, std::int64_t cores) const {
    using Kind = LimitHit::Kind;
    const std::pair<Kind, const std::optional<std::int64_t>*> all[] = {
        {Kind::running_jobs, &limits.running_jobs},
        {Kind::cores, &limits.cores},
        {Kind::user_running_jobs, &limits.user_running_jobs},
        {Kind::user_cores, &limits.user_cores},
    };
    for (const auto& [kind, limit] : all) {
        if (!*limit) {
            continue;
        }
        const std::int64_t now = count(kind, user);
        if (now + (is_of_cores(kind) ? cores : 1) > **limit) {
            return LimitHit{kind, **limit, now};
        }
    }
    return std::nullopt;
}

std::string limit_text(const LimitHit& hit, std::int64_t running) {
    const bool has_cores = is_of_cores(hit.kind);
    const std::string what = amount_text(hit.limit, has_cores ? "core" : "job");
    const std::string user = is_of_user(hit.kind) ? " of a user" : "";
    const std::string rule = has_cores ? "runs jobs" + user + " on at most " + what : "runs at most " + what + user;
    const std::int64_t before = hit.count - running;
    const auto number = [](std::int64_t count, const char* one, const char* many) {
        return std::to_string(count) + (count == 1 ? one : many);
    };
    const std::string now = has_cores ? number(running, " is in use", " are in use") : number(running, " runs", " run");
    const std::string first = has_cores ? number(before, " is", " are") + " for jobs that start before it"
                                        : number(before, " starts", " start") + " before it";
    return rule + "; " + now + (before > 0 ? ", and " + first : "");
}

}  // namespace weir::route
