// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see exec_gpus.hpp.
#include "broker/services/exec_gpus.hpp"

#include <algorithm>
#include <utility>

namespace weir::broker {
namespace {

std::vector<std::string> words_of(const std::string& list, char separator) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find(separator, begin), list.size());
        words.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// Equal parts, in order; what is left over nobody has.
std::vector<IdSet> parts_of(const IdSet& gpus, std::uint32_t tasks) {
    std::vector<IdSet> parts(tasks);
    const std::uint64_t each = gpus.count() / tasks;
    std::uint64_t n = 0;
    gpus.each([&](std::uint32_t id) {
        if (n < each * tasks) {
            parts[n++ / each].add(id);
        }
    });
    return parts;
}

}  // namespace

void place_tasks(std::vector<NodeShare>& nodes, std::uint32_t task_count) {
    std::vector<std::size_t> order(nodes.size());
    std::uint64_t cores = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        order[i] = i;
        cores += nodes[i].cores;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&nodes](std::size_t a, std::size_t b) { return nodes[a].cores > nodes[b].cores; });
    if (order.empty()) {
        return;
    }
    // With fewer cores than this a task would never get a place on the smallest node.
    const std::uint64_t each = std::min(std::max<std::uint64_t>(cores / task_count, 1), nodes[order.back()].cores);
    std::vector<std::uint64_t> used(nodes.size());
    for (std::uint32_t placed = 0; placed < task_count;) {
        const std::uint32_t before = placed;
        for (const std::size_t i : order) {
            if (placed < task_count && used[i] + each <= nodes[i].cores) {
                used[i] += each;
                nodes[i].tasks += 1;
                placed += 1;
            }
        }
        if (placed == before) {
            used.assign(nodes.size(), 0);
        }
    }
}

std::string visible_gpus(const IdSet& gpus, const std::string& own) {
    const std::vector<std::string> names = words_of(own, ',');
    std::string list;
    gpus.each([&](std::uint32_t id) {
        list += list.empty() ? "" : ",";
        list += id < names.size() ? names[id] : std::to_string(id);
    });
    return list.empty() ? "-1" : list;
}

std::string gpus_of_tasks(const std::vector<NodeShare>& nodes, const std::string& own, bool is_per_task) {
    std::vector<std::pair<std::uint32_t, std::string>> groups;
    const auto add = [&](std::uint32_t count, const IdSet& gpus) {
        std::string list = visible_gpus(gpus, own);
        if (!groups.empty() && groups.back().second == list) {
            groups.back().first += count;
        } else {
            groups.emplace_back(count, std::move(list));
        }
    };
    for (const NodeShare& node : nodes) {
        if (node.tasks > 0 && is_per_task) {
            for (const IdSet& part : parts_of(node.gpus, node.tasks)) {
                add(1, part);
            }
        } else if (node.tasks > 0) {
            add(node.tasks, node.gpus);
        }
    }
    std::string text;
    for (const auto& [count, list] : groups) {
        text += (text.empty() ? "" : ";") + std::to_string(count) + "*" + list;
    }
    return text;
}

std::string gpus_of_task(const std::string& text, int rank) {
    for (const std::string& group : words_of(text, ';')) {
        const std::size_t star = group.find('*');
        rank -= std::stoi(group);
        if (rank < 0 && star != std::string::npos) {
            return group.substr(star + 1);
        }
    }
    return {};
}

}  // namespace weir::broker
