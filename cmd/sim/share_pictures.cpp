// SPDX-License-Identifier: LGPL-3.0-only
// Owns: pictures of accounts: share against usage, what was due and what was got, distance from entitlement.
#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/sim/picture_axes.hpp"
#include "cmd/sim/pictures.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t accounts_max = 20;

double part_of(const UsageSample& sample, std::size_t account) {
    return sample.usage_core_s[0] > 0 ? sample.usage_core_s[account] / sample.usage_core_s[0] : 0;
}

std::string half_life_text(const Comparison& comparison) {
    return duration_text(comparison.yardstick.half_life);
}

}  // namespace

Picture share_picture(const Comparison& comparison) {
    const auto accounts = shown_accounts(comparison, usage_panels_max);
    const auto entitled = comparison.yardstick.accounts.entitled();
    const double across = 310, down = 150;
    double high = 0;
    std::string words;
    for (const std::size_t account : accounts) {
        high = std::max(high, entitled[account]);
        words += (words.empty() ? "" : "; ") + comparison.yardstick.accounts.parties[account].name +
                 " is entitled to " + percent(entitled[account]);
        for (const Measured& policy : comparison.policies) {
            double mean = 0;
            for (std::size_t i = 0; i < policy.usage.size(); ++i) {
                const UsageSample& sample = policy.usage[i];
                // At the beginning the first to come have all: that must not flatten the rest.
                high = i >= policy.usage.size() / 20 ? std::max(high, part_of(sample, account)) : high;
                mean += part_of(sample, account) / static_cast<double>(policy.usage.size());
            }
            words += ", uses " + percent(mean) + " in the mean under " + policy.name;
        }
    }
    const std::size_t rows = (accounts.size() + 2) / 3;
    Svg svg("shares", picture_width, down * static_cast<double>(rows) + 60, "Share against usage over time",
            words + ".");
    const double top = 28 + svg.legend(46, 12, picture_width - 46, names_of(comparison));
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        const std::size_t row = i / 3;
        const double x0 = 46 + across * static_cast<double>(i % 3);
        const double y0 = top + down * static_cast<double>(row);
        const Axis x = time_axis(comparison, x0, x0 + across - 56, 4);
        const Axis y{0, high * 100, y0 + down - 44, y0 + 4, 0, round_ticks(0, high * 100, 3, " %")};
        svg.text(x0, y0 - 3, comparison.yardstick.accounts.parties[accounts[i]].name, "bold");
        svg.text(x.to, y0 - 3, "share " + percent(entitled[accounts[i]]), "faint end");
        svg.axes(x, y);
        svg.line(x.from, y.at(entitled[accounts[i]] * 100), x.to, y.at(entitled[accounts[i]] * 100), "due");
        for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
            Points points;
            for (const UsageSample& sample : comparison.policies[p].usage) {
                points.emplace_back(days(comparison, sample.at), 100 * part_of(sample, accounts[i]));
            }
            svg.curve(x, y, points, p);
        }
    }
    const std::size_t all = shown_accounts(comparison, SIZE_MAX).size();
    return {"Share against usage over time",
            "Line: part of all usage (half-life " + half_life_text(comparison) +
                ", running jobs included). Dashed: " + "entitlement." +
                (all > accounts.size()
                     ? " The " + std::to_string(accounts.size()) + " that got most, of " + std::to_string(all) + "."
                     : ""),
            svg.str()};
}

Picture due_picture(const Comparison& comparison) {
    const auto accounts = shown_accounts(comparison, accounts_max);
    double high = 1;
    std::string words;
    for (const std::size_t account : accounts) {
        words += (words.empty() ? "" : "; ") + comparison.yardstick.accounts.parties[account].name + " got";
        for (const Measured& policy : comparison.policies) {
            const PartyMetrics& got = policy.by_account[account];
            const double part = got.allotted_core_s > 0 ? got.delivered_core_s / got.allotted_core_s : 0;
            high = std::max(high, part);
            words += " " + percent(part) + " under " + policy.name + ",";
        }
        words.pop_back();
    }
    const double row = 22;
    const double name_width = 150;
    Svg svg("due", picture_width, row * static_cast<double>(accounts.size()) + 76, "Delivered against allotted",
            words + ".");
    const double top = 22 + svg.legend(name_width, 12, picture_width - name_width, names_of(comparison));
    const double bottom = top + row * static_cast<double>(accounts.size());
    const Axis x{0, high * 103, name_width, picture_width - 30, 0, round_ticks(0, high * 103, 8, " %")};
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        const double y = top + row * static_cast<double>(i) + row / 2;
        svg.text(name_width - 10, y + 4, clipped(comparison.yardstick.accounts.parties[accounts[i]].name, 20), "end");
        svg.line(x.from, y, x.to, y, "grid");
        for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
            const PartyMetrics& got = comparison.policies[p].by_account[accounts[i]];
            if (got.allotted_core_s > 0) {
                const double part = got.delivered_core_s / got.allotted_core_s;
                svg.mark(x.at(part * 100), y, p, comparison.policies[p].name + ": " + percent(part));
            }
        }
    }
    svg.line(x.at(100), top - 8, x.at(100), bottom, "due");
    svg.axes(x, {0, 1, bottom, bottom, 0, {}});
    return {"Delivered against allotted",
            "What each got of its allotment: at every moment its share of the machine among those with demand, "
            "up to what it requested. Dashed: the whole allotment.",
            svg.str(), true};
}

Picture distance_picture(const Comparison& comparison) {
    std::string words;
    std::vector<Points> lines;
    double high = 1;
    for (const Measured& policy : comparison.policies) {
        Points points;
        double mean = 0;
        for (const UsageSample& sample : policy.usage) {
            const double distance = 100 * distance_from_entitlement(sample, comparison.yardstick.accounts);
            points.emplace_back(days(comparison, sample.at), distance);
            mean += distance / static_cast<double>(policy.usage.size());
            high = std::max(high, distance);
        }
        words += (words.empty() ? "" : "; ") + policy.name + ": " + fixed(mean, 1) + " % in the mean";
        lines.push_back(std::move(points));
    }
    Svg svg("distance", picture_width, 300, "Distance from entitlement over time", words + ".");
    const double top = 8 + svg.legend(64, 12, picture_width - 64, names_of(comparison));
    const Axis x = time_axis(comparison, 64, picture_width - 20, 10);
    const Axis y{0, high, 272, top, 0, round_ticks(0, high, 4, " %")};
    svg.axes(x, y);
    for (std::size_t p = 0; p < lines.size(); ++p) {
        svg.curve(x, y, lines[p], p);
    }
    return {"Distance from entitlement over time",
            "The part of all usage (half-life " + half_life_text(comparison) +
                ") that is not with whom it was due to. Lower is better; who asks for nothing counts too.",
            svg.str()};
}

}  // namespace weir::cmd
