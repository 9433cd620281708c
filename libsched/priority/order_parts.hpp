// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the waiting jobs as an order of groups: the jobs of one association that age alike, sorted by their own parts.
// What changes with usage is one number a group, so an order of all jobs changes by a number for each association. Must
// not know who sorts by it.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "libsched/priority/engine.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

/// How many fractional bits a priority under these settings may have so that it fits into 31; at most fine_bits. Terms
/// that are not normalised have no bound but the ceiling. O(1).
int order_bits(const PrioritySettings& settings);

class OrderParts {
  public:
    /// A job's place among those of its association and queue that age as it does.
    struct Entry {
        std::int64_t terms;  ///< fine priority without fair share; of an ageing job less what every one has gained
        Instant submit;
        JobId id;
        PriorityEngine::Slot slot;
        friend bool operator<(const Entry& a, const Entry& b) {
            return a.terms != b.terms ? a.terms > b.terms : QueueKey{0, a.submit, a.id} < QueueKey{0, b.submit, b.id};
        }
    };
    struct Traits {
        static const Entry& key(const Entry& entry) { return entry; }
        struct Summary {
            void add(const Entry&) {}
            void remove(const Entry&) {}
        };
    };
    using Entries = SortedChunks<Entry, Traits>;
    struct Group {
        std::uint32_t factor;  ///< its index; no_factor: the jobs have none
        std::uint16_t queue;
        bool is_ageing;
        /// Those of a queue stand together.
        friend auto operator<=>(const Group& a, const Group& b) {
            return std::tie(a.queue, a.factor, a.is_ageing) <=> std::tie(b.queue, b.factor, b.is_ageing);
        }
        friend bool operator==(const Group&, const Group&) = default;
    };
    static constexpr std::uint32_t no_factor = UINT32_MAX;
    struct Place {
        std::int64_t terms = 0;
        Instant submit{};
        JobId id{};
        Group group{};
        bool is_in = false;
    };

    /// A job that may start, and again when anything of it changed but the factor of its association. Held and
    /// expedited jobs are ignored, and taken out. O(log jobs).
    void put(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue, Instant now);
    /// The job may not start, or is gone. `slot` may be unknown. O(log jobs).
    void remove(PriorityEngine::Slot slot);
    /// Puts every job again whose terms changed otherwise than with time. O(slots).
    void refresh(const PriorityEngine& engine, Instant now);
    /// Puts the jobs again that began or ended to age. O(these x log jobs).
    void take_turns(const PriorityEngine& engine, Instant now);

    /// None is empty.
    const std::map<Group, Entries>& groups() const { return groups_; }
    /// REQUIRES: it was put once.
    const Place& at(PriorityEngine::Slot slot) const { return places_[slot.value]; }
    bool is_known(PriorityEngine::Slot slot) const { return slot.value < places_.size(); }
    /// What an ageing job has gained at `now` over its terms; fine units. O(1).
    std::int64_t gained(const PriorityEngine& engine, Instant now) const;
    /// Jobs whose group or terms are others than at the last call; some of them may be gone. The first call has all.
    std::vector<PriorityEngine::Slot> take_changed();
    /// The next take_changed() has all jobs.
    void mark_all() {
        are_all_changed_ = true;
        changed_.clear();
    }

  private:
    /// When a job begins or ends to age.
    struct Turn {
        Instant at;
        PriorityEngine::Slot slot;
        friend bool operator<(const Turn& a, const Turn& b) { return b.at < a.at; }  // for a heap: the first is on top
    };

    static Entry entry_of(const Place& place, PriorityEngine::Slot slot) {
        return {place.terms, place.submit, place.id, slot};
    }
    Place described(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue, Instant now) const;
    static Instant next_turn(const PriorityEngine& engine, const JobInputs& job, Instant now);
    void add_turn(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now);
    void take_out(PriorityEngine::Slot slot);

    std::map<Group, Entries> groups_;
    std::vector<Turn> turns_;    ///< a heap; also turns of jobs that are out or were put again
    std::vector<Place> places_;  ///< by slot
    std::vector<PriorityEngine::Slot> changed_;
    bool are_all_changed_ = true;  ///< then changed_ is empty
    Instant origin_{};
    bool has_origin_ = false;
};

}  // namespace weir
