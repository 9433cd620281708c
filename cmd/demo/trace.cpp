// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a real log as a workload of the demo.
#include <algorithm>
#include <set>

#include "cmd/common/text.hpp"
#include "cmd/demo/workload.hpp"

namespace weir::cmd {
namespace {

constexpr Duration trace_debug_limit = std::chrono::minutes(15);

bool is_usable(const SwfJob& job) {
    return job.run > 0 && job.processors > 0 && job.submit >= 0;
}

}  // namespace

Result<Workload> workload_of_log(const std::vector<SwfJob>& log, std::int64_t processors, const std::string& source,
                                 std::int64_t count) {
    Workload workload;
    std::int64_t largest = 0;
    std::vector<SwfJob> lines;
    for (const SwfJob& line : log) {
        if (static_cast<std::int64_t>(lines.size()) == count) {
            break;
        }
        if (is_usable(line) && (processors == 0 || line.processors <= processors)) {
            lines.push_back(line);
            largest = std::max(largest, line.processors);
        } else {
            ++workload.left_out;
        }
    }
    if (lines.empty()) {
        return Error{std::errc::invalid_argument, source + ": no job in it ran (run time and processors above 0)."};
    }
    const std::int64_t machine = processors > 0 ? processors : largest;
    const std::int64_t width = machine % 4 == 0 ? 4 : machine % 2 == 0 ? 2 : 1;
    const std::int64_t debug_nodes = std::max<std::int64_t>(1, machine / width / 10);
    workload.name = source + ", first " + std::to_string(lines.size()) + " jobs";
    workload.cores_per_node = width;
    workload.nodes = machine / width + debug_nodes;
    workload.partitions = {{"debug", "sched-weir-fcfs", debug_nodes, width},
                           {"batch", "sched-weir-easy", machine / width, width}};
    std::set<std::pair<std::int64_t, std::int64_t>> members;
    std::sort(lines.begin(), lines.end(),
              [](const SwfJob& a, const SwfJob& b) { return std::pair(a.submit, a.job) < std::pair(b.submit, b.job); });
    for (const SwfJob& line : lines) {
        const std::int64_t group = std::max<std::int64_t>(line.group, 0), user = std::max<std::int64_t>(line.user, 0);
        members.emplace(group, user);
        workload.users["u" + std::to_string(user)] = static_cast<std::uint32_t>(100000 + user);
        DemoJob job;
        job.user = "u" + std::to_string(user);
        job.account = "g" + std::to_string(group);
        job.cores = line.processors;
        job.submit = std::chrono::seconds(line.submit - lines.front().submit);
        job.run = std::chrono::seconds(line.run);
        job.requested = std::chrono::seconds(std::max(line.requested_time, line.run));
        job.queue = job.requested <= trace_debug_limit && job.cores <= debug_nodes * width ? "debug" : "batch";
        workload.jobs.push_back(std::move(job));
    }
    workload.share_tree = "# Groups of " + source + " as accounts with equal shares.\n";
    std::int64_t last_group = -1;
    for (const auto& [group, user] : members) {
        const std::string account = "g" + std::to_string(group);
        workload.share_tree += group != last_group ? "\"" + account + "\" = 1\n" : "";
        workload.share_tree += "\"" + account + "/@u" + std::to_string(user) + "\" = 1\n";
        last_group = group;
    }
    return workload;
}

Result<Workload> trace_workload(const std::string& path, std::int64_t jobs) {
    SwfReader::Options options;
    options.lenient = true;
    auto reader = SwfReader::open(path, options);
    if (!reader) {
        return reader.error();
    }
    std::vector<SwfJob> log;
    for (std::int64_t usable = 0; usable < jobs;) {
        auto line = reader->next();
        if (!line) {
            return line.error();
        }
        if (!line->has_value()) {
            break;
        }
        usable += is_usable(**line) ? 1 : 0;
        log.push_back(**line);
    }
    auto workload = workload_of_log(log, reader->max_processors(), file_name(path), jobs);
    if (workload) {
        workload->left_out += reader->skipped().total();
    }
    return workload;
}

}  // namespace weir::cmd
