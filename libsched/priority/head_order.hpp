// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the head of the queue in exact order, as values for another program's queue, in which changing a value is
// expensive. Each job has a number there. The first `depth` jobs have values above all numbers, but for the last of
// them where the numbers already sort them so. What a pass costs and how much is sent follow what enters and leaves the
// head, not the length of the queue (ADR 0060). Must not know which program owns that queue, nor when a value arrives
// there.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "libsched/priority/order_parts.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

/// The greatest number of a job. The values of the head begin at one more.
inline constexpr std::uint32_t behind_head_max = 0x7FFFFFFFU;
/// A number within them.
constexpr std::uint32_t behind_head(std::uint32_t number) {
    return std::min(number, behind_head_max);
}

class HeadOrder {
  public:
    /// \param depth  jobs of each queue, >= 1
    explicit HeadOrder(std::size_t depth) : depth_(depth) {}
    void set_depth(std::size_t depth) { depth_ = depth; }
    std::size_t depth() const { return depth_; }

    /// See OrderParts.
    /// \param queue  jobs of each queue have a head of their own
    void put(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue, Instant now);
    /// The job may not start for now. It keeps its number.
    void remove(PriorityEngine::Slot slot);
    /// The job is gone.
    void forget(PriorityEngine::Slot slot);
    /// The other queue has this number of the job, in [1, behind_head_max], or has it again when the job loses its
    /// value. O(log jobs).
    void set_number(PriorityEngine::Slot slot, std::uint32_t number);
    /// 0: none was set.
    std::uint32_t number(PriorityEngine::Slot slot) const {
        return slot.value < values_.size() ? values_[slot.value].number : 0;
    }
    void refresh(const PriorityEngine& engine, Instant now) { parts_.refresh(engine, now); }
    /// Forgets all jobs.
    void clear();
    /// The other queue has lost the values.
    void forget_values();

    /// A value to be sent, or 0: the job loses its value, and its number is to be sent.
    struct Send {
        JobId id;
        PriorityEngine::Slot slot;
        std::uint32_t value;
    };
    /// The values that have to be sent so that (value or number high to low, id) sorts the first `depth` jobs of each
    /// queue, before all others, as (fine priority at `now`, submission, id) does. They count as sent. As many jobs of
    /// the head as possible keep their values. Half of the head or more has none where the numbers sort it. The parts
    /// of a fine priority are rounded one by one, so jobs that differ by one unit of it may be in either order.
    /// O(associations x queues + depth log depth + jobs that begin or end to age).
    std::span<const Send> pass(const PriorityEngine& engine, Instant now, std::span<const double> factors);
    /// The value that the job has, 0 if none.
    std::uint32_t value(PriorityEngine::Slot slot) const {
        return slot.value < values_.size() ? values_[slot.value].value : 0;
    }
    /// The same jobs for a queue that sorts them itself.
    OrderParts& parts() { return parts_; }

  private:
    using Entry = OrderParts::Entry;
    using Entries = OrderParts::Entries;
    /// What the other queue has of a slot's job.
    struct Value {
        std::uint32_t value = 0;
        std::uint32_t number = 0;
        std::uint32_t listed = 0;  ///< its place in the head that is being made, from 1 on
        bool has_valued = false;   ///< in valued_
        bool is_numbered = false;  ///< in numbers_
    };
    /// A job as its number sorts it.
    struct Numbered {
        std::uint32_t number;
        JobId id;
        PriorityEngine::Slot slot;
        friend bool operator<(const Numbered& a, const Numbered& b) {
            return a.number != b.number ? a.number > b.number : a.id < b.id;
        }
    };
    struct NumberedTraits {
        static const Numbered& key(const Numbered& numbered) { return numbered; }
        struct Summary {
            void add(const Numbered&) {}
            void remove(const Numbered&) {}
        };
    };
    /// A group in the merge: its next job.
    struct Cursor {
        std::int64_t priority;
        const Entry* entry;
        const Entries* entries;
        Entries::Place at;
        std::int64_t added;                                        ///< to the terms of the group's jobs
        friend bool operator<(const Cursor& a, const Cursor& b) {  // for a heap: the first job is the greatest
            return a.priority != b.priority
                       ? a.priority < b.priority
                       : QueueKey{0, b.entry->submit, b.entry->id} < QueueKey{0, a.entry->submit, a.entry->id};
        }
    };

    /// Makes head_: the first jobs of each queue, in order.
    void choose(const PriorityEngine& engine, Instant now, std::span<const double> factors);
    void choose_of(std::vector<Cursor>& cursors);
    static bool advance(Cursor& cursor);
    /// Inserts the job into numbers_ or takes it out.
    void list_number(PriorityEngine::Slot slot);
    void take_number(PriorityEngine::Slot slot);
    /// How many jobs of the head need values: those behind them are in order by their numbers.
    std::size_t count_of_values() const;
    /// The least such count that the numbers allow.
    std::size_t first_in_order() const;
    /// Takes the value of each job of the head outside a longest run that is in order.
    void drop_misplaced();
    /// Gives values to those of the head that have none; false: there is no room.
    bool fill();
    bool fill(std::size_t from, std::size_t to);
    /// Gives every job of the head another value.
    void spread();
    void send_new();
    void send_back_leavers();

    std::size_t depth_;
    OrderParts parts_;
    std::vector<Value> values_;                       ///< by slot
    SortedChunks<Numbered, NumberedTraits> numbers_;  ///< of the jobs that may start
    std::vector<Cursor> head_;                        ///< of this pass
    std::vector<std::uint32_t> wanted_;               ///< values of the first of head_; 0: to be chosen
    std::vector<PriorityEngine::Slot> valued_;        ///< of jobs with a value, and of some that are gone
    std::vector<Send> sends_;
};

}  // namespace weir
