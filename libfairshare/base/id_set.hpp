// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a set of small integers as sorted ranges, and its text form "0-3,7" (RFC 22 idset). Ranks, cores and gpus are
// such sets. Must not know what the integers name. Size of the representation grows with the ranges, not the members.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir {

class IdSet {
  public:
    struct Range {
        std::uint32_t first;
        std::uint32_t last;  ///< inclusive
        friend bool operator==(const Range&, const Range&) = default;
    };
    static constexpr std::uint32_t id_max = 0xFFFFFFFDU;

    IdSet() = default;
    /// All of first..last.
    static IdSet range(std::uint32_t first, std::uint32_t last);
    /// "0-3,7", "[0-3,7]", "5" or "". Errors: what stands where, and what is right; ranges must not overlap.
    /// O(n log n) in the length of the text, however many members it names.
    static Result<IdSet> parse(std::string_view text);
    /// Without brackets, ranges ascending: parse(encode()) is the same set.
    std::string encode() const;

    bool empty() const { return ranges_.empty(); }
    std::uint64_t count() const { return count_; }
    bool contains(std::uint32_t id) const;
    bool includes(const IdSet& other) const;
    bool intersects(const IdSet& other) const;
    std::uint32_t first() const { return ranges_.front().first; }
    std::uint32_t last() const { return ranges_.back().last; }
    const std::vector<Range>& ranges() const { return ranges_; }

    void add(std::uint32_t id) { add(Range{id, id}); }
    void add(Range range);
    /// O(ranges of both); with a single range in `other` O(log ranges) where it comes last.
    void add(const IdSet& other);
    void remove(const IdSet& other);
    /// Takes the n lowest members out. REQUIRES: n <= count().
    IdSet take_lowest(std::uint64_t n);

    template <typename Visit>
    void each(Visit&& visit) const {
        for (const Range& range : ranges_) {
            for (std::uint64_t id = range.first; id <= range.last; id++) {
                visit(static_cast<std::uint32_t>(id));
            }
        }
    }
    friend bool operator==(const IdSet&, const IdSet&) = default;

  private:
    std::vector<Range> ranges_;  ///< ascending, disjoint, never adjacent
    std::uint64_t count_ = 0;    ///< members
};

}  // namespace weir
