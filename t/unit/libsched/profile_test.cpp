// SPDX-License-Identifier: LGPL-3.0-only
// The availability profile against an array of seconds, and what its queries look at.
#include "libsched/resource/profile.hpp"

#include <catch2/catch.hpp>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::secs;

namespace {

constexpr int seconds = 1200;

/// Free cores by second from now on.
using Seconds = std::vector<int>;

bool stays(const Seconds& free, int need, int from, int until) {
    bool ok = free[static_cast<std::size_t>(from)] >= need;
    for (int t = from; ok && t < until && t < seconds; t++) {
        ok = free[static_cast<std::size_t>(t)] >= need;
    }
    return ok;
}

}  // namespace

// Kills: earliest() that skips a chunk in which it is found, or forgets ends before now.
TEST_CASE("profile: the earliest fit is what a linear search finds") {
    draw::property("same as a walk", [] {
        AvailabilityProfile profile;
        int total = 0;
        const auto ends = draw::several(
            [] {
                return std::pair{draw::in_range(0, seconds), draw::in_range(1, 9)};
            },
            draw::in_range<std::size_t>(0, 401));
        for (const auto& [end, cores] : ends) {
            profile.change(at(end), cores);
            total += cores;
        }
        const int now = draw::in_range(0, seconds / 4);
        const int free = draw::in_range(0, 5);
        const int need = draw::in_range(1, total + 10);
        const auto fit = profile.earliest(free, need, at(now));
        int found = -1;
        int then = free;
        for (int t = now; t <= seconds && found < 0 && free < need; t++) {
            then = free;
            for (const auto& [end, cores] : ends) {
                then += end <= t ? cores : 0;
            }
            found = then >= need ? t : -1;
        }
        RC_ASSERT(fit.found == (free >= need || found >= 0));
        if (fit.found) {
            // What is due comes back a moment later.
            RC_ASSERT(fit.at == (free >= need ? at(now) : found == now ? at(now) + Duration{1} : at(found)));
            RC_ASSERT(fit.free == then);
        }
    });
}

// Kills: a skip over a chunk that ends behind the window; a summary kept after a change; a window that includes its
// end; a hole that goes on through too few cores.
// Mutant: libsched/resource/profile.hpp: free + chunk.summary.low >= lowest => free + chunk.summary.sum >= lowest
// Mutant: libsched/resource/profile.hpp: if (free < lowest) { => if (free < lowest && bounds.size() < 2) {
TEST_CASE("profile: a hole is what a linear search finds, after any history") {
    draw::property("same as an array", [] {
        constexpr int cores = 40;
        AvailabilityProfile profile;
        Seconds free(seconds, cores);
        for (int wishes = draw::in_range(0, 301); wishes > 0; wishes--) {
            const int need = draw::in_range(1, 12);
            const int limit = draw::in_range(1, 60);
            const bool stay = draw::arbitrary<bool>();
            int expected = 0;
            while (expected < seconds && !stays(free, need, expected, expected + limit)) {
                expected++;
            }
            if (expected + limit >= seconds) {
                break;
            }
            RC_ASSERT(profile.hole(free[0], need, secs(limit), at(0)) == at(expected));
            RC_ASSERT(profile.stays(free[0], need, at(0), at(limit)) == stays(free, need, 0, limit));
            const auto bounds = profile.bounds(free[0]);
            RC_ASSERT(stays(free, need, 0, limit) ==
                      std::all_of(bounds.begin(), bounds.end(), [&, cores_wanted = need, end = at(limit)](auto bound) {
                          return bound.after >= end || static_cast<std::uint64_t>(cores_wanted) <= bound.cores;
                      }));
            if (stay && expected > 0) {
                profile.change(at(expected), -need);
                profile.change(at(expected + limit), need);
            } else if (stay) {
                profile.change(at(limit), need);
            }
            for (int t = expected; stay && t < expected + limit; t++) {
                free[static_cast<std::size_t>(t)] -= need;
            }
        }
    });
}

TEST_CASE("profile: changes that add up to nothing leave nothing") {
    AvailabilityProfile profile;
    for (int i = 0; i < 1000; i++) {
        profile.change(at(i), 3);
    }
    for (int i = 0; i < 1000; i++) {
        profile.change(at(i), -3);
    }
    CHECK(profile.size() == 0);
}

// Operations are counted, not timed: sixteen times the running jobs must not cost sixteen times as much.
TEST_CASE("profile: queries look at few of many running jobs") {
    const auto looked_at = [](int running, auto&& query) {
        AvailabilityProfile profile;
        for (int i = 0; i < running; i++) {
            profile.change(at(10 + 7 * i), 2);
            if (i % 2 == 0) {
                profile.change(at(12 + 7 * i), -1);
                profile.change(at(14 + 7 * i), 1);
            }
        }
        query(profile, running);  // learns
        const auto before = profile.looked_at();
        query(profile, running);
        return static_cast<double>(profile.looked_at() - before);
    };
    const auto shadow = [](const AvailabilityProfile& profile, int running) {
        CHECK(profile.earliest(0, 2 * running, at(0)).found);
    };
    const auto hole = [](const AvailabilityProfile& profile, int running) {
        CHECK(profile.hole(0, running, secs(1'000'000), at(0)) > at(10));
    };
    const auto window = [](const AvailabilityProfile& profile, int running) {
        CHECK(profile.stays(5, 5, at(0), at(7 * running)));
    };
    CHECK(looked_at(64'000, shadow) < 2'500);
    CHECK(looked_at(64'000, hole) < 2'500);
    CHECK(looked_at(64'000, window) < 2'500);
}
