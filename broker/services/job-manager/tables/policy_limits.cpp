// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see policy_limits.hpp.
#include "broker/services/job-manager/tables/policy_limits.hpp"

#include "libfairshare/base/fsd.hpp"

namespace weir::broker::jobs {
namespace {

constexpr const char* size_keys[] = {"nnodes", "ncores", "ngpus"};

Error bad_limit(const std::string& key, const std::string& what) {
    return Error{std::errc::invalid_argument, key + ": " + what};
}

Status read_sizes(const json_t* table, const std::string& path, PolicyLimits::Sizes& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const json_t* value = json_object_get(table, size_keys[i]);
        if (value == nullptr) {
            continue;
        }
        if (!json_is_integer(value) || json_integer_value(value) < -1) {
            return bad_limit(path + "." + size_keys[i], "must be -1 (unlimited) or an integer of at least 0");
        }
        sizes[i] = json_integer_value(value);
    }
    return Done{};
}

void override_sizes(PolicyLimits::Sizes& general, const PolicyLimits::Sizes& own) {
    for (std::size_t i = 0; i < general.size(); ++i) {
        general[i] = own[i] ? own[i] : general[i];
    }
}

std::string shown_duration(double seconds) {
    const auto duration = duration_from_number(seconds);
    return duration ? duration_text(*duration) : "infinity";
}

std::string for_queue(const std::string& queue) {
    return queue.empty() ? "" : " for queue " + queue;
}

}  // namespace

Result<PolicyLimits> read_limits(const json_t* table, const std::string& path) {
    PolicyLimits limits;
    const json_t* from = read_path(table, "policy.limits");
    if (const json_t* value = json_object_get(from, "duration")) {
        const auto seconds = parse_fsd_seconds(json_string_value(value) ? json_string_value(value) : "");
        if (!seconds) {
            return bad_limit(path + "policy.limits.duration", seconds.error().message);
        }
        limits.duration_s = *seconds;
    }
    const json_t* size = json_object_get(from, "job-size");
    const std::string size_path = path + "policy.limits.job-size.";
    for (const auto& [key, sizes] : {std::pair("max", &limits.max), std::pair("min", &limits.min)}) {
        if (auto done = read_sizes(json_object_get(size, key), size_path + key, *sizes); !done) {
            return done.error();
        }
    }
    return limits;
}

PolicyLimits limits_of_queue(const PolicyLimits& general, const PolicyLimits& own) {
    PolicyLimits limits = general;
    limits.duration_s = own.duration_s ? own.duration_s : general.duration_s;
    override_sizes(limits.max, own.max);
    override_sizes(limits.min, own.min);
    return limits;
}

Status check_duration(const PolicyLimits& limits, double duration_s, const std::string& queue) {
    const double limit = limits.duration_s.value_or(0);
    const bool is_unlimited = duration_s <= 0;
    if (limit == 0 || (!is_unlimited && duration_s <= limit)) {
        return Done{};
    }
    return Error{std::errc::invalid_argument,
                 "requested duration (" + (is_unlimited ? "unlimited" : shown_duration(duration_s)) +
                     ") exceeds policy limit of " + shown_duration(limit) + for_queue(queue)};
}

Status check_size(const PolicyLimits& limits, const JobSize& size, const std::string& queue) {
    const std::int64_t asked[] = {size.nodes, size.cores, size.gpus};
    const auto refused = [&](std::size_t i, const char* verb, std::int64_t limit) {
        return Error{std::errc::invalid_argument, std::string("requested ") + size_keys[i] + " (" +
                                                      std::to_string(asked[i]) + ") " + verb + " policy limit of " +
                                                      std::to_string(limit) + for_queue(queue)};
    };
    for (std::size_t i = 0; i < limits.max.size(); ++i) {
        if (const auto limit = limits.max[i].value_or(-1); limit >= 0 && asked[i] > limit) {
            return refused(i, "exceeds", limit);
        }
    }
    for (std::size_t i = 0; i < limits.min.size(); ++i) {
        if (const auto limit = limits.min[i].value_or(-1); limit >= 0 && asked[i] < limit) {
            return refused(i, "is under", limit);
        }
    }
    return Done{};
}

}  // namespace weir::broker::jobs
