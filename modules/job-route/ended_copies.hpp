// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the two ids of the copies that ended lately. Must not know anything else of a job, nor which copies are active.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "modules/job-route/messages.hpp"

namespace weir::route {

/// Of the copies that ended, the latest. Every job adds one: they stand in a ring, and those whose ids have the same
/// hash are linked from the later to the earlier. No link is ever taken away: one that leads to a place that was filled
/// anew leads to a later copy, and there the chain ends. At most 32 bytes a copy.
class EndedCopies {
  public:
    /// The oldest is forgotten when there are more than `max`. REQUIRES: `local` is not 0. O(1) amortized.
    void add(JobId id, LocalId local) {
        if (copies_.size() < max) {
            newest_ = static_cast<Place>(copies_.size());
            copies_.emplace_back();
        } else {
            newest_ = newest_ + 1 < max ? newest_ + 1 : 0;
        }
        copies_[newest_] = {id, local, nowhere, nowhere};
        if (copies_.size() > copies_of_chain * chains_.size()) {
            lengthen();
        } else {
            link(newest_);
        }
    }
    /// Of the job's last copy; 0: none is known. O(1) expected.
    LocalId local_of(JobId id) const {
        Place place = first(id.value, &Chain::by_id);
        while (place != nowhere && copies_[place].id != id) {
            place = next(place, &Copy::before_by_id);
        }
        return place != nowhere ? copies_[place].local : LocalId{};
    }
    /// The jobs that have had a copy of this id, the latest first. O(1) expected.
    std::vector<JobId> ids_of(LocalId local) const {
        std::vector<JobId> ids;
        for (Place place = first(local.value, &Chain::by_local); place != nowhere;
             place = next(place, &Copy::before_by_local)) {
            if (copies_[place].local == local) {
                ids.push_back(copies_[place].id);
            }
        }
        return ids;
    }

    static constexpr std::size_t max = 10000;  ///< as many ended jobs as an instance keeps by default

  private:
    using Place = std::uint32_t;  ///< in copies_
    static constexpr Place nowhere = ~Place{0};
    static constexpr std::size_t copies_of_chain = 2;
    static constexpr std::size_t chains_min = 8;

    struct Copy {
        JobId id;
        LocalId local;
        Place before_by_id;  ///< in its chain
        Place before_by_local;
    };
    /// Where the two chains of a hash begin. If that place was filled anew, all copies of the hash are forgotten.
    struct Chain {
        Place by_id = nowhere;
        Place by_local = nowhere;
    };

    std::size_t hash(std::uint64_t id) const { return (id * 0x9e3779b97f4a7c15ULL >> 32) & (chains_.size() - 1); }
    Place first(std::uint64_t id, Place Chain::*by) const { return copies_.empty() ? nowhere : chains_[hash(id)].*by; }
    Place next(Place place, Place Copy::*before) const {
        const Place found = copies_[place].*before;
        return found != nowhere && age(found) > age(place) ? found : nowhere;
    }
    /// In copies.
    std::size_t age(Place place) const { return place <= newest_ ? newest_ - place : newest_ + copies_.size() - place; }
    void link(Place place) {
        Copy& copy = copies_[place];
        Place& latest_by_id = chains_[hash(copy.id.value)].by_id;
        copy.before_by_id = latest_by_id;
        latest_by_id = place;
        Place& latest_by_local = chains_[hash(copy.local.value)].by_local;
        copy.before_by_local = latest_by_local;
        latest_by_local = place;
    }
    /// The ring is not full, so its places are in the order of the ends.
    void lengthen() {
        const std::size_t count = chains_.empty() ? chains_min : 2 * chains_.size();
        chains_.assign(count, Chain{});
        for (Place place = 0; place < copies_.size(); place++) {
            link(place);
        }
    }

    std::vector<Copy> copies_;
    std::vector<Chain> chains_;  ///< a power of 2
    Place newest_ = 0;
};

}  // namespace weir::route
