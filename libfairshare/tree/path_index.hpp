// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an index from paths to places, as a table of places and parts of hashes. Most look-ups read one line of memory;
// they take most of the time to build a tree of a million lines. Must not know nodes.
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace weir {

/// The caller stores the paths, and a place is an index into them. An entered path must not change.
class PathIndex {
  public:
    explicit PathIndex(const std::vector<std::string_view>& paths) : paths_(paths) {}

    /// Reserves space for `count` paths. Call it once, before enter(). O(count).
    void reserve(std::size_t count) { slots_.assign(std::bit_ceil(count + count / 2 + 1), Slot{}); }

    /// Enters paths[place], unless that path is there: returns the place that has it, `place` itself if it is new.
    /// REQUIRES: reserve() allowed for it. O(1).
    std::uint32_t enter(std::uint32_t place) {
        const std::size_t hash = std::hash<std::string_view>{}(paths_[place]);
        Slot& slot = slots_[slot_of(paths_[place], hash)];
        if (slot.place == none) {
            slot = {tag_of(hash), place};
        }
        return slot.place;
    }

    /// O(1).
    std::optional<std::uint32_t> find(std::string_view path) const {
        const Slot& slot = slots_[slot_of(path, std::hash<std::string_view>{}(path))];
        return slot.place == none ? std::nullopt : std::optional(slot.place);
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t place = none;
    };
    static std::uint32_t tag_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

    /// Where the path is, or the empty slot where it would be.
    std::size_t slot_of(std::string_view path, std::size_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        while (slots_[at].place != none && (slots_[at].tag != tag_of(hash) || paths_[slots_[at].place] != path)) {
            at = (at + 1) & mask;
        }
        return at;
    }

    const std::vector<std::string_view>& paths_;
    std::vector<Slot> slots_{Slot{}};  // a power of two of them, a third empty at least
};

}  // namespace weir
