// SPDX-License-Identifier: LGPL-3.0-only
// Owns: refusal_of(). See refusal.hpp.
#include "modules/replay/refusal.hpp"

#include <algorithm>
#include <string>

namespace weir::replay {
namespace {

struct Room {
    std::int64_t most = 0;                      ///< cores of the largest that takes the job; 0: none takes it
    std::vector<route::PartitionWord> against;  ///< of those of its queue that do not
};

bool has_queue(const SimPartition& partition, const std::string& queue) {
    const auto has = [&queue](const std::vector<std::string>& queues) {
        return std::find(queues.begin(), queues.end(), queue) != queues.end();
    };
    return has(partition.queues) || has(partition.overflow);
}

/// `above`: the names of those around, each with a slash.
void look(Room& room, const std::vector<SimPartition>& partitions, const std::string& above,
          const route::JobFacts& facts, std::uint32_t user) {
    for (const SimPartition& partition : partitions) {
        const std::string name = above + partition.name;
        if (!has_queue(partition, facts.queue)) {
            continue;
        }
        if (auto misfit = route::misfit_of(partition.rules, facts, user)) {
            room.against.push_back({name, {}, std::move(misfit)});
        } else if (partition.partitions.empty()) {
            room.most = std::max(room.most, partition.cores);
        } else {
            look(room, partition.partitions, name + "/", facts, user);
        }
    }
}

}  // namespace

std::optional<Refusal> refusal_of(const std::vector<SimPartition>& partitions, const route::JobFacts& facts,
                                  std::uint32_t user) {
    Room room;
    look(room, partitions, "", facts, user);
    const std::string& queue = facts.queue;
    if (room.most == 0 && !room.against.empty()) {
        return Refusal{"taken by no partition of its queue",
                       "is refused: " + *route::refusal_text(queue, room.against)};
    }
    if (room.most == 0) {
        return Refusal{"of a queue that no partition serves", "is of queue " + queue};
    }
    if (facts.cores <= room.most) {
        return std::nullopt;
    }
    return Refusal{"larger than every partition of its queue", "wants " + std::to_string(facts.cores) +
                                                                   " cores; the largest partition of queue " + queue +
                                                                   " has " + std::to_string(room.most)};
}

}  // namespace weir::replay
