// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see warnings.hpp.
#include "libfairshare/usage/warnings.hpp"

#include <array>
#include <charconv>

namespace weir {

namespace {

std::string hours_text(Duration d) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), to_seconds(d) / 3600).ptr;
    return std::string{text.data(), end} + " h";
}

}  // namespace

std::vector<std::string> usage_warnings(const UsageSettings& settings) {
    std::vector<std::string> found;
    const auto outlived = [&](Duration memory, const std::string& what) {
        if (memory > Duration{0} && settings.wall_limit_max == Duration{0}) {
            found.push_back("jobs have no wall limit: one that outlives " + what + " (" + hours_text(memory) +
                            ") is forgiven while it runs; set a limit");
        } else if (memory > Duration{0} && memory < settings.wall_limit_max) {
            found.push_back(what + " (" + hours_text(memory) + ") is shorter than the longest wall limit (" +
                            hours_text(settings.wall_limit_max) +
                            "): long jobs are forgiven before they end; raise it or lower the limit");
        }
    };
    outlived(settings.half_life, "the half-life");
    if (settings.window) {
        outlived(settings.window->span(), "the window");
    }
    if (settings.fairshare_weight == 0) {
        found.emplace_back("the weight of fair share is 0: usage is counted but changes no priority; set a weight");
    }
    return found;
}

}  // namespace weir
