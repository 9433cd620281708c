// SPDX-License-Identifier: LGPL-3.0-only
// Owns: pictures of jobs and of the machine: frontier, waits, utilisation, Gantt; and the order of all.
#include "cmd/sim/pictures.hpp"

#include <algorithm>
#include <map>

#include "cmd/common/text.hpp"
#include "cmd/report/labels.hpp"
#include "cmd/sim/picture_axes.hpp"

namespace weir::cmd {
namespace {

constexpr double left = 64;

std::string span(double seconds) {
    return duration_text(duration_from_seconds(seconds));
}

/// Policies that no other beats in both.
std::vector<std::size_t> frontier(const std::vector<Measured>& policies) {
    std::vector<std::size_t> on;
    const auto x = [&](std::size_t i) { return policies[i].jobs.wait_s.max; };
    const auto y = [&](std::size_t i) { return policies[i].users.slowdown.mean; };
    for (std::size_t i = 0; i < policies.size(); ++i) {
        bool is_beaten = false;
        for (std::size_t j = 0; j < policies.size(); ++j) {
            is_beaten = is_beaten || (x(j) <= x(i) && y(j) <= y(i) && (x(j) < x(i) || y(j) < y(i)));
        }
        if (!is_beaten) {
            on.push_back(i);
        }
    }
    std::stable_sort(on.begin(), on.end(), [&](std::size_t a, std::size_t b) { return x(a) < x(b); });
    return on;
}

/// Users with most core time in the window, over all policies: they get a colour each.
std::map<std::uint32_t, std::size_t> colours(const Comparison& comparison) {
    std::map<std::uint32_t, double> area;
    for (const Measured& policy : comparison.policies) {
        for (const WindowJob& job : policy.window) {
            const Instant from = std::max(job.outcome.start, comparison.window_begin);
            const Instant to = std::min(job.outcome.end(), comparison.window_end);
            area[job.outcome.job.user] += to_seconds(to - from) * job.outcome.job.cores;
        }
    }
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const auto& [user, of] : area) {
        order.emplace_back(-of, user);
    }
    std::sort(order.begin(), order.end());
    std::map<std::uint32_t, std::size_t> colours;
    for (std::size_t i = 0; i < order.size() && i + 2 < series_max; ++i) {
        colours[order[i].second] = i < 6 ? i : i + 1;
    }
    return colours;
}

/// Where the hours and the cores are.
struct Plane {
    Axis x, y;
};

void draw_window(Svg& svg, const Plane& plane, const Comparison& comparison, const Measured& policy,
                 const std::map<std::uint32_t, std::size_t>& colour) {
    const auto& [x, y] = plane;
    for (const WindowJob& job : policy.window) {
        const SimJob& of = job.outcome.job;
        const double from = x.at(to_seconds(job.outcome.start - comparison.window_begin) / 3600);
        const double to = x.at(to_seconds(job.outcome.end() - comparison.window_begin) / 3600);
        const auto found = colour.find(of.user);
        const std::string colour_class = found != colour.end() ? series_class(found->second) : "other";
        const std::string hint = "job " + std::to_string(of.number) + ", user " + std::to_string(of.user) + ", " +
                                 std::to_string(of.cores) + " cores, waited " + duration_text(job.outcome.wait()) +
                                 ", ran " + duration_text(of.run);
        for (const auto& [low, high] : job.cores) {
            const double top = y.at(high);
            const double tall = y.at(low) - top;
            svg.rect({from, top, std::max(to - from, .5), std::max(tall, .3)},
                     (tall < 4 ? "thin job " : "job ") + colour_class, hint);
            if (to - from > 28 && tall > 10) {
                svg.text((from + to) / 2, top + tall / 2 + 3.5, std::to_string(of.user), "on middle");
            }
        }
    }
}

}  // namespace

Picture frontier_picture(const Comparison& comparison) {
    const auto& policies = comparison.policies;
    double x_high = 60, y_high = 1;
    std::string words;
    for (const Measured& policy : policies) {
        x_high = std::max(x_high, policy.jobs.wait_s.max * 1.15);
        y_high = std::max(y_high, policy.users.slowdown.mean * 1.15);
        words += (words.empty() ? "" : "; ") + policy.name + ": longest wait " + span(policy.jobs.wait_s.max) +
                 ", users' mean slowdown " + fixed(policy.users.slowdown.mean, 2);
    }
    const Axis x{0, x_high / 3600, left, picture_width - 20, 0, round_ticks(0, x_high / 3600, 8, " h")};
    const Axis y{0, y_high, 330, 24, 0, round_ticks(0, y_high, 6)};
    Svg svg("frontier", picture_width, 372, "Slowdown against the longest wait", words + ".");
    svg.axes(x, y);
    svg.text(left, 14, "users' mean bounded slowdown", "faint");
    svg.text(picture_width - 20, 364, "longest wait of any job", "faint end");
    Points steps;
    const auto on = frontier(policies);
    for (std::size_t i = 0; i < on.size(); ++i) {
        const double px = x.at(policies[on[i]].jobs.wait_s.max / 3600);
        const double py = y.at(policies[on[i]].users.slowdown.mean);
        if (i > 0) {
            steps.emplace_back(px, steps.back().second);
        }
        steps.emplace_back(px, py);
    }
    svg.path(steps, "due");
    LabelPlaces places(picture_width);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        places.add_line(steps[i - 1].first, steps[i - 1].second, steps[i].first, steps[i].second);
    }
    for (const Tick& tick : y.ticks) {
        places.add_line(x.from, y.at(tick.at), x.to, y.at(tick.at));
    }
    for (const Measured& policy : policies) {  // the marks of all
        const double px = x.at(policy.jobs.wait_s.max / 3600), py = y.at(policy.users.slowdown.mean);
        places.add_line(px - 5, py - 5, px + 5, py + 5);
    }
    for (std::size_t i = 0; i < policies.size(); ++i) {
        const double px = x.at(policies[i].jobs.wait_s.max / 3600);
        const double py = y.at(policies[i].users.slowdown.mean);
        svg.mark(px, py, i);
        const LabelPlace at = places.place(px, py, policies[i].name);
        svg.text(at.x, at.y, policies[i].name, at.is_end ? "end" : "");
    }
    return {"Slowdown against the longest wait",
            "Lower left is better. Dashed: policies that none of the others beats in both.", svg.str()};
}

Picture wait_picture(const Comparison& comparison) {
    return {waits_heading, waits_caption, waits_picture(policy_lines(comparison))};
}

Picture load_picture(const Comparison& comparison) {
    const double panel = 96;
    const auto& policies = comparison.policies;
    const double cores = static_cast<double>(comparison.yardstick.cores);
    std::string words;
    for (const Measured& policy : policies) {
        words += (words.empty() ? "" : "; ") + policy.name + ": " + percent(policy.machine.utilization) +
                 " busy from the first submission to the last end, " + percent(policy.machine.capacity_lost) +
                 " lost while jobs waited";
    }
    Svg svg("load", picture_width, panel * static_cast<double>(policies.size()) + 30, "Utilisation over time",
            words + ".");
    for (std::size_t i = 0; i < policies.size(); ++i) {
        const double top = panel * static_cast<double>(i) + 22;
        Axis x = time_axis(comparison, left, picture_width - 20, 10);
        if (i + 1 < policies.size()) {
            x.ticks.clear();
        }
        const Axis y{0, 100, top + panel - 34, top, 0, {{0, "0 %"}, {50, "50 %"}, {100, "100 %"}}};
        svg.text(left, top - 7, policies[i].name, "bold");
        svg.text(picture_width - 20, top - 7, percent(policies[i].machine.utilization) + " busy", "faint end");
        Points busy, wanted;
        for (const MachineSample& sample : policies[i].load) {
            const double at = x.at(since_begin_s(comparison, sample.from));
            busy.emplace_back(at, y.at(100 * sample.busy / cores));
            wanted.emplace_back(at, y.at(100 * (sample.busy + sample.waiting) / cores));
        }
        svg.area(busy, y.from, series_class(i));
        svg.axes(x, y);
        svg.path(busy, series_class(i));
        svg.path(wanted, "due");
    }
    return {"Utilisation over time",
            "Filled: cores that run jobs. Dashed: cores that run or are waited for, up to the whole machine; the gap "
            "between the two was idle although jobs waited.",
            svg.str()};
}

Picture gantt_picture(const Comparison& comparison) {
    const double panel = 200;
    const auto& policies = comparison.policies;
    const auto colour = colours(comparison);
    const double hours = to_seconds(comparison.window_end - comparison.window_begin) / 3600;
    std::string words;
    for (const Measured& policy : policies) {
        std::size_t started = 0;
        for (const WindowJob& job : policy.window) {
            started += job.outcome.start >= comparison.window_begin ? 1 : 0;
        }
        words += (words.empty() ? "" : "; ") + policy.name + ": " + std::to_string(policy.window.size()) +
                 " jobs run, " + std::to_string(started) + " of them start";
    }
    Svg svg("gantt", picture_width, panel * static_cast<double>(policies.size()) + 34, "Jobs on cores",
            "In the " + span(hours * 3600) + " from day " +
                fixed(since_begin_s(comparison, comparison.window_begin) / 86400, 1) + " " + words + ".");
    double at = left;
    for (const auto& [user, series] : colour) {
        svg.rect({at, 2, 12, 12}, "job " + series_class(series));
        const std::string name = "user " + std::to_string(user);
        svg.text(at + 17, 12, name);
        at += 34 + 7 * static_cast<double>(name.size());
    }
    svg.rect({at, 2, 12, 12}, "job other");
    svg.text(at + 17, 12, "others");
    for (std::size_t i = 0; i < policies.size(); ++i) {
        const double top = panel * static_cast<double>(i) + 38;
        const double cores = static_cast<double>(comparison.yardstick.cores);
        const Plane plane{{0, hours, left, picture_width - 20, 0, round_ticks(0, hours, 8, " h")},
                          {0, cores, top + panel - 42, top, 0, round_ticks(0, cores, 3)}};
        svg.text(left, top - 6, policies[i].name, "bold");
        svg.axes(plane.x, plane.y);
        draw_window(svg, plane, comparison, policies[i], colour);
    }
    return {"Jobs on cores",
            "One day (or less) around the deepest queue, from day " +
                fixed(since_begin_s(comparison, comparison.window_begin) / 86400, 1) +
                " of the log; the number is the user's. Cores are interchangeable: a job may be drawn in pieces.",
            svg.str()};
}

std::vector<Picture> pictures(const Comparison& comparison) {
    for (const Measured& policy : comparison.policies) {
        if (policy.jobs.jobs == 0) {
            return {};
        }
    }
    return {frontier_picture(comparison), share_picture(comparison), due_picture(comparison),
            distance_picture(comparison), wait_picture(comparison),  load_picture(comparison),
            gantt_picture(comparison)};
}

}  // namespace weir::cmd
