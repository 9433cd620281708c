// SPDX-License-Identifier: LGPL-3.0-only
// Owns: values that represent the priorities in another program's queue, where changing a value is expensive (half a
// millisecond in a stock Flux). As few values change as practical, and the queue sorted by them has the exact order.
// Must not know which program owns that queue, nor when a push arrives.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libsched/priority/engine.hpp"

namespace weir {

class PushOrder {
  public:
    /// \param error priority units: jobs that differ by less may be in either order; finite, >= 0. 0: exact order.
    explicit PushOrder(double error = 0.);

    /// The values that have to be sent so that (value high to low, submission, id) sorts all jobs that are neither held
    /// nor expedited as (PriorityEngine::fine_priority at `now`, submission, id) does. All are in [1, 2^32-2] and count
    /// as sent. A value only means a place: it is the priority less the gain of every ageing job since the first pass.
    /// With a permitted error a job keeps its value until it is half of the error away. As many jobs as possible keep
    /// their values, except where no value is left between two neighbours. O(jobs) when the order is as it was, else
    /// O(jobs log jobs); 32 bytes a job kept and 40 during a pass.
    std::span<const PriorityEngine::Change> pass(const PriorityEngine& engine, Instant now,
                                                 std::span<const double> factors);
    /// A value for one job that is neither held nor expedited, near its place, without changing another. The next pass
    /// makes it exact. O(1).
    PriorityEngine::Change place(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now,
                                 std::span<const double> factors);
    /// The other queue has lost the values: the next pass sends all of them.
    void forget();
    /// The value sent last; the slot's job was among those of the last pass.
    std::uint32_t value(PriorityEngine::Slot slot) const { return sent_[slot.value].value; }

    /// How often jobs in order had to move because a gap between two values was full, or all because the range was used
    /// up; normally 0.
    std::uint64_t crowded() const { return crowded_; }

  private:
    struct Sent {
        JobId id;
        std::uint32_t value = 0;  ///< 0: none
        bool is_listed = false;   ///< is in order_
        bool has_aged = false;
        std::int64_t aged = 0;  ///< the fine priority that its value represents, less the gain of every ageing job
    };
    /// A job's place: high before low, then submission, then id.
    struct FineKey {
        std::int64_t priority;  ///< fine
        Instant submit;
        JobId id;
        friend bool operator<(const FineKey& a, const FineKey& b) {
            return a.priority != b.priority ? a.priority > b.priority
                                            : QueueKey{0, a.submit, a.id} < QueueKey{0, b.submit, b.id};
        }
    };
    /// A job of this pass.
    struct Place {
        FineKey key;
        PriorityEngine::Slot slot;
        std::uint32_t value = 0;  ///< 0: to be chosen
    };

    void collect(const PriorityEngine& engine, Instant now, std::span<const double> factors);
    /// The gain of every ageing job since origin_, in priority units.
    double gained(const PriorityEngine& engine, Instant now) const;
    void set_gained(double units);
    void set_origin(const PriorityEngine& engine, Instant now);
    Sent& sent_of(const PriorityEngine& engine, PriorityEngine::Slot slot);
    std::int64_t key_of(Sent& sent, std::int64_t fine) const;
    /// Removes the value of every job outside a longest run that is in order.
    void drop_misplaced();
    /// Chooses values for the places in [from, to), which have none, between their neighbours'; false: no value is
    /// left.
    bool fill(std::size_t from, std::size_t to);
    void fill_all();
    bool is_before_at_equal_values(std::size_t a, std::size_t b) const;
    std::int64_t wanted(std::int64_t fine) const;

    std::vector<Sent> sent_;                   ///< by slot
    std::vector<PriorityEngine::Slot> order_;  ///< of the last pass
    std::vector<Place> places_;                ///< of this pass, in order of priority
    std::vector<PriorityEngine::Change> sends_;
    std::vector<std::int64_t> least_;  ///< of the places being filled
    std::uint64_t crowded_ = 0;
    Instant origin_{};
    bool has_origin_ = false;
    std::int64_t spread_ = 1;  ///< values for one unit of priority
    std::int64_t gained_ = 0;  ///< by every ageing job since origin_, in values
    std::int64_t gained_fine_ = 0;
    std::int64_t slack_fine_;  ///< how far a job may be from the priority that its value represents
};

}  // namespace weir
