// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the page of one instance: which pictures it has, their captions, the table of numbers, and its size. Pure. Must
// not know where the facts come from.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/common/usage_decay.hpp"
#include "cmd/pictures/instances.hpp"
#include "cmd/pictures/queue.hpp"
#include "cmd/pictures/share_tree.hpp"
#include "cmd/pictures/two_jobs.hpp"
#include "cmd/pictures/usage_lines.hpp"

namespace weir::cmd {

/// All that is drawn of an instance at one moment.
struct InstanceFacts {
    std::string title, subtitle;
    std::vector<ShareRow> rows;  ///< in the order of the tree, without a past
    double all_core_s = 0;       ///< decayed usage of the whole tree and of nobody
    UsageDecay decay;
    std::vector<UsageCharge> charges;
    double known_since_s = 0;  ///< seconds from now: `charges` has all jobs that ran since
    std::vector<PendingRow> queue;
    std::int64_t pending = 0;
    InstanceBox top;
    std::optional<std::pair<JobTerms, JobTerms>> two_jobs;  ///< the one ahead first
};

struct DrawnPicture {
    std::string name;  ///< of a file: "share-tree"
    std::string heading, caption, svg;
};
/// The share tree with at most `most_rows` rows, how usage is forgotten, two jobs if they are given, the queue, the
/// instances.
std::vector<DrawnPicture> pictures_of(const InstanceFacts& facts, std::size_t most_rows);

inline constexpr std::size_t page_bytes_max = 60'000;
/// One file without script, of at most page_bytes_max bytes: of a large tree it has fewer rows, and a note.
std::string instance_page(const InstanceFacts& facts);

}  // namespace weir::cmd
