// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a sorted sequence kept in chunks of contiguous memory, each with a sum of a weight: insertion and removal by
// key in O(log n + chunk), walks at array speed, prefix sums by skipping chunks. The queue and the profile are made of
// it. Must not know what it holds. A queue of some hundred entries is scanned fastest as an array, a deep one must not
// be shifted as a whole: chunks give both (measured: doc/adr/0021).
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libfairshare/base/check.hpp"

namespace weir {

/// Traits: `static Key key(const T&)` (strictly ordered, unique) and `static std::int64_t weight(const T&)`.
template <typename T, typename Traits, std::size_t chunk_max = 128>
class SortedChunks {
  public:
    struct Chunk {
        std::vector<T> items;     ///< sorted by key; never empty
        std::int64_t weight = 0;  ///< sum of the weights of items
    };

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// Sum of all weights.
    std::int64_t weight() const { return weight_; }
    const std::vector<Chunk>& chunks() const { return chunks_; }
    const T& front() const { return chunks_.front().items.front(); }

    /// Adds an item; false (and no change) when its key is there already.
    bool insert(T item) {
        const auto key = Traits::key(item);
        if (chunks_.empty()) {
            chunks_.emplace_back();
            chunks_.back().items.reserve(chunk_max);
        }
        const std::size_t c = chunk_for(key);
        auto& items = chunks_[c].items;
        const auto place = lower_bound(items, key);
        if (place != items.end() && !(key < Traits::key(*place))) {
            return false;
        }
        chunks_[c].weight += Traits::weight(item);
        weight_ += Traits::weight(item);
        items.insert(place, std::move(item));
        size_++;
        if (items.size() == chunk_max) {
            split(c);
        }
        return true;
    }

    /// Removes the item with that key; false when there is none.
    template <typename Key>
    bool erase(const Key& key) {
        if (chunks_.empty()) {
            return false;
        }
        const std::size_t c = chunk_for(key);
        auto& items = chunks_[c].items;
        const auto place = lower_bound(items, key);
        if (place == items.end() || key < Traits::key(*place)) {
            return false;
        }
        chunks_[c].weight -= Traits::weight(*place);
        weight_ -= Traits::weight(*place);
        items.erase(place);
        size_--;
        if (items.empty()) {
            chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
        }
        return true;
    }

    /// The item with that key, or nullptr.
    template <typename Key>
    const T* find(const Key& key) const {
        if (chunks_.empty()) {
            return nullptr;
        }
        const auto& items = chunks_[chunk_for(key)].items;
        const auto place = lower_bound(items, key);
        return place != items.end() && !(key < Traits::key(*place)) ? &*place : nullptr;
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

  private:
    template <typename Items, typename Key>
    static auto lower_bound(Items& items, const Key& key) {
        return std::lower_bound(items.begin(), items.end(), key,
                                [](const T& item, const Key& k) { return Traits::key(item) < k; });
    }
    /// The last chunk whose first key is not after `key` (the first chunk when all are).
    template <typename Key>
    std::size_t chunk_for(const Key& key) const {
        const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), key, [](const Key& k, const Chunk& chunk) {
            return !chunk.items.empty() && k < Traits::key(chunk.items.front());
        });
        return after == chunks_.begin() ? 0 : static_cast<std::size_t>(after - chunks_.begin()) - 1;
    }
    void split(std::size_t c) {
        Chunk upper;
        upper.items.reserve(chunk_max);
        auto& items = chunks_[c].items;
        const auto middle = items.begin() + static_cast<std::ptrdiff_t>(chunk_max / 2);
        upper.items.assign(std::make_move_iterator(middle), std::make_move_iterator(items.end()));
        items.erase(middle, items.end());
        for (const T& item : upper.items) {
            upper.weight += Traits::weight(item);
        }
        chunks_[c].weight -= upper.weight;
        chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, std::move(upper));
    }

    std::vector<Chunk> chunks_;  ///< in order of their keys, none empty
    std::size_t size_ = 0;
    std::int64_t weight_ = 0;
};

}  // namespace weir
