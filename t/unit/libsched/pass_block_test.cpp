// SPDX-License-Identifier: LGPL-3.0-only
#include "libsched/priority/pass_block.hpp"
#include "t/unit/draws.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace weir;

// Kills: factors[association] past the end; a wait that is not cut off at either end; the sum converted as if it fitted
// 31 bits, or too soon as if it did not; 1 not the least; urgency not asked; terms added in another order.
TEST_CASE("pass block: every width gives what the one formula gives job by job") {
    draw::property("the same bits", [] {
        const auto number = [](auto low, auto high) { return draw::in_range<std::int64_t>(low, high); };
        const std::int64_t wait_max = number(1, std::int64_t{1} << draw::element(20, 40, 51));
        const PassValues values{static_cast<double>(number(0, 5'000'000'000)), wait_max,
                                static_cast<double>(number(0, 5'000'000'000)) / 7, draw::element(0.5, 0x1p-30),
                                draw::element(1000., 4294967294.)};
        const auto count = static_cast<std::size_t>(draw::element<int>(1, 7, 512, static_cast<int>(number(1, 512))));
        const auto factor_count = static_cast<std::uint32_t>(number(0, 20));
        std::vector<double> factors(factor_count + 1);
        for (std::uint32_t i = 0; i < factor_count; i++) {
            factors[i] = static_cast<double>(number(0, 1000)) / 999;
        }
        std::vector<std::int64_t> eligible;
        std::vector<double> fixed;
        std::vector<std::uint32_t> association;
        std::vector<std::uint8_t> urgency;
        const std::int64_t now = number(0, std::int64_t{1} << 52);
        const bool is_never = draw::arbitrary<bool>();
        for (std::size_t i = 0; i < count; i++) {
            const std::int64_t waited = number(-5, 5) * (wait_max / 3) + number(-2, 3);
            eligible.push_back(is_never && i % 5 == 0 ? std::numeric_limits<std::int64_t>::max() : now - waited);
            fixed.push_back(static_cast<double>(number(-10, 5'000'000'000)) / 3);
            association.push_back(static_cast<std::uint32_t>(number(0, 25)) | (i % 3 == 0 ? 0x40000000U : 0));
            urgency.push_back(static_cast<std::uint8_t>(number(0, 32)));
        }
        // Half of them next to where something changes: a whole number, the ends of the range, the 32nd bit.
        const double most = std::min(values.ceiling, 4e9);
        for (std::size_t i = 0; i < count; i += 2) {
            const double edge = draw::element(1., 2., 0x1p31, values.ceiling, std::floor(most / 7 * 3));
            const std::uint32_t a = association[i] & 0x3FFFFFFFU;
            const std::int64_t waited = std::clamp<std::int64_t>(now - eligible[i], 0, wait_max);
            const double wait = static_cast<double>(waited) / static_cast<double>(wait_max);
            fixed[i] = edge + draw::element(0., 0., 0.25, -0.25, -0.75) - values.bias -
                       (values.wait_weight * wait + values.fairshare_weight * (a < factor_count ? factors[a] : 0.));
        }
        const PassColumns jobs{eligible.data(), fixed.data(),   association.data(), urgency.data(),
                               0x3FFFFFFFU,     factors.data(), factor_count};
        std::vector<std::uint32_t> wanted;
        for (std::size_t i = 0; i < count; i++) {
            const std::uint32_t a = association[i] & 0x3FFFFFFFU;
            wanted.push_back(bypass_or(
                urgency[i], whole(combine(values, now - eligible[i], a < factor_count ? factors[a] : 0., fixed[i]))));
        }
        for (const BlockFunction block : block_functions()) {
            std::vector<std::uint32_t> got(count);
            block(values, jobs, now, count, got.data());
            RC_ASSERT(got == wanted);
        }
    });
}
