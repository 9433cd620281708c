// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see decay.hpp. Everything in here is integer arithmetic; the tables are made at compile time.
#include "libfairshare/usage/decay.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "libfairshare/base/check.hpp"

namespace weir {

namespace {

using U128 = unsigned __int128;

constexpr std::uint64_t one = std::uint64_t{1} << 63;           // fixed point: 63 fraction bits, values 1 to 2
constexpr std::uint64_t square_root_of_2 = 0xb504f333f9de6484;  // in the same
constexpr std::uint64_t ln_2 = 0xb17217f7d1cf79ac;              // 64 fraction bits
constexpr std::uint64_t reciprocal_ln_2 = 0xb8aa3b295c17f0bc;   // 63 fraction bits
constexpr U128 weights_max = (U128{1} << 126) - 1;

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<U128>(a) * b + one / 2) >> 63);
}

constexpr std::uint64_t square_root(std::uint64_t value) {
    const U128 target = static_cast<U128>(value) << 63;
    std::uint64_t root = 0;
    for (std::uint64_t bit = one; bit != 0; bit >>= 1) {
        const std::uint64_t tried = root | bit;
        if (static_cast<U128>(tried) * tried <= target) {
            root = tried;
        }
    }
    return root;
}

using PowerTable = std::array<std::array<std::uint64_t, 256>, 3>;

/// [k][i] = 2^(i / 256^(k+1)), each a product of at most eight of the roots 2^(2^-1) to 2^(2^-24).
constexpr PowerTable make_powers() {
    std::array<std::uint64_t, 24> roots{};
    roots[0] = square_root_of_2;
    for (std::size_t k = 1; k < roots.size(); ++k) {
        roots[k] = square_root(roots[k - 1]);
    }
    PowerTable powers{};
    for (std::size_t table = 0; table < powers.size(); ++table) {
        for (std::size_t i = 0; i < 256; ++i) {
            std::uint64_t value = one;
            for (std::size_t bit = 0; bit < 8; ++bit) {
                if ((i & (std::size_t{128} >> bit)) != 0) {
                    value = multiply(value, roots[8 * table + bit]);
                }
            }
            powers[table][i] = value;
        }
    }
    return powers;
}

constexpr PowerTable powers = make_powers();

}  // namespace

std::uint64_t exp2_fraction(std::uint64_t fraction) {
    const std::uint64_t y = static_cast<std::uint64_t>((static_cast<U128>(fraction << 24 >> 24) * ln_2) >> 64);
    // e^y to second order; y < 2^-24 in units of 2^-64, so that the third order is below 2^-74.
    const auto square = static_cast<std::uint64_t>((static_cast<U128>(y) * y) >> 64);
    const std::uint64_t rest = one + (y >> 1) + (square >> 2);
    const std::uint64_t upper = multiply(powers[0][fraction >> 56], powers[1][(fraction >> 48) & 255]);
    return multiply(upper, multiply(powers[2][(fraction >> 40) & 255], rest));
}

bool DecayFrame::accepts(Duration half_life) {
    return half_life == Duration{0} || (half_life >= decay_half_life_min && half_life <= decay_half_life_max);
}

DecayFrame::DecayFrame(Duration half_life) : half_life_(half_life.count()) {
    WEIR_CHECK(accepts(half_life));
    set_frame(frame_);
    if (!decays()) {
        return;
    }
    const U128 tau = static_cast<U128>(static_cast<std::uint64_t>(half_life_)) * reciprocal_ln_2;  // 63 fraction bits
    unsigned shift = 0;
    while ((tau >> shift) >= (U128{1} << 60)) {
        ++shift;
    }
    tau_ = static_cast<std::uint64_t>(tau >> shift);
    fraction_bits_ = 63 - shift;
}

void DecayFrame::set_frame(std::int64_t frame) {
    frame_ = frame;
    last_.is_valid = false;
    using Limits = std::numeric_limits<std::int64_t>;
    const __int128 last = (static_cast<__int128>(frame) + 2) * frame_half_lives * half_life_ - 1;
    frame_last_ =
        decays() ? static_cast<std::int64_t>(std::clamp<__int128>(last, Limits::min(), Limits::max())) : Limits::max();
}

std::int64_t DecayFrame::frame_for(Instant at) const {
    return decays() ? floor_divide(at.time_since_epoch().count(), frame_half_lives * half_life_) - 1 : frame_;
}

DecayFrame::Phase DecayFrame::phase(std::int64_t at, std::int64_t frame) const {
    const __int128 wide = static_cast<__int128>(at) - static_cast<__int128>(frame) * frame_half_lives * half_life_;
    // Half the range: floor_divide() rounds down, and whole * half_life_ must not leave 64 bits.
    const __int128 limit = std::numeric_limits<std::int64_t>::max() / 2;
    const auto since_origin = static_cast<std::int64_t>(std::clamp(wide, -limit, limit));
    const std::int64_t whole = floor_divide(since_origin, half_life_);
    const auto rest = static_cast<std::uint64_t>(since_origin - whole * half_life_);
    return {whole, static_cast<std::uint64_t>((static_cast<U128>(rest) << 64) / static_cast<U128>(half_life_))};
}

__int128 DecayFrame::weight_in(Phase phase) const {
    if (phase.whole < -64) {
        return 0;
    }
    const U128 product = static_cast<U128>(tau_) * exp2_fraction(phase.fraction);
    const int shift = static_cast<int>(63 - std::min<std::int64_t>(phase.whole, 16));
    return static_cast<__int128>(shift >= 128 ? 0 : (product + (U128{1} << (shift - 1))) >> shift);
}

__int128 DecayFrame::weight(Instant at) const {
    const std::int64_t microseconds = at.time_since_epoch().count();
    if (!decays()) {
        return microseconds;
    }
    if (!last_.is_valid || last_.at != microseconds) {
        last_ = {microseconds, weight_in(phase(microseconds, frame_)), true};
    }
    return last_.weight;
}

DecayFrame::Reading DecayFrame::reading(Instant now) const {
    Reading reading;
    reading.now = now.time_since_epoch().count();
    if (!decays()) {
        reading.weight = reading.now;
        reading.mantissa = 1;
        return reading;
    }
    const std::int64_t frame = std::max(frame_, frame_for(now));
    reading.frame_shift = static_cast<unsigned>(std::min<std::int64_t>((frame - frame_) * frame_half_lives, 255));
    Phase at = phase(reading.now, frame);
    if (at.whole < 0) {
        at = {0, 0};
    }
    reading.weight = weight_in(at);
    // 2^-(whole + f) is 2^(1-f) / 2^(whole+1), or for f = 0 exactly 1 / 2^whole.
    reading.mantissa = at.fraction == 0 ? one : exp2_fraction(0 - at.fraction);
    reading.shift = static_cast<unsigned>(at.whole) + fraction_bits_ + (at.fraction == 0 ? 63 : 64);
    return reading;
}

/// (upper * 2^64 + rest) * 2^left / 2^64 to nearest, halves up; saturates at weights_max. left is not negative.
CoreMicros DecayFrame::shift_left(CoreMicros upper, std::uint64_t rest, int left) {
    if (left >= 126 || (upper >> (126 - left)) != 0) {
        return upper == 0 && rest == 0 ? 0 : weights_max;
    }
    const int shift = 64 - left;
    const U128 kept = shift <= 0 ? static_cast<U128>(rest) << -shift : shift == 64 ? 0 : rest >> shift;
    const bool rounds_up = shift > 0 && ((rest >> (shift - 1)) & 1) != 0;
    return (upper << left) + kept + (rounds_up ? 1 : 0);
}

__int128 DecayFrame::weights_worth(CoreMicros usage, Instant at) const {
    if (!decays()) {
        return static_cast<__int128>(std::min(usage, weights_max));
    }
    const Phase phase_at = phase(at.time_since_epoch().count(), frame_);
    const auto whole = static_cast<int>(std::clamp<std::int64_t>(phase_at.whole, -128, 16));
    const int shift = 63 - whole - static_cast<int>(fraction_bits_);
    return static_cast<__int128>(multiply_shift(usage, exp2_fraction(phase_at.fraction), shift));
}

}  // namespace weir
