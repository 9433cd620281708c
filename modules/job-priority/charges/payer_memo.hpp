// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payers that were found for jobs inside children, by what records name: children of the instance's owner
// name the same few payers again and again. Must not know: how a payer is found.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libfairshare/tree/share_tree.hpp"

namespace weir::priority {

class PayerMemo {
  public:
    /// The user, account, queue and QoS of a job inside a child, which may be the child's.
    using Names = std::array<std::string_view, 4>;
    using Payer = std::optional<NodeId>;  ///< none: the record is not believed
    /// Beyond these all are forgotten: a guest's job may name what account it likes.
    static constexpr std::size_t entries_max = 4096;

    /// The payer of a job by all that decides it; `find` is asked the first time. O(length of the names).
    template <typename Find>
    Payer of(const Names& names, const Find& find) {
        if (const auto known = payers_.find(names); known != payers_.end()) {
            return known->second;
        }
        if (payers_.size() >= entries_max) {
            payers_.clear();
        }
        const Payer found = find();
        payers_.emplace(Key(names), found);
        return found;
    }
    /// Call when anything that decides who pays may have changed.
    void clear() { payers_.clear(); }

  private:
    struct Key {
        explicit Key(const Names& names)
            : texts{std::string(names[0]), std::string(names[1]), std::string(names[2]), std::string(names[3])} {}
        operator Names() const { return {texts[0], texts[1], texts[2], texts[3]}; }
        std::array<std::string, 4> texts;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Names& names) const {
            std::size_t hash = 0;
            for (const std::string_view text : names) {
                hash = hash * 0x9e3779b97f4a7c15 + (text.empty() ? 0 : std::hash<std::string_view>{}(text));
            }
            return hash;
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Names& a, const Names& b) const { return a == b; }
    };

    std::unordered_map<Key, Payer, Hash, Equal> payers_;
};

}  // namespace weir::priority
