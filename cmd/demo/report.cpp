// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sums behind the report. Integers until the last step.
#include "cmd/demo/report.hpp"

#include <algorithm>

#include "libsched/sim/slowdown.hpp"

namespace weir::cmd {
namespace {

template <typename T>
T lower_median(std::vector<T> values) {
    if (values.empty()) {
        return T{};
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double part(std::int64_t of, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(of) / static_cast<double>(whole);
}

}  // namespace

std::string association(const JobRecord& job) {
    return job.account + "/@" + job.user;
}

bool is_at_or_below(const std::string& path, const std::string& node) {
    return path.compare(0, node.size(), node) == 0 && (path.size() == node.size() || path[node.size()] == '/');
}

std::int64_t core_us(const JobRecord& job) {
    return job.recalled_core_us + (job.has_run() ? job.cores * (job.free - job.alloc).count() : 0);
}

std::int64_t core_us(const JobRecord& job, const Window& window) {
    const Instant begin = std::max(job.alloc, window.begin);
    const Instant end = std::min(job.free, window.end);
    return job.has_run() && end > begin ? job.cores * (end - begin).count() : 0;
}

std::vector<AccountRow> account_rows(const std::vector<JobRecord>& jobs, const std::vector<Entitlement>& tree,
                                     const Window& window) {
    std::int64_t all = 0, all_in_window = 0;
    for (const JobRecord& job : jobs) {
        all += core_us(job);
        all_in_window += core_us(job, window);
    }
    std::vector<AccountRow> rows;
    for (const Entitlement& node : tree) {
        AccountRow row;
        row.path = node.path;
        row.entitled = node.share;
        std::int64_t own = 0, own_in_window = 0;
        std::vector<Duration> waits;
        std::vector<double> slowdowns;
        for (const JobRecord& job : jobs) {
            if (!is_at_or_below(association(job), node.path)) {
                continue;
            }
            ++row.jobs;
            own += core_us(job);
            own_in_window += core_us(job, window);
            if (job.has_run()) {
                waits.push_back(job.alloc - job.submit);
                slowdowns.push_back(bounded_slowdown(job.alloc - job.submit, job.free - job.alloc));
                row.slowdown_mean += slowdowns.back();
            }
        }
        row.asked = part(own, all);
        row.delivered = part(own_in_window, all_in_window);
        row.ratio = node.share > 0 ? row.delivered / node.share : 0;
        row.slowdown_mean = slowdowns.empty() ? 0 : row.slowdown_mean / static_cast<double>(slowdowns.size());
        row.wait_median = lower_median(std::move(waits));
        row.slowdown_median = lower_median(std::move(slowdowns));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::map<std::string, std::int64_t> core_us_by_path(const std::vector<JobRecord>& jobs) {
    std::map<std::string, std::int64_t> sums{{"", 0}};
    for (const JobRecord& job : jobs) {
        const std::int64_t cost = core_us(job);
        sums[""] += cost;
        const std::string path = association(job);
        for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            sums[path.substr(0, slash)] += cost;
        }
        sums[path] += cost;
    }
    return sums;
}

}  // namespace weir::cmd
