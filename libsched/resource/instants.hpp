// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a multiset of instants, and a bisection for the first of them from which a predicate holds. Must not know what
// happens at them.
#pragma once
#include <optional>

#include "libsched/job.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

class Instants {
  public:
    void add(Instant at) {
        const Place place = entries_.lower_bound(at);
        if (entries_.is_at(place, at)) {
            entries_.update_at(place, [](Entry& entry) { entry.times++; });
        } else {
            entries_.insert_at(place, {at, 1});
        }
    }
    /// REQUIRES: it was added.
    void remove(Instant at) {
        const Place place = entries_.lower_bound(at);
        WEIR_CHECK(entries_.is_at(place, at));
        if (chunk(place.chunk)[place.index].times == 1) {
            entries_.erase_at(place);
        } else {
            entries_.update_at(place, [](Entry& entry) { entry.times--; });
        }
    }
    std::size_t size() const { return entries_.size(); }
    /// The first that is not before `at`; `never` when there is none.
    Instant first_from(Instant at) const {
        const Place place = from(at);
        return place.chunk < entries_.chunks().size() ? chunk(place.chunk)[place.index].at : never;
    }
    /// The first of `least` and the instants after it up to `most` at which holds(instant). REQUIRES: once it holds, it
    /// holds from then on. O(log size) calls.
    template <typename Holds>
    std::optional<Instant> first_where(Instant least, Instant most, Holds&& holds) const {
        if (holds(least)) {
            return least;
        }
        const Place begin = after(least);
        Place last = after(most);
        if (std::pair(last.chunk, last.index) <= std::pair(begin.chunk, begin.index)) {
            return std::nullopt;
        }
        last = last.index > 0 ? Place{last.chunk, last.index - 1}
                              : Place{last.chunk - 1, chunk(last.chunk - 1).size() - 1};
        if (!holds(chunk(last.chunk)[last.index].at)) {
            return std::nullopt;
        }
        // First finds the chunk at whose last instant the predicate holds, then the instant in it.
        const auto end_of = [&](std::size_t c) { return c == last.chunk ? last.index : chunk(c).size() - 1; };
        const std::size_t c =
            first(begin.chunk, last.chunk, [&](std::size_t i) { return holds(chunk(i)[end_of(i)].at); });
        const std::size_t i = first(c == begin.chunk ? begin.index : 0, end_of(c),
                                    [&](std::size_t index) { return holds(chunk(c)[index].at); });
        return chunk(c)[i].at;
    }

  private:
    struct Entry {
        Instant at;
        std::uint64_t times;
    };
    struct Traits {
        static Instant key(const Entry& entry) { return entry.at; }
        struct Summary {
            void add(const Entry&) {}
            void remove(const Entry&) {}
        };
    };
    using Place = SortedChunks<Entry, Traits>::Place;

    const std::vector<Entry>& chunk(std::size_t c) const { return entries_.chunks()[c].items; }
    /// Of the first that is not before `at`.
    Place from(Instant at) const {
        const Place place = entries_.lower_bound(at);
        return place.chunk < entries_.chunks().size() && place.index == chunk(place.chunk).size()
                   ? Place{place.chunk + 1, 0}
                   : place;
    }
    /// Of the first that is after `at`.
    Place after(Instant at) const { return at == never ? Place{entries_.chunks().size(), 0} : from(at + Duration{1}); }
    /// The first of low..high at which holds(i). REQUIRES: it holds at `high`.
    template <typename Holds>
    static std::size_t first(std::size_t low, std::size_t high, Holds&& holds) {
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (holds(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return high;
    }

    SortedChunks<Entry, Traits> entries_;
};

}  // namespace weir
