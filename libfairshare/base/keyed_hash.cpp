// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see keyed_hash.hpp. The names of the variables are those of the paper.
#include "libfairshare/base/keyed_hash.hpp"

#include <bit>

namespace weir {
namespace {

struct SipState {
    std::uint64_t v0, v1, v2, v3;

    void rounds(int count) {
        for (int i = 0; i < count; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32);
            v2 += v1;
            v0 += v3;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    }
    void take(std::uint64_t word) {
        v3 ^= word;
        rounds(2);
        v0 ^= word;
    }
};

}  // namespace

std::uint64_t keyed_hash(const HashKey& key, std::uint64_t a, std::uint64_t b) {
    SipState state{key.first ^ 0x736f6d6570736575ULL, key.second ^ 0x646f72616e646f6dULL,
                   key.first ^ 0x6c7967656e657261ULL, key.second ^ 0x7465646279746573ULL};
    state.take(a);
    state.take(b);
    state.take(std::uint64_t{16} << 56);  // the message's length
    state.v2 ^= 0xff;
    state.rounds(4);
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace weir
