// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the engine's inputs for a pending job, and the factor of each term. Must not know the share tree nor how
// factors are stored. Source: Slurm's priority/multifactor, Flux's six-term sum (urgency).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "libsched/job.hpp"
#include "libsched/priority/settings.hpp"

namespace weir {

/// Inputs that only some sites use. If all have their defaults, nothing is stored for the job.
struct JobExtras {
    std::uint32_t nodes = 1;                             ///< the least number that it requests
    Duration limit = Duration::max();                    ///< time limit, or the queue's; max: none; >= 1 s
    std::int64_t nice = 0;                               ///< beyond the range of urgency; used if the user term is raw
    double site = 0.;                                    ///< set by the site's plug-in or script; finite
    std::optional<std::uint32_t> given;                  ///< a priority set directly, >= 1: it bypasses the sum
    std::array<double, resource_kinds_max> resources{};  ///< amounts, as PrioritySettings::resources lists them
    friend bool operator==(const JobExtras&, const JobExtras&) = default;
};

/// The engine's inputs for a pending job.
struct JobInputs {
    JobId id;
    Instant submit;    ///< ties: earlier first
    Instant eligible;  ///< when its wait began: submission, end of its last hold...; never: it does not age
    std::uint32_t association = 0;  ///< index into the factors given to pass(); < 2^30 - 1
    std::uint32_t cores = 1;
    std::uint16_t queue = 0;  ///< index into PrioritySettings::queue_priority
    std::uint8_t qos = 0;     ///< index into PrioritySettings::qos_priority
    std::uint8_t urgency = 16;
    JobExtras extras{};
    friend bool operator==(const JobInputs&, const JobInputs&) = default;
};

/// The factors of classes, by index; computed once for all jobs.
struct ClassFactors {
    explicit ClassFactors(const PrioritySettings& settings);
    ClassFactors() = default;
    std::vector<double> qos, queue, association;
};

double wait_factor(Duration waited, Duration wait_max);
/// Each priority divided by `given_max`, or by the greatest if that is 0; unchanged if `is_raw`. All 0 if the greatest
/// is 0.
std::vector<double> class_factors(const std::vector<double>& priorities, bool is_raw, double given_max = 0.);
/// In [0, 1] by settings.size_rule and size_favors_large. For a job without cores only the nodes count.
double size_factor(const PrioritySettings& settings, const JobInputs& job);
/// (urgency - 1) / 29 for 1..30: 16, the default, is 15/29, and nice n is urgency 16 - n; raw: urgency - 16 - nice.
double user_factor(const PrioritySettings& settings, const JobInputs& job);
/// Clamped to [0, 1]; raw: unchanged.
double site_factor(const PrioritySettings& settings, const JobInputs& job);
/// The amount divided by the total of the job's queue, above 1 if it requests more; raw: the amount. `kind` <
/// resources.
double resource_factor(const PrioritySettings& settings, const JobInputs& job, std::size_t kind);
/// Sum over the types of weight x factor, in their order.
double resources_factor(const PrioritySettings& settings, const JobInputs& job);

/// The factor of a term that changes with neither time nor fair share. O(1), O(types) for resources.
double fixed_factor(Factor factor, const PrioritySettings& settings, const ClassFactors& classes, const JobInputs& job);

}  // namespace weir
