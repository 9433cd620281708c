// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a site's settings for priorities (weights, maximum wait, priorities of classes, measure of sizes,
// normalisation, rounding) and their validation. Must not know TOML nor where settings come from.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "libsched/job.hpp"

namespace weir {

/// The terms of the sum, in the order in which they are added and shown.
enum class Factor : std::uint8_t { wait, fairshare, qos, queue, size, user, association, site, resources };
inline constexpr std::size_t factor_count = 9;
inline constexpr std::array<const char*, factor_count> factor_names{"wait", "fairshare",   "qos",  "queue",    "size",
                                                                    "user", "association", "site", "resources"};

constexpr std::size_t index_of(Factor factor) {
    return static_cast<std::size_t>(factor);
}

/// How a job's size is measured, before the choice of large or small.
enum class SizeRule : std::uint8_t {
    cores,            ///< cores / cores of the machine
    nodes_and_cores,  ///< mean of that and of nodes / nodes of the machine (Slurm's default)
    over_time,        ///< cores, or the cores of its nodes if more, / time limit in minutes / cores of the machine
};

/// How the sum becomes an integer.
enum class Rounding : std::uint8_t {
    nearest,
    down,  ///< cut off (Slurm); a value within 2^-30 below a whole number counts as that number
};

/// A resource type with a weight.
struct ResourceWeight {
    std::string name;           ///< "gpu", "mem", "license/matlab"
    double weight = 0.;         ///< in priority units; may be negative
    std::vector<double> total;  ///< the queue's total, by queue index; past the end the last one; none or 0: factor 0
};
inline constexpr std::size_t resource_kinds_max = 8;

struct PrioritySettings {
    /// In priority units, by Factor; finite and >= 0. The weight of resources multiplies the sum over the types.
    std::array<double, factor_count> weights{1000., 10000., 1000., 1000., 500., 1000., 0., 0., 1.};
    /// Terms that are not normalised: qos, queue, association: the class's own priority; resources: the amount; user:
    /// urgency - 16 - nice; site: the value. The other terms are always normalised.
    std::array<bool, factor_count> is_raw{};
    /// The wait at which the wait factor reaches its maximum 1; > 0.
    Duration wait_max = std::chrono::hours(24 * 7);
    /// Priority of each QoS and queue by index; index 0 is "none given". Finite, >= 0; the factor is the priority
    /// divided by the greatest one (0 if all are 0), as in Slurm. At most 256 QoS and 65,536 queues.
    std::vector<double> qos_priority{0.};
    std::vector<double> queue_priority{0.};
    /// The same by association, with the index of JobInputs::association; past the end 0. May be empty.
    std::vector<double> association_priority;
    double association_priority_max = 0.;   ///< their divisor; 0: the greatest of the list
    std::vector<ResourceWeight> resources;  ///< by index of JobExtras::resources; at most resource_kinds_max
    SizeRule size_rule = SizeRule::cores;
    bool size_favors_large = true;
    std::uint32_t machine_cores = 1;  ///< the divisor of sizes; >= 1
    std::uint32_t machine_nodes = 1;  ///< the same for nodes; >= 1
    Rounding rounding = Rounding::nearest;
    std::uint32_t ceiling = priority_max;  ///< the upper bound of the sum; >= 1
    bool only_raises = false;  ///< a pass never lowers a priority; an update of the job may (Slurm's INCR_ONLY)
};

/// Every reason why the settings cannot be used, one sentence each, joined by "; ".
Status validate(const PrioritySettings& settings);

/// One sentence for each setting without effect.
std::vector<std::string> warnings(const PrioritySettings& settings);

double weight_of(const PrioritySettings& settings, Factor factor);

}  // namespace weir
