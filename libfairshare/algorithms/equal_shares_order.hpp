// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Fair Tree among siblings with equal shares; the order is updated as usage grows and never sorted anew. Must not
// know: ledgers, decay, jobs. Source: as FairTree.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/usage/usage.hpp"

namespace weir {

/// Decay multiplies all usage by the same factor and keeps its order. Between two instants only members that used
/// something can fall behind others, so an update costs the places that they fall, not the number of siblings.
class EqualSharesOrder {
  public:
    /// Counted from 0 in order of add().
    using Member = std::uint32_t;

    /// A member that has used nothing. O(members).
    void add();
    std::size_t size() const { return order_.size(); }

    /// usage(Member) -> CoreMicros: the usage now. For members outside `grew` it is the usage of the last update, less
    /// by one factor for all of them. Members in `grew` (each once) may have more. Appends the members whose factor
    /// changed since the last update, some perhaps twice. O(grew log grew + places that they fall). Usage is a whole
    /// number and decays to 0 in the end. A member with past usage still stays behind one that never used anything, and
    /// two members that decayed to equal numbers keep their order, as the real numbers do.
    template <typename Usage>
    void update(std::span<const Member> grew, Usage&& usage, std::vector<Member>& changed);

    /// FairTree's rank and factor as of the last update: `size()` down to 1, ties share the higher. O(1).
    std::uint32_t rank(Member member) const { return static_cast<std::uint32_t>(size()) - ahead_[member]; }
    double factor(Member member) const { return rank(member) * (1.0 / static_cast<double>(size())); }

  private:
    void put(std::size_t at, Member member) {
        order_[at] = member;
        place_[member] = static_cast<std::uint32_t>(at);
    }
    template <typename Usage>
    std::uint32_t count_ahead(std::size_t at, const Usage& usage) const;
    /// Reads the usage of each member once an update.
    template <typename Usage>
    CoreMicros read(Member member, Usage& usage) {
        if (read_in_[member] != updates_) {
            read_in_[member] = updates_;
            usage_[member] = usage(member);
        }
        return usage_[member];
    }

    std::vector<Member> order_;         ///< least usage first
    std::vector<std::uint32_t> place_;  ///< in order_, by member
    std::vector<std::uint32_t> ahead_;  ///< how many used less, by member
    std::vector<bool> has_used_;        ///< by member; those that never used anything come before all others
    std::vector<CoreMicros> usage_;     ///< as read in the update read_in_[member]
    std::vector<std::uint64_t> read_in_;
    std::uint64_t updates_ = 0;
    std::vector<Member> falling_;  ///< kept for its memory
    std::vector<Member> touched_;
    bool is_longer_ = false;  ///< a member was added since the last update
};

template <typename Usage>
std::uint32_t EqualSharesOrder::count_ahead(std::size_t at, const Usage& usage) const {
    const CoreMicros own = usage(order_[at]);
    if (own == 0) {
        return has_used_[order_[at]] ? static_cast<std::uint32_t>(at) : 0;
    }
    while (at > 0 && usage(order_[at - 1]) == own) {
        at--;
    }
    return static_cast<std::uint32_t>(at);
}

template <typename Usage>
void EqualSharesOrder::update(std::span<const Member> grew, Usage&& read_usage, std::vector<Member>& changed) {
    updates_++;
    const auto usage = [&](Member member) { return read(member, read_usage); };
    falling_.assign(grew.begin(), grew.end());
    std::sort(falling_.begin(), falling_.end(), [this](Member a, Member b) { return place_[a] > place_[b]; });
    touched_.clear();
    // From the last to the first: the members behind are already in order.
    for (const Member member : falling_) {
        const CoreMicros own = usage(member);
        std::size_t at = place_[member];
        has_used_[member] = has_used_[member] || own != 0;
        while (at + 1 < size() && usage(order_[at + 1]) < own) {
            touched_.push_back(order_[at + 1]);
            put(at, order_[at + 1]);
            at++;
        }
        put(at, member);
        touched_.push_back(member);
        for (std::size_t next = at + 1; next < size() && own != 0 && usage(order_[next]) == own; next++) {
            touched_.push_back(order_[next]);
        }
    }
    if (is_longer_) {
        touched_ = order_;
    }
    for (const Member member : touched_) {
        const std::uint32_t now_ahead = count_ahead(place_[member], usage);
        if (now_ahead != ahead_[member] || is_longer_) {
            ahead_[member] = now_ahead;
            changed.push_back(member);
        }
    }
    is_longer_ = false;
}

}  // namespace weir
