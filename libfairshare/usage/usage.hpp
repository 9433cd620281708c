// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the unit of usage, the core-microsecond, as an exact integer of 128 bits.
// Must not know: decay, trees, text formats.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace weir {

/// Usage in core-microseconds. Ten million nodes of 256 cores over ten years are 8.1e23, below 2^80.
using CoreMicros = unsigned __int128;
/// Differences and running sums.
using SignedCoreMicros = __int128;

/// The most that the algorithms accept for one node; the ledger's snapshots saturate here.
inline constexpr CoreMicros usage_max = (CoreMicros{1} << 80) - 1;

/// 128-bit integers as two halves, for stores with 64-bit integers.
struct WideInteger {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    friend bool operator==(const WideInteger&, const WideInteger&) = default;
};

inline WideInteger to_wide(__int128 value) {
    return {static_cast<std::int64_t>(value >> 64), static_cast<std::uint64_t>(value)};
}

inline __int128 from_wide(WideInteger wide) {
    return static_cast<__int128>((static_cast<unsigned __int128>(static_cast<std::uint64_t>(wide.high)) << 64) |
                                 wide.low);
}

/// The numbers that a ledger stores for one payer. Their meaning is internal to the ledger.
struct PayerNumbers {
    std::string path;  ///< of the leaf; empty: `unassociated`
    std::vector<WideInteger> numbers;
    friend bool operator==(const PayerNumbers&, const PayerNumbers&) = default;
};

/// Nearest double: static_cast<double>(), but faster for values below 2^63.
inline double usage_as_double(CoreMicros usage) {
    return usage >> 63 == 0 ? static_cast<double>(static_cast<std::int64_t>(usage)) : static_cast<double>(usage);
}

/// For people and for factors, never for comparisons. Nearest double.
inline double core_seconds(CoreMicros usage) {
    return static_cast<double>(usage) / 1e6;
}

}  // namespace weir
