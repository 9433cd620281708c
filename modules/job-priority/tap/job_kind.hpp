// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the kind of a new job, which determines its first priority, as a text that plugin and module build in the same
// way, and the cores that a jobspec requests (RFC 14, 25). Must not know: Flux, priorities.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libfairshare/base/flat_json.hpp"

namespace weir::priority {

/// The greatest count of a jobspec; greater ones are cut, so that products of counts fit 64 bits.
inline constexpr std::int64_t requested_count_max = 1'000'000'000;
/// Levels of resources that are read.
inline constexpr int requested_depth_max = 32;

/// A resource's count: a number, {"min": n, ...} or an RFC 14 range as text "2+". In [0, requested_count_max].
std::int64_t requested_count(FlatValue resource);
/// Cores that the resources request: counts multiply along nodes, slots and cores; of a range the least. At least 1.
std::int64_t requested_cores(FlatValue resources);

/// Two new jobs of one kind have the same first priority.
struct JobKind {
    std::uint32_t userid = 0;
    int urgency = 16;
    std::string_view account;
    std::string_view queue;
    std::string_view qos;
    std::int64_t cores = 1;
};
/// A text that differs where the kinds differ.
std::string text_of(const JobKind& kind);
/// The same of a submitted job. Nothing if `attributes.system.weir` tells who else pays for it: a copy of a parent's
/// job, a partition.
std::optional<std::string> kind_of_jobspec(std::uint32_t userid, int urgency, FlatValue jobspec);

}  // namespace weir::priority
