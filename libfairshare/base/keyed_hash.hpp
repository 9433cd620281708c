// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a hash of two numbers that nobody can compute, or choose the result of, without the key.
// Must not know: what the numbers mean, where a key is from. Source: Aumasson, Bernstein: SipHash (2012), SipHash-2-4.
#pragma once
#include <cstdint>

namespace weir {

struct HashKey {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    friend bool operator==(const HashKey&, const HashKey&) = default;
};

/// SipHash-2-4 of the 16 bytes of `a` and `b`, each with its lowest byte first.
std::uint64_t keyed_hash(const HashKey& key, std::uint64_t a, std::uint64_t b);

}  // namespace weir
