// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a site decides about priorities: six weights, the maximum wait, the classes' own priorities, which sizes
// are favoured; and the judgement whether those make sense. Must not know TOML nor where settings come from.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"

namespace weir {

/// The terms of the sum, in the order in which they are added and shown.
enum class Factor : std::uint8_t { wait, fairshare, qos, queue, size, user };
inline constexpr std::size_t factor_count = 6;
inline constexpr std::array<const char*, factor_count> factor_names{"wait",  "fairshare", "qos",
                                                                    "queue", "size",      "user"};

struct PrioritySettings {
    /// In priority units, by Factor; finite and >= 0.
    std::array<double, factor_count> weights{1000., 10000., 1000., 1000., 500., 1000.};
    /// The wait after which the wait factor is 1 and stays there; > 0.
    Duration wait_max = std::chrono::hours(24 * 7);
    /// Priority of each QoS and queue by index; index 0 is "none given". Finite, >= 0; the factor is its part of the
    /// greatest one (0 when all are 0), as Slurm normalises. At most 256 QoS and 65,536 queues.
    std::vector<double> qos_priority{0.};
    std::vector<double> queue_priority{0.};
    bool size_favors_large = true;
    std::uint32_t machine_cores = 1;  ///< what a size is measured against; >= 1
};

/// Every reason why the settings cannot be used, one sentence each, joined by "; ".
Status validate(const PrioritySettings& settings);

/// One sentence for each setting that can have no effect.
std::vector<std::string> warnings(const PrioritySettings& settings);

double weight_of(const PrioritySettings& settings, Factor factor);

// The five factors that need no tree; each in [0, 1].
double wait_factor(Duration waited, Duration wait_max);
double class_factor(const std::vector<double>& priorities, std::size_t index);
/// class_factor of every index, for a table.
std::vector<double> class_factors(const std::vector<double>& priorities);
double size_factor(const PrioritySettings& settings, std::uint32_t cores);
/// (urgency - 1) / 29 for 1..30: 16, the default, is 15/29. Nice n is urgency 16 - n.
double user_factor(std::uint8_t urgency);

}  // namespace weir
