// SPDX-License-Identifier: LGPL-3.0-only
// The expected figures come from the C library's long double functions, which have 64 bits of their own.
#include "libfairshare/usage/decay.hpp"

#include <cmath>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

TEST_CASE("exp2: agrees with long double to 2^-57 and starts at one") {
    CHECK(exp2_fraction(0) == std::uint64_t{1} << 63);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t fraction = 0x9e3779b97f4a7c15U * static_cast<std::uint64_t>(i);
        const long double expected = std::exp2(static_cast<long double>(fraction) * 0x1p-64L);
        const long double got = static_cast<long double>(exp2_fraction(fraction)) * 0x1p-63L;
        REQUIRE(std::abs(got / expected - 1) < 0x1p-57L);
    }
    CHECK(exp2_fraction(~std::uint64_t{0}) > ~std::uint64_t{0} - 256);
}

TEST_CASE("decay: weights grow with every microsecond at every half-life") {
    for (Duration half_life : {decay_half_life_min, Duration{std::chrono::hours{1}}, week, decay_half_life_max}) {
        DecayFrame decay{half_life};
        decay.set_frame(decay.frame_for(second(0)));
        for (int i = 0; i < 100; ++i) {
            const Instant at = second(0) + i * half_life / 15;
            REQUIRE(decay.weight(at + Duration{1}) > decay.weight(at));
        }
    }
}

TEST_CASE("decay: a frame is over as soon as a later one is asked for") {
    for (Duration half_life : {Duration{0}, decay_half_life_min, week, decay_half_life_max}) {
        DecayFrame decay{half_life};
        for (std::int64_t frame : {std::int64_t{-3}, std::int64_t{0}, decay.frame_for(second(0))}) {
            decay.set_frame(frame);
            const Instant end{half_life * (8 * (frame + 2))};
            for (Instant at : {end - Duration{1}, end, end + Duration{1}, second(0)}) {
                CHECK(decay.is_before(at) == (decay.frame_for(at) > decay.frame()));
            }
        }
        CHECK_FALSE((half_life == Duration{0} && decay.is_before(Instant::max())));
    }
}

TEST_CASE("decay: a weight halves over a half-life") {
    DecayFrame decay{week};
    decay.set_frame(decay.frame_for(second(0)));
    const DecayFrame::Reading now = decay.reading(second(0));
    const DecayFrame::Reading later = decay.reading(second(0) + week);
    const __int128 weights = decay.weight(second(0));
    const CoreMicros twice = 2 * DecayFrame::scaled(DecayFrame::shifted(weights, later.frame_shift), later);
    CHECK(DecayFrame::scaled(weights, now) + 1 - twice <= 2);  // each is rounded once
    CHECK(relative_error(core_seconds(DecayFrame::scaled(weights, now)), 604800 / std::log(2.0)) < 1e-12);
}

TEST_CASE("decay: reading past the frame equals moving the frame") {
    DecayFrame decay{week};
    decay.set_frame(decay.frame_for(second(0)));
    const __int128 weights = decay.weight(second(0));
    const Instant later = second(0) + 25 * week;
    const DecayFrame::Reading reading = decay.reading(later);
    REQUIRE(reading.frame_shift > 0);
    const CoreMicros ahead = DecayFrame::scaled(DecayFrame::shifted(weights, reading.frame_shift), reading);
    const auto shift = static_cast<unsigned>(8 * (decay.frame_for(later) - decay.frame()));
    decay.set_frame(decay.frame_for(later));
    CHECK(ahead == DecayFrame::scaled(DecayFrame::shifted(weights, shift), decay.reading(later)));
    CHECK(std::abs(static_cast<double>(ahead) - 6048e8 / std::log(2.0) * std::exp2(-25)) <= 0.5001);
}

TEST_CASE("decay: the inverse finds the weights of a usage") {
    for (Duration half_life : {decay_half_life_min, week, decay_half_life_max}) {
        DecayFrame decay{half_life};
        decay.set_frame(decay.frame_for(second(0)));
        for (double usage : {0.0, 1.0, 12345.0, 1e12, 3.5e20}) {
            const auto wanted = static_cast<CoreMicros>(usage);
            const CoreMicros got = DecayFrame::scaled(decay.weights_worth(wanted, second(0)), decay.reading(second(0)));
            CHECK(relative_error(static_cast<double>(got), usage) < 1e-15);
        }
    }
}

TEST_CASE("decay: an absurd usage saturates instead of wrapping") {
    DecayFrame decay{decay_half_life_min};
    decay.set_frame(decay.frame_for(second(0)));
    CHECK(decay.weights_worth(usage_max, second(0)) > 0);
    CHECK(decay.weights_worth(~CoreMicros{0}, second(0)) > 0);
}

TEST_CASE("decay: without decay a weight is the time itself") {
    DecayFrame decay{Duration{0}};
    CHECK_FALSE(decay.decays());
    CHECK(decay.weight(Instant{Duration{123}}) == 123);
    CHECK(DecayFrame::scaled(456, decay.reading(second(5))) == 456);
}

TEST_CASE("decay: only sensible half-lives are accepted") {
    CHECK(DecayFrame::accepts(Duration{0}));
    CHECK(DecayFrame::accepts(week));
    CHECK_FALSE(DecayFrame::accepts(Duration{-1}));
    CHECK_FALSE(DecayFrame::accepts(Duration{1}));
    CHECK_FALSE(DecayFrame::accepts(decay_half_life_max + Duration{1}));
}
