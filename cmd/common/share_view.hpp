// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-priority's answer about the share tree as values. Must not draw.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"

namespace weir::cmd {

struct ShareNode {
    std::string path;
    bool is_user = false;
    bool is_sum = false;  ///< of siblings that a guest of a private instance does not see
    std::int64_t shares = 0;
    bool shares_parent = false;  ///< it has those of its account
    double entitled = 0;         ///< part of the machine
    double used = 0;             ///< part of the usage of all jobs, decayed
    double usage_core_s = 0;     ///< decayed
    std::int64_t charged_core_us = 0;
    std::optional<double> level_fs, factor;
    std::int64_t running_cores = 0, pending_jobs = 0;
    std::size_t children = 0;  ///< counted by who shows a part of the nodes
};
struct ShareView {
    std::int64_t revision = 0;
    std::string author, reason, toml;
    double time = 0;               ///< of the revision
    double now = 0;                ///< when it was asked
    std::vector<ShareNode> nodes;  ///< parents before children, without the root
    std::size_t of = 0;            ///< nodes of the tree, where these are a part of them; 0: these are all
    std::size_t tree_size = 0;     ///< grows when somebody becomes a member; counts `@*` lines, too
    double all_core_s = 0;         ///< decayed usage of the whole tree and of unassociated
    double nobodys_core_s = 0;     ///< of these, of jobs without an association
    double idle_core_s = 0;        ///< idle time of partitions, decayed
    double idle = 0;               ///< part of all that partitions and jobs held
    std::int64_t idle_cores = 0;   ///< now
};

/// Figures of some rows, at most share_figures_max.
struct ShareFigures {
    std::string version;  ///< of what was told: equal versions tell the same
    std::int64_t revision = 0;
    std::size_t tree_size = 0;  ///< as in ShareView
    double now = 0, all_core_s = 0;
    std::vector<ShareNode> nodes;  ///< those that the instance knows, with their paths
};
inline constexpr std::size_t share_figures_max = 5000;
/// As the last evaluation has them: what job-priority answers at once, however large the tree is. No nodes where
/// nothing has changed since it told the version `seen`.
Result<ShareFigures> share_figures(Client& client, const std::vector<std::string>& paths, const std::string& seen);

ShareView share_view_of(const json_t* answer);
/// `guest`: as whom the instance's owner asks, to be told what that user may see.
Result<ShareView> share_view(Client& client, std::optional<std::uint32_t> guest = std::nullopt);
/// The levels on top, at most `rows` nodes, of the last evaluation: what job-priority answers at once, however large
/// the tree is. Without author, reason and text of the revision.
Result<ShareView> top_share_view(Client& client, std::int64_t rows, std::optional<std::uint32_t> guest = std::nullopt);

}  // namespace weir::cmd
