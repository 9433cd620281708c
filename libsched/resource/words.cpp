// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see words.hpp.
#include "libsched/resource/words.hpp"

#include <vector>

namespace weir {

std::string plural(std::uint64_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string words_of(const Amounts& amounts) {
    std::vector<std::string> parts{plural(amounts.cores, "core")};
    if (amounts.gpus > 0) {
        parts.push_back(plural(amounts.gpus, "gpu"));
    }
    if (amounts.memory_mib > 0) {
        parts.push_back(std::to_string(amounts.memory_mib) + " MiB");
    }
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); i++) {
        text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
    }
    return text;
}

std::string words_of(const Request& request) {
    const std::uint64_t slots = cores_of(request) / request.cores_per_slot;
    const auto in_all = [slots](std::uint32_t each) { return static_cast<std::uint32_t>(slots * each); };
    const std::string amount = words_of(
        Amounts{in_all(request.cores_per_slot), in_all(request.gpus_per_slot), in_all(request.memory_per_slot_mib)});
    return request.nodes == 0 ? amount
                              : amount + " on " + plural(request.nodes, request.exclusive ? "whole node" : "node");
}

}  // namespace weir
