// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what of an instance may be told to somebody: all of it or, in private mode, the part of one user. Every view is
// made of one. Must not know: requests, who asks, JSON. flux-config-access(5).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// The last component of a sum's path, and the label of what others used. No account can have this name.
inline constexpr std::string_view others_name = "[others]";

/// A user sees his associations, the accounts above them, and his jobs. At each of these levels the nodes that he does
/// not see are one sum, which has no name.
class VisiblePart {
  public:
    /// The siblings below `above` that are told as a sum.
    struct Others {
        NodeId above;
        std::string path;
        std::vector<NodeId> nodes;
    };

    /// All of it.
    VisiblePart(const PriorityService& service) : service_(&service) {}
    /// The part of one user. O(log size + children of the accounts above him).
    VisiblePart(const PriorityService& service, std::uint32_t userid);

    const PriorityService& service() const { return *service_; }
    /// Whose part it is; nobody's: all.
    std::optional<std::uint32_t> userid() const { return userid_; }
    bool is_all() const { return !userid_; }
    /// The user's name; of all it is empty.
    const std::string& user() const { return user_; }

    bool has(NodeId node) const;
    bool has(const BookJob& job) const { return is_all() || job.charged_userid() == *userid_; }
    /// Whether it has the node of this path, or this is all.
    bool has_path(const std::string& path) const;
    /// Its nodes, parents before children, without the root and `@*` lines. O(size) for all.
    std::vector<NodeId> nodes() const;
    /// None where this is all.
    const std::vector<Others>& others() const { return others_; }

  private:
    const PriorityService* service_;
    std::optional<std::uint32_t> userid_;
    std::string user_;
    std::vector<NodeId> own_;  ///< sorted, with the root
    std::vector<Others> others_;
};

}  // namespace weir::priority
