// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the closed form of decaying usage, backwards and forwards. u' = cores running - u ln 2 / half-life.
#include "cmd/pictures/usage_lines.hpp"

#include <algorithm>
#include <cmath>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr double day_s = 86400;
constexpr std::size_t past_looks = 64;  ///< places at which the past is compared with the ledger

bool is_in_node(const std::string& path, const std::string& node) {
    return path.compare(0, node.size(), node) == 0 && (path.size() == node.size() || path[node.size()] == '/');
}

/// The present value of a core-second at `at_s`.
double weight_at(double at_s, double half_life_s) {
    return half_life_s > 0 ? std::exp2(at_s / half_life_s) : 1;
}

/// The present value of one core from `from_s` to `to_s`.
double left_of(double from_s, double to_s, double half_life_s) {
    return half_life_s > 0
               ? half_life_s / std::log(2.) * (weight_at(to_s, half_life_s) - weight_at(from_s, half_life_s))
               : to_s - from_s;
}

}  // namespace

UsageLines::UsageLines(UsageInputs inputs) : inputs_(std::move(inputs)), charges_(inputs_.nodes.size() + 1) {
    for (const UsageCharge& charge : inputs_.charges) {
        for (std::size_t node = 0; node < inputs_.nodes.size(); ++node) {
            if (is_in_node(charge.path, inputs_.nodes[node].path)) {
                charges_[node].push_back(charge);
            }
        }
        charges_.back().push_back(charge);
    }
    const double farthest = inputs_.half_life_s > 0 ? -4 * inputs_.half_life_s : -28 * day_s;
    since_s_ = std::min(0., std::max(inputs_.known_since_s, farthest));
    // A charge that the ledger does not have (a job that was counted otherwise) would make the past negative.
    for (std::size_t node = 0; node < charges_.size(); ++node) {
        for (std::size_t i = 1; i <= past_looks && since_s_ < 0; ++i) {
            const double at = since_s_ * static_cast<double>(i) / past_looks;
            if (before(node, at) < -1e-3 * (usage(node) + 1)) {
                since_s_ = since_s_ * static_cast<double>(i - 1) / past_looks;
                break;
            }
        }
    }
}

double UsageLines::until_s() const {
    return inputs_.half_life_s > 0 ? 2 * inputs_.half_life_s : 14 * day_s;
}

/// The index behind the last node stands for all usage.
double UsageLines::usage(std::size_t node) const {
    return node < inputs_.nodes.size() ? inputs_.nodes[node].usage_core_s : inputs_.all_core_s;
}

double UsageLines::before(std::size_t node, double at_s) const {
    double left = usage(node);
    for (const UsageCharge& charge : charges_[node]) {
        const double from = std::max(charge.begin_s, at_s);
        left -= charge.end_s > from ? charge.cores * left_of(from, charge.end_s, inputs_.half_life_s) : 0;
    }
    return left / weight_at(at_s, inputs_.half_life_s);
}

UsageLine UsageLines::past(std::size_t node, std::size_t points) const {
    UsageLine line;
    for (std::size_t i = 0; since_s_ < 0 && i <= points; ++i) {
        const double at = since_s_ * (1 - static_cast<double>(i) / static_cast<double>(points));
        const double all = before(inputs_.nodes.size(), at);
        line.emplace_back(at, all > 1e-9 ? std::clamp(before(node, at) / all, 0., 1.) : 0);
    }
    return line;
}

/// The mean number of cores, weighted as usage is, over the last half-life or its known part.
double UsageLines::pace(std::size_t node) const {
    const double from = std::max(since_s_, inputs_.half_life_s > 0 ? -inputs_.half_life_s : -7 * day_s);
    const double gained = usage(node) - before(node, from) * weight_at(from, inputs_.half_life_s);
    return from < 0 ? std::max(0., gained / left_of(from, 0, inputs_.half_life_s)) : 0;
}

std::vector<UsageLine> UsageLines::ahead(const std::vector<std::size_t>& nodes, std::size_t points) const {
    const double all_now = inputs_.all_core_s;
    double rest_now = all_now, rest_pace = pace(inputs_.nodes.size());
    std::vector<double> paces;
    for (const std::size_t node : nodes) {
        const bool is_above = all_now > 0 && usage(node) / all_now > inputs_.nodes[node].entitled;
        rest_now -= usage(node);
        rest_pace -= pace(node);
        paces.push_back(is_above ? 0 : pace(node));
    }
    std::vector<UsageLine> lines(nodes.size());
    for (std::size_t i = 0; i <= points; ++i) {
        const double at = until_s() * static_cast<double>(i) / static_cast<double>(points);
        // The value at `at` of the present usage, and of one core that runs until then.
        const double kept = weight_at(-at, inputs_.half_life_s);
        const double added = left_of(-at, 0, inputs_.half_life_s);
        double all = std::max(0., rest_now) * kept + std::max(0., rest_pace) * added;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            all += usage(nodes[n]) * kept + paces[n] * added;
        }
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const double own = usage(nodes[n]) * kept + paces[n] * added;
            lines[n].emplace_back(at, all > 0 ? own / all : 0);
        }
    }
    return lines;
}

std::string span_text(double seconds) {
    return duration_text(duration_from_seconds(std::abs(seconds)));
}

std::optional<double> meeting(const UsageLine& line, double level) {
    for (std::size_t i = 1; i < line.size(); ++i) {
        const double before = line[i - 1].second - level, after = line[i].second - level;
        if (before != 0 && before * after <= 0) {
            return line[i - 1].first + (line[i].first - line[i - 1].first) * before / (before - after);
        }
    }
    return std::nullopt;
}

}  // namespace weir::cmd
