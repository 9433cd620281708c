// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sets of nodes that constraints of pending jobs select: each stored once, under a small number, while it is
// used. Must not know what a constraint is, nor jobs.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/id_set.hpp"

namespace weir {

class NodeSets {
  public:
    /// The number of this set of ranks, 1 or greater; adds a use. `nodes`: the rank of each node, ascending.
    std::uint32_t keep(const IdSet& ranks, const std::vector<std::uint32_t>& nodes) {
        const auto [place, is_new] = by_text_.try_emplace(ranks.encode(), 0);
        if (is_new) {
            const auto unused = std::find_if(sets_.begin(), sets_.end(), [](const Set& set) { return set.uses == 0; });
            place->second = static_cast<std::uint32_t>(unused - sets_.begin()) + 1;
            if (unused == sets_.end()) {
                sets_.emplace_back();
            }
            sets_[place->second - 1] = {ranks, members(ranks, nodes), 0};
        }
        sets_[place->second - 1].uses++;
        return place->second;
    }
    /// Removes a use; 0 is no set. REQUIRES: as many drops as keeps.
    void drop(std::uint32_t number) {
        if (number > 0) {
            Set& set = sets_.at(number - 1);
            WEIR_CHECK(set.uses > 0);
            if (--set.uses == 0) {
                by_text_.erase(set.ranks.encode());
            }
        }
    }
    /// By node index, whether the node belongs to the set; none for number 0, that is all nodes.
    const std::vector<bool>* at(std::uint32_t number) const {
        return number == 0 ? nullptr : &sets_.at(number - 1).nodes;
    }
    /// Changes the nodes.
    void rebind(const std::vector<std::uint32_t>& nodes) {
        for (Set& set : sets_) {
            set.nodes = members(set.ranks, nodes);
        }
    }
    std::size_t size() const { return by_text_.size(); }

  private:
    struct Set {
        IdSet ranks;
        std::vector<bool> nodes;
        std::uint64_t uses = 0;
    };
    static std::vector<bool> members(const IdSet& ranks, const std::vector<std::uint32_t>& nodes) {
        std::vector<bool> is_in;
        is_in.reserve(nodes.size());
        for (const std::uint32_t rank : nodes) {
            is_in.push_back(ranks.contains(rank));
        }
        return is_in;
    }

    std::vector<Set> sets_;
    std::map<std::string, std::uint32_t> by_text_;  ///< of the sets in use
};

}  // namespace weir
