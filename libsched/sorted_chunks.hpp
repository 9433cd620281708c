// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a sorted sequence kept in chunks of contiguous memory, each with a summary: insertion and removal by key in
// O(log n + chunk) with chunks of about the square root of n, walks at array speed, searches that skip chunks, and
// where wanted groups of chunks, by their summaries. The queue and the profile are made of it. Must not know what it
// holds. A queue of some hundred entries is scanned fastest as an array, a deep one must not be shifted as a whole:
// chunks give both (policy_bench in t/bench/baseline.json).
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "libfairshare/base/check.hpp"

namespace weir {

/// Traits: `static Key key(const T&)` (strictly ordered, unique) and `struct Summary` of a chunk's items, made empty,
/// with `add(const T&)` and `remove(const T&)`, and if it has a faster way `of(items)`. With `group` > 0 so many chunks
/// at a time have a summary as well: then Summary is a bound that stays true when items leave, has
/// `add(const Summary&)`, and `is_stale`, which a group's is when it may say less than its chunks.
template <typename T, typename Traits, std::size_t chunk_max = 128, std::size_t group = 0>
class SortedChunks {
  public:
    using Summary = typename Traits::Summary;
    struct Chunk {
        std::vector<T> items;     ///< sorted by key; never empty
        mutable Summary summary;  ///< mutable: a reader of all items may store what it learnt
    };
    /// The place of an item, or where it would be inserted: `chunk` may be past the last, `index` past the chunk's last
    /// item. Valid until the next insertion or removal.
    struct Place {
        std::size_t chunk = 0;
        std::size_t index = 0;
        friend auto operator<=>(const Place&, const Place&) = default;
    };

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const std::vector<Chunk>& chunks() const { return chunks_; }
    /// Of `group` chunks each, but the last; empty while one would do.
    const std::vector<Summary>& groups() const { return groups_; }
    /// Compute a summary anew from the items of its chunk, or from its chunks.
    void summarize(std::size_t c) const {
        summarize(chunks_[c]);
        if constexpr (group > 0) {
            if (!groups_.empty()) {
                groups_[c / group].is_stale = true;
            }
        }
    }
    void summarize_group(std::size_t g) const {
        if constexpr (group > 0) {
            groups_[g] = Summary{};
            for (std::size_t c = g * group; c < std::min((g + 1) * group, chunks_.size()); c++) {
                groups_[g].add(chunks_[c].summary);
            }
        }
    }
    const T& front() const { return chunks_.front().items.front(); }

    /// Adds an item; false (and no change) when its key is there already.
    bool insert(const T& item) {
        const Place place = lower_bound(Traits::key(item));
        if (is_at(place, Traits::key(item))) {
            return false;
        }
        insert_at(place, item);
        return true;
    }

    /// Removes the item with that key; false when there is none.
    template <typename Key>
    bool erase(const Key& key) {
        const Place place = lower_bound(key);
        if (!is_at(place, key)) {
            return false;
        }
        erase_at(place);
        return true;
    }

    /// The item with that key, or nullptr.
    template <typename Key>
    const T* find(const Key& key) const {
        const Place place = lower_bound(key);
        return is_at(place, key) ? &chunks_[place.chunk].items[place.index] : nullptr;
    }

    /// Place of the first item whose key is not before `key`; in the chunk where it would be inserted.
    template <typename Key>
    Place lower_bound(const Key& key) const {
        if (chunks_.empty()) {
            return {};
        }
        const std::size_t c = chunk_for(key);
        const auto& items = chunks_[c].items;
        const auto is_before = [](const T& item, const Key& k) { return Traits::key(item) < k; };
        if (!is_before(items.front(), key)) {
            return {c, 0};
        }
        if (is_before(items.back(), key)) {
            return {c, items.size()};
        }
        const auto at = std::lower_bound(items.begin() + 1, items.end() - 1, key, is_before);
        return {c, static_cast<std::size_t>(at - items.begin())};
    }
    template <typename Key>
    bool is_at(const Place& place, const Key& key) const {
        return place.chunk < chunks_.size() && place.index < chunks_[place.chunk].items.size() &&
               !(key < Traits::key(chunks_[place.chunk].items[place.index]));
    }

    /// Inserts where lower_bound() of its key pointed.
    void insert_at(Place place, const T& item) {
        if (chunks_.empty()) {
            chunks_.push_back(fresh());
        }
        Chunk& chunk = chunks_[place.chunk];
        chunk.items.insert(chunk.items.begin() + static_cast<std::ptrdiff_t>(place.index), item);
        chunk.summary.add(item);
        if constexpr (group > 0) {
            if (!groups_.empty()) {
                groups_[place.chunk / group].add(item);
            }
        }
        size_++;
        if (chunk.items.size() >= chunk_max &&
            chunk.items.size() * chunk.items.size() * std::max<std::size_t>(group, 1) >= size_) {
            const bool is_last = place.chunk + 1 == chunks_.size() && place.index + 1 == chunk.items.size();
            split(place.chunk, is_last ? place.index : chunk.items.size() / 2);
        }
    }

    void erase_at(Place place) {
        Chunk& chunk = chunks_[place.chunk];
        const auto at = chunk.items.begin() + static_cast<std::ptrdiff_t>(place.index);
        const T gone = *at;
        chunk.items.erase(at);
        chunk.summary.remove(gone);
        size_--;
        if (chunk.items.empty()) {
            drop(place.chunk);
        } else if (place.chunk + 1 < chunks_.size() &&
                   chunk.items.size() + chunks_[place.chunk + 1].items.size() <= chunk_max / 2) {
            for (const T& item : chunks_[place.chunk + 1].items) {
                chunk.items.push_back(item);
                chunk.summary.add(item);
            }
            drop(place.chunk + 1);
        }
    }

    /// Calls change(item) for the item at `place`, which must keep its key, and has the chunk's summary made anew.
    template <typename Change>
    void update_at(Place place, Change&& change) {
        T& item = chunks_[place.chunk].items[place.index];
        chunks_[place.chunk].summary.remove(item);
        change(item);
        chunks_[place.chunk].summary.add(item);
    }

    /// Calls visit(item) in order until it returns false.
    template <typename Visit>
    void walk(Visit&& visit) const {
        for (const Chunk& chunk : chunks_) {
            for (const T& item : chunk.items) {
                if (!visit(item)) {
                    return;
                }
            }
        }
    }

    /// Gives every item to change(item), which may change its key, and puts them in order again. O(n) when the order is
    /// the same, else O(n log n).
    template <typename Change>
    void rekey(Change&& change) {
        bool in_order = true;
        const T* previous = nullptr;
        for (Chunk& chunk : chunks_) {
            for (T& item : chunk.items) {
                change(item);
                in_order = in_order && (previous == nullptr || Traits::key(*previous) < Traits::key(item));
                previous = &item;
            }
        }
        if (!in_order) {
            sort();
        }
    }

  private:
    /// The last chunk whose first key is not after `key` (the first chunk when all are).
    template <typename Key>
    std::size_t chunk_for(const Key& key) const {
        const auto is_before = [&](std::size_t c) { return key < Traits::key(chunks_[c].items.front()); };
        // Most items are inserted last and removed first, and the middle of the array is in no cache.
        if (chunks_.size() == 1 || is_before(1)) {
            return 0;
        }
        if (!is_before(chunks_.size() - 1)) {
            return chunks_.size() - 1;
        }
        std::size_t low = 1;
        std::size_t high = chunks_.size() - 1;
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            if (is_before(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return low;
    }
    Chunk fresh() {
        Chunk chunk;
        if (!spare_.empty()) {
            chunk.items = std::move(spare_.back());
            spare_.pop_back();
        }
        chunk.items.reserve(chunk_max);
        return chunk;
    }
    /// Memory of an emptied chunk is kept, so that a queue that is often empty does not allocate each time.
    void drop(std::size_t c) {
        if (spare_.size() < 4) {
            chunks_[c].items.clear();
            spare_.push_back(std::move(chunks_[c].items));
        }
        chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
        regroup(c);
    }
    static void summarize(const Chunk& chunk) {
        if constexpr (requires { Summary::of(chunk.items); }) {
            chunk.summary = Summary::of(chunk.items);
        } else {
            chunk.summary = Summary{};
            for (const T& item : chunk.items) {
                chunk.summary.add(item);
            }
        }
    }
    /// Items that come in order leave full chunks behind them, without unused room.
    void split(std::size_t c, std::size_t lower_size) {
        Chunk upper = fresh();
        auto& items = chunks_[c].items;
        const auto middle = items.begin() + static_cast<std::ptrdiff_t>(lower_size);
        upper.items.assign(middle, items.end());
        items.erase(middle, items.end());
        if (items.size() > chunk_max) {
            items.shrink_to_fit();
        }
        summarize(chunks_[c]);
        summarize(upper);
        chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, std::move(upper));
        regroup(c + 1);
    }
    /// Call after a chunk was inserted at `c` or removed from there. The chunks behind it have moved, and the chunk
    /// before it may hold items of a removed one. Each group from that chunk's on gets what moved into it, at its front
    /// or its back. What a group lost leaves its summary when the summary is made anew.
    void regroup(std::size_t c) {
        if constexpr (group > 0) {
            const bool are_new = groups_.empty();
            groups_.resize(chunks_.size() > group ? (chunks_.size() + group - 1) / group : 0);
            for (std::size_t g = are_new || c == 0 ? 0 : (c - 1) / group; g < groups_.size(); g++) {
                if (are_new) {
                    summarize_group(g);
                    continue;
                }
                groups_[g].add(chunks_[g * group].summary);
                groups_[g].add(chunks_[std::min((g + 1) * group, chunks_.size()) - 1].summary);
                groups_[g].is_stale = true;
            }
        }
    }
    /// As a rule few items are out of order. They are taken out, each with the item before it, since either of the two
    /// may have moved, sorted and merged back. O(n + k log k).
    void sort() {
        const auto before = [](const T& a, const T& b) { return Traits::key(a) < Traits::key(b); };
        sorting_.clear();
        misplaced_.clear();
        for (const Chunk& chunk : chunks_) {
            for (const T& item : chunk.items) {
                if (sorting_.empty() || before(sorting_.back(), item)) {
                    sorting_.push_back(item);
                } else {
                    misplaced_.push_back(item);
                    misplaced_.push_back(sorting_.back());
                    sorting_.pop_back();
                }
            }
        }
        std::sort(misplaced_.begin(), misplaced_.end(), before);
        auto kept = sorting_.begin();
        auto other = misplaced_.begin();
        for (Chunk& chunk : chunks_) {
            for (T& item : chunk.items) {
                const bool takes_kept = other == misplaced_.end() || (kept != sorting_.end() && before(*kept, *other));
                item = takes_kept ? *kept++ : *other++;
            }
            summarize(chunk);
        }
        for (std::size_t g = 0; g < groups_.size(); g++) {
            summarize_group(g);
        }
    }

    std::vector<Chunk> chunks_;  ///< in order of their keys, none empty
    mutable std::vector<Summary> groups_;
    std::size_t size_ = 0;
    std::vector<std::vector<T>> spare_;  ///< memory of chunks that were emptied
    // Memory of sort().
    std::vector<T> sorting_;
    std::vector<T> misplaced_;
};

}  // namespace weir
