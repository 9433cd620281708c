// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the lines of the exposition. Source: OpenMetrics 1.0, sections 3 and 4.
#include "cmd/metrics/open_metrics.hpp"

#include <cmath>

#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

/// Backslash, quote and line feed as the format escapes them.
std::string escaped_label(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
    }
    return out;
}

/// The format wants a bound to be a number with a point: "60.0".
std::string fixed_bound(double bound) {
    const std::string text = exact(bound);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

void OpenMetrics::announce(const char* type, const std::string& name, const std::string& unit,
                           const std::string& help) {
    name_ = name;
    text_ += "# TYPE " + name + " " + type + "\n" + (unit.empty() ? "" : "# UNIT " + name + " " + unit + "\n") +
             "# HELP " + name + " " + escaped_label(help) + "\n";
}

void OpenMetrics::gauge(const std::string& name, const std::string& unit, const std::string& help) {
    announce("gauge", name, unit, help);
    suffix_.clear();
}

void OpenMetrics::counter(const std::string& name, const std::string& unit, const std::string& help) {
    announce("counter", name, unit, help);
    suffix_ = "_total";
}

void OpenMetrics::summary(const std::string& name, const std::string& unit, const std::string& help) {
    announce("summary", name, unit, help);
    suffix_.clear();
}

void OpenMetrics::histogram(const std::string& name, const std::string& unit, const std::string& help) {
    announce("histogram", name, unit, help);
    suffix_.clear();
}

void OpenMetrics::line(const std::string& suffix, const Labels& labels, double value) {
    std::string list;
    for (const auto& [name, text] : labels) {
        list += (list.empty() ? "{" : ",") + name + "=\"" + escaped_label(text) + "\"";
    }
    text_ += name_ + suffix + list + (list.empty() ? " " : "} ") + exact(value) + "\n";
}

void OpenMetrics::sample(double value, const Labels& labels) {
    if (std::isfinite(value)) {
        line(suffix_, labels, value);
    }
}

void OpenMetrics::sum_and_count(double sum, std::int64_t count, const Labels& labels) {
    line("_count", labels, static_cast<double>(count));
    line("_sum", labels, sum);
}

void OpenMetrics::buckets(const std::vector<double>& bounds, const std::vector<std::int64_t>& counts, double sum) {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        all += counts[i];
        line("_bucket", {{"le", i < bounds.size() ? fixed_bound(bounds[i]) : "+Inf"}}, static_cast<double>(all));
    }
    line("_count", {}, static_cast<double>(all));
    line("_sum", {}, sum);
}

}  // namespace weir::cmd
