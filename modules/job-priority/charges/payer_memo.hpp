// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payers that were found for jobs inside children, by what records name: the records of a child name the same
// few payers again and again. Must not know: how a payer is found.
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
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

class PayerMemo {
  public:
    using Payer = std::optional<NodeId>;  ///< none: the record is not believed
    /// Beyond these all are forgotten: a guest's job may name what account it likes.
    static constexpr std::size_t entries_max = 4096;

    /// The payer for a record of that child; `find` is asked the first time. O(length of the names).
    template <typename Find>
    Payer of(std::uint64_t child, const UplinkRow& record, const Find& find) {
        const Names names{child, {record.user, record.account, record.bill.queue, record.bill.qos}};
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
    struct Names {
        std::uint64_t child;
        std::array<std::string_view, 4> texts;
    };
    struct Key {
        explicit Key(const Names& names)
            : child(names.child),
              texts{std::string(names.texts[0]), std::string(names.texts[1]), std::string(names.texts[2]),
                    std::string(names.texts[3])} {}
        operator Names() const { return {child, {texts[0], texts[1], texts[2], texts[3]}}; }
        std::uint64_t child;
        std::array<std::string, 4> texts;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Names& names) const {
            std::size_t hash = names.child;
            for (const std::string_view text : names.texts) {
                hash = hash * 0x9e3779b97f4a7c15 + (text.empty() ? 0 : std::hash<std::string_view>{}(text));
            }
            return hash;
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Names& a, const Names& b) const { return a.child == b.child && a.texts == b.texts; }
    };

    std::unordered_map<Key, Payer, Hash, Equal> payers_;
};

}  // namespace weir::priority
