// SPDX-License-Identifier: LGPL-3.0-only
// Owns: pictures of accounts: share against usage, what was due and what was got, distance from entitlement.
#include <algorithm>
#include <optional>

#include "cmd/common/text.hpp"
#include "cmd/sim/picture_axes.hpp"
#include "cmd/sim/pictures.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t accounts_max = 20;

/// Usage as a multiple of the share, among accounts with demand; nothing if the account has none.
std::optional<double> multiple_of_share(const std::vector<AskingPart>& parts, std::size_t account) {
    for (const AskingPart& part : parts) {
        if (part.party == account && part.entitled > 0) {
            return part.used / part.entitled;
        }
    }
    return std::nullopt;
}

/// By policy, by sample.
using AskingSamples = std::vector<std::vector<std::vector<AskingPart>>>;
AskingSamples asking_samples(const Comparison& comparison) {
    AskingSamples samples;
    for (const Measured& policy : comparison.policies) {
        auto& list = samples.emplace_back();
        for (const UsageSample& sample : policy.usage) {
            list.push_back(asking_parts(sample, comparison.yardstick.accounts));
        }
    }
    return samples;
}

constexpr double multiple_max = 4;  ///< the most that is drawn: at the beginning the first accounts have all usage

}  // namespace

Picture share_picture(const Comparison& comparison) {
    const auto accounts = shown_accounts(comparison, usage_panels_max);
    const auto entitled = comparison.yardstick.accounts.entitled();
    const AskingSamples samples = asking_samples(comparison);
    const double across = 310, down = 150;
    const std::size_t rows = (accounts.size() + 2) / 3;
    // One series of values an account and policy, in that order.
    std::vector<Series> values;
    std::string words;
    for (const std::size_t account : accounts) {
        words += (words.empty() ? "" : "; ") + comparison.yardstick.accounts.parties[account].name +
                 " is entitled to " + percent(entitled[account]) + " of the machine and used of its share";
        for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
            auto& series = values.emplace_back();
            for (std::size_t i = 0; i < samples[p].size(); ++i) {
                series.emplace_back(since_begin_s(comparison, comparison.policies[p].usage[i].at),
                                    multiple_of_share(samples[p][i], account));
            }
            words += ", under " + comparison.policies[p].name + ", " + mean_text(series, " times");
        }
    }
    Svg svg("shares", picture_width, down * static_cast<double>(rows) + 60, "Usage against share over time",
            words + ".");
    const double top = 28 + svg.legend(46, 12, picture_width - 46, names_of(comparison));
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        const double x0 = 46 + across * static_cast<double>(i % 3);
        const std::size_t row = i / 3;
        const double y0 = top + down * static_cast<double>(row);
        const Axis x = time_axis(comparison, x0, x0 + across - 56, 4);
        const Axis y{0, multiple_max, y0 + down - 44, y0 + 6, 0, round_ticks(0, multiple_max, 4, "×")};
        const std::string share = "share " + percent(entitled[accounts[i]]);
        svg.text(x0, y0 - 4, clipped(comparison.yardstick.accounts.parties[accounts[i]].name, 20), "bold");
        svg.text(x.to, y0 - 4, share, "faint end");
        svg.axes(x, y);
        svg.line(x.from, y.at(1), x.to, y.at(1), "due");
        for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
            for (const Points& stretch : stretches(values[i * comparison.policies.size() + p])) {
                svg.curve(x, y, stretch, p);
            }
        }
    }
    const std::size_t all = shown_accounts(comparison, SIZE_MAX).size();
    return {
        "Usage against share over time",
        "Line: usage (half-life " + duration_text(comparison.yardstick.half_life) +
            ", running jobs included) as a multiple of the share, both among the accounts that have a job queued or "
            "running; drawn while the account has one. Dashed: as much as its share." +
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
    return {distance_heading, distance_caption(to_seconds(comparison.yardstick.half_life)),
            distance_picture(policy_lines(comparison), since_begin_s(comparison, comparison.end))};
}

}  // namespace weir::cmd
