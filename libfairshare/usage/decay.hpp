// SPDX-License-Identifier: LGPL-3.0-only
// Owns: half-life decay in integers: the weight of a charge dated t, and the value of weights at `now`. Integers add up
// to the same bits in any order of events and on every machine; doubles do not. Must not know: nodes, rates, trees.
#pragma once
#include <cstdint>

#include "libfairshare/base/time.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

inline constexpr Duration decay_half_life_min = std::chrono::seconds{1};
inline constexpr Duration decay_half_life_max = std::chrono::hours{24 * 36525};  // a hundred years

/// 2^(fraction / 2^64) in units of 2^-63: 2^63 to 2^64 - 1. Relative error below 2^-57; the same on every machine.
std::uint64_t exp2_fraction(std::uint64_t fraction);

/// With half-life H and tau = H / ln 2, a core that ran from s to e is worth tau * (2^-((t-e)/H) - 2^-((t-s)/H)) at t.
/// So with weight(t) = tau * 2^((t-O)/H) every job is the difference of two weights, usage(t) is a sum of weights
/// times 2^-((t-O)/H), and only that last factor depends on the time of reading. The origin O moves on in steps of
/// eight half-lives, which divides all weights by 2^8: frame n has O = 8 n H.
class DecayFrame {
  public:
    /// How to turn weights into usage at one instant.
    struct Reading {
        std::int64_t now = 0;        ///< microseconds since the epoch
        __int128 weight = 0;         ///< weight(now) in the frame of `now`
        unsigned frame_shift = 0;    ///< divide stored weights by 2^this first
        std::uint64_t mantissa = 0;  ///< usage = weights * mantissa / 2^shift
        unsigned shift = 0;
    };
    static constexpr int frame_half_lives = 8;
    static constexpr std::int64_t frame_max = std::int64_t{1} << 41;  ///< beyond any Instant

    /// half_life: 0 (nothing decays) or between the limits above. Starts in the frame before the epoch.
    explicit DecayFrame(Duration half_life);

    static bool accepts(Duration half_life);
    Duration half_life() const { return Duration{half_life_}; }
    bool decays() const { return half_life_ != 0; }
    std::int64_t frame() const { return frame_; }
    void set_frame(std::int64_t frame);
    /// Whether `at` needs a later frame: frame_for(at) > frame(), without a division.
    bool is_before(Instant at) const { return at.time_since_epoch().count() > frame_last_; }
    /// The frame in which `at` lies between 8 and 16 half-lives after the origin.
    std::int64_t frame_for(Instant at) const;

    /// tau * 2^((at-O)/H) in this frame's fixed point; below 2^76 up to 16 half-lives after the origin; strictly
    /// increasing at the resolution of a microsecond. Without decay: the microseconds since the epoch. REQUIRES:
    /// frame_for(at) <= frame().
    __int128 weight(Instant at) const;
    /// `now` may be beyond this frame; a `now` before the origin counts as the origin.
    Reading reading(Instant now) const;

    /// value / 2^shift, to nearest, halves up.
    static __int128 shifted(__int128 value, unsigned shift) {
        return shift == 0 ? value : shift > 126 ? 0 : (value + (__int128{1} << (shift - 1))) >> shift;
    }
    /// weights * mantissa / 2^shift, to nearest, halves up; 0 for negative weights.
    static CoreMicros scaled(__int128 weights, const Reading& reading) {
        if (weights <= 0) {
            return 0;
        }
        return multiply_shift(static_cast<CoreMicros>(weights), reading.mantissa, static_cast<int>(reading.shift));
    }
    /// The weights that are worth `usage` core-microseconds at `at`: the inverse of scaled() to within rounding.
    __int128 weights_worth(CoreMicros usage, Instant at) const;

  private:
    struct Phase {
        std::int64_t whole;      // half-lives since the origin, rounded down
        std::uint64_t fraction;  // the rest in units of 2^-64 half-lives
    };
    struct Weighed {
        std::int64_t at = 0;
        __int128 weight = 0;
        bool is_valid = false;
    };
    Phase phase(std::int64_t at, std::int64_t frame) const;
    __int128 weight_in(Phase phase) const;
    /// a * m / 2^shift to nearest, halves up; saturates. shift may be negative.
    static CoreMicros multiply_shift(CoreMicros a, std::uint64_t m, int shift) {
        const CoreMicros low = static_cast<CoreMicros>(static_cast<std::uint64_t>(a)) * m;
        const CoreMicros upper = static_cast<CoreMicros>(static_cast<std::uint64_t>(a >> 64)) * m + (low >> 64);
        if (shift <= 64) {
            return shift_left(upper, static_cast<std::uint64_t>(low), 64 - shift);
        }
        const int right = shift - 64;
        return right >= 128 ? 0 : (upper + (CoreMicros{1} << (right - 1))) >> right;
    }
    static CoreMicros shift_left(CoreMicros upper, std::uint64_t rest, int left);

    std::int64_t half_life_;
    std::int64_t frame_ = -1;
    std::int64_t frame_last_ = 0;  // its last microsecond since the epoch; the greatest where nothing decays
    unsigned fraction_bits_ = 0;   // weights are in units of 2^-fraction_bits core-microseconds
    std::uint64_t tau_ = 0;        // tau in those units: 2^59 to 2^60
    mutable Weighed last_;         // the last weight(): what moves from one payer to another asks twice
};

}  // namespace weir
