// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the current entitlement of each party: the machine divided down a tree by shares among the parties with demand,
// none getting more than its demand (weighted water-filling). Must not know time, nor what is measured.
#pragma once
#include <cstdint>
#include <vector>

#include "libsched/sim/party_tree.hpp"

namespace weir {

class FairDivision {
  public:
    /// `machine_cores` in [1, 2^32). O(parties).
    FairDivision(const PartyTree& tree, std::int64_t machine_cores);

    /// Changes the demand of the party and of all above it by the cores of a job (queued or running), or its running
    /// cores. O(depth).
    void ask(std::uint32_t party, std::int64_t cores);
    void run(std::uint32_t party, std::int64_t cores);
    /// Divides anew. O(active log active).
    void divide();

    /// As of the last divide(): parties with a job queued or running, the root first, parents before children.
    const std::vector<std::uint32_t>& active() const { return active_; }
    double entitled(std::uint32_t party) const { return nodes_[party].entitled; }  ///< cores
    std::int64_t asked(std::uint32_t party) const { return nodes_[party].asked; }
    std::int64_t running(std::uint32_t party) const { return nodes_[party].running; }

  private:
    struct Node {
        std::uint32_t parent = 0;
        std::uint32_t shares = 0;
        std::int64_t asked = 0;
        std::int64_t running = 0;
        double entitled = 0;
        bool listed = false;                         ///< is in the parent's list
        std::vector<std::uint32_t> active_children;  ///< all with asked > 0, and some that had asked > 0 before
    };
    void divide_below(std::uint32_t parent);

    std::vector<Node> nodes_;
    std::int64_t cores_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> by_need_;
};

}  // namespace weir
