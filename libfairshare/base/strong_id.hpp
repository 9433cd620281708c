// SPDX-License-Identifier: LGPL-3.0-only
// Owns: integer ids that do not mix.
#pragma once
#include <compare>
#include <cstddef>
#include <functional>

namespace weir {

template <typename Tag, typename Rep>
struct StrongId {
    using rep = Rep;
    Rep value{};
    friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

}  // namespace weir

template <typename Tag, typename Rep>
struct std::hash<weir::StrongId<Tag, Rep>> {
    std::size_t operator()(weir::StrongId<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
