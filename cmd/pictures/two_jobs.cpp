// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of picture 3, and the rounding of the gap.
#include "cmd/pictures/two_jobs.hpp"

#include <algorithm>
#include <cmath>

#include "cmd/common/text.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr double two_jobs_width = 940, bars_from = 240, bars_to = 800;

double points_of(const JobTerms& job, const std::string& name) {
    double points = 0;
    for (const auto& [term, value] : job.terms) {
        points += term == name ? value : 0;
    }
    return points;
}

/// Names of terms in which either has points, in the order of the first.
std::vector<std::string> names_in(const JobTerms& a, const JobTerms& b) {
    std::vector<std::string> term_names;
    for (const JobTerms* job : {&a, &b}) {
        for (const auto& [name, points] : job->terms) {
            if (points != 0 && std::find(term_names.begin(), term_names.end(), name) == term_names.end()) {
                term_names.push_back(name);
            }
        }
    }
    return term_names;
}

struct Sums {
    double below = 0, above = 0;
};
Sums sums_of(const JobTerms& job) {
    Sums sums;
    for (const auto& [name, points] : job.terms) {
        if (points < 0) {
            sums.below += points;
        } else {
            sums.above += points;
        }
    }
    return sums;
}

void draw_job(Svg& svg, const JobTerms& job, const std::vector<std::string>& term_names, double top, const Axis& x) {
    std::vector<std::pair<std::string, std::string>> data{{"job", job.job}, {"priority", std::to_string(job.priority)}};
    svg.open(data, job.job + " of " + job.user + ", " + job.note);
    svg.text(8, top + 12, clipped(job.job + " " + job.user, 28), "bold");
    svg.text(8, top + 27, clipped(job.note, 34), "faint");
    double above = 0, below = 0;
    for (std::size_t i = 0; i < term_names.size(); ++i) {
        const double points = points_of(job, term_names[i]);
        double& edge = points < 0 ? below : above;
        const double from = x.at(edge), to = x.at(edge + points);
        edge += points;
        if (points != 0) {
            svg.rect({std::min(from, to), top, std::abs(to - from), 26},
                     (points < 0 ? "left " : "bar ") + series_class(i), term_names[i] + " " + exact(points));
        }
    }
    svg.text(x.at(above) + 10, top + 17, grouped(job.priority), "bold");
    svg.close();
}

std::string gap_text(const JobTerms& ahead, const JobTerms& behind) {
    std::string text = "The gap of " + grouped(ahead.priority - behind.priority) + " is";
    const auto terms = gap_terms(ahead, behind);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        text += (i == 0 ? " " : ", ") + terms[i].first + " " + (terms[i].second < 0 ? "-" : "") +
                grouped(std::abs(terms[i].second));
    }
    return text + (terms.empty() ? " nothing: the older job is first" : "");
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> gap_terms(const JobTerms& ahead, const JobTerms& behind) {
    std::vector<std::pair<std::string, std::int64_t>> terms;
    std::vector<std::pair<double, std::size_t>> rests;  // the losses by rounding down, greatest first
    const std::int64_t gap = ahead.priority - behind.priority;
    std::int64_t open = gap;
    for (const std::string& name : names_in(ahead, behind)) {
        const double points = points_of(ahead, name) - points_of(behind, name);
        const double whole = std::floor(points);
        rests.emplace_back(whole - points, terms.size());
        terms.emplace_back(name, static_cast<std::int64_t>(whole));
        open -= terms.back().second;
    }
    std::sort(rests.begin(), rests.end());
    for (const auto& [rest, at] : rests) {
        if (open <= 0 || rest == 0) {
            break;
        }
        terms[at].second += 1;
        open -= 1;
    }
    if (open != 0) {
        terms.emplace_back(
            terms.empty() || std::abs(open) > static_cast<std::int64_t>(terms.size()) ? "other" : "rounding", open);
    }
    std::erase_if(terms, [](const auto& term) { return term.second == 0; });
    std::stable_sort(terms.begin(), terms.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
    return terms;
}

std::string two_jobs_picture(const JobTerms& ahead, const JobTerms& behind) {
    const auto term_names = names_in(ahead, behind);
    const Sums a = sums_of(ahead), b = sums_of(behind);
    const Axis x{std::min({a.below, b.below, 0.}), std::max({a.above, b.above, 1.}), bars_from, bars_to, 0, {}};
    const std::string gap = gap_text(ahead, behind);
    const std::size_t a_row = 8;
    const double legend_rows = std::ceil(static_cast<double>(term_names.size()) / a_row);
    Svg svg("two-jobs", two_jobs_width, 140 + 18 * legend_rows, "Why one job is ahead of another",
            ahead.job + " of " + ahead.user + " is ahead of " + behind.job + " of " + behind.user + ". " + gap + ".");
    for (std::size_t i = 0; i < term_names.size(); ++i) {
        const std::size_t line = i / a_row;
        const double at = 8 + 115 * static_cast<double>(i % a_row), row = 4 + 18 * static_cast<double>(line);
        svg.rect({at, row, 10, 10}, "bar " + series_class(i));
        svg.text(at + 15, row + 9, clipped(term_names[i], 13), "faint");
    }
    const double top = 12 + 18 * legend_rows;
    draw_job(svg, ahead, term_names, top, x);
    draw_job(svg, behind, term_names, top + 52, x);
    svg.line(x.at(0), top - 4, x.at(0), top + 84, "rule");
    svg.text(8, top + 112, clipped(gap, 145));
    return svg.str();
}

}  // namespace weir::cmd
