// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see pass_block.hpp. One body, compiled for each width; which serves is asked of the processor at each block.
// Contraction is off in the whole build, so no width multiplies and adds in one rounding.
#include "libsched/priority/pass_block.hpp"

#include <array>
#include <bit>

#include "libfairshare/base/check.hpp"

namespace weir {
namespace {

/// Of 0 to 2^52 - 1: most widths have no instruction for 64 bits.
inline double to_double(std::int64_t value) {
    constexpr std::int64_t exponent_52 = 0x4330000000000000;
    return std::bit_cast<double>(value | exponent_52) - 0x1p52;
}

/// In steps that compilers know how to widen.
[[gnu::always_inline]] inline void compute(const PassValues& v, const PassColumns& jobs, std::int64_t now_us,
                                           std::size_t count, std::uint32_t* __restrict priorities) {
    const std::int64_t most = v.wait_max_us;
    const double wait_max = static_cast<double>(most);
    std::array<double, pass_block> sums;
    std::array<double, pass_block> fairshare;
    for (std::size_t i = 0; i < count; i++) {
        const std::uint32_t association = jobs.association[i] & jobs.association_mask;
        fairshare[i] = jobs.factors[association < jobs.factor_count ? association : jobs.factor_count];
    }
    for (std::size_t i = 0; i < count; i++) {
        std::int64_t waited = now_us - jobs.eligible_us[i];
        waited = waited < 0 ? 0 : waited;
        waited = waited > most ? most : waited;
        double sum =
            (v.wait_weight * (to_double(waited) / wait_max) + v.fairshare_weight * fairshare[i]) + jobs.fixed[i];
        sum = sum + v.bias;
        sum = sum > v.ceiling ? v.ceiling : sum;
        sums[i] = sum < 1. ? 1. : sum;
    }
    for (std::size_t i = 0; i < count; i++) {
        // What fits 32 bits with a sign every width converts; taking away 2^31 is exact.
        const bool is_high = sums[i] >= 0x1p31;
        const auto low = static_cast<std::int32_t>(sums[i] - (is_high ? 0x1p31 : 0.));
        priorities[i] = static_cast<std::uint32_t>(low) + (is_high ? 0x80000000U : 0U);
    }
    for (std::size_t i = 0; i < count; i++) {
        priorities[i] = bypass_or(jobs.urgency[i], priorities[i]);
    }
}

void compute_narrow(const PassValues& v, const PassColumns& jobs, std::int64_t now_us, std::size_t count,
                    std::uint32_t* priorities) {
    compute(v, jobs, now_us, count, priorities);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void compute_avx2(const PassValues& v, const PassColumns& jobs, std::int64_t now_us,
                                          std::size_t count, std::uint32_t* priorities) {
    compute(v, jobs, now_us, count, priorities);
}
#if defined(__clang__)
#define WEIR_AVX512 "avx512f,avx512dq,avx512vl,avx512bw"
#else
#define WEIR_AVX512 "avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512"
#endif
[[gnu::target(WEIR_AVX512)]] void compute_avx512(const PassValues& v, const PassColumns& jobs, std::int64_t now_us,
                                                 std::size_t count, std::uint32_t* priorities) {
    compute(v, jobs, now_us, count, priorities);
}
bool has_avx2() {
    return __builtin_cpu_supports("avx2") != 0;
}
bool has_avx512() {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}
#endif

BlockFunction widest() {
#if defined(__x86_64__)
    return has_avx512() ? compute_avx512 : has_avx2() ? compute_avx2 : compute_narrow;
#else
    return compute_narrow;
#endif
}

/// For waits that have no exact double.
void compute_singly(const PassValues& values, const PassColumns& jobs, std::int64_t now_us, std::size_t count,
                    std::uint32_t* priorities) {
    for (std::size_t i = 0; i < count; i++) {
        const std::uint32_t association = jobs.association[i] & jobs.association_mask;
        const double fairshare = jobs.factors[std::min(association, jobs.factor_count)];
        const double sum = combine(values, now_us - jobs.eligible_us[i], fairshare, jobs.fixed[i]);
        priorities[i] = bypass_or(jobs.urgency[i], whole(sum));
    }
}

}  // namespace

void compute_block(const PassValues& values, const PassColumns& jobs, std::int64_t now_us, std::size_t count,
                   std::uint32_t* priorities) {
    WEIR_CHECK(count <= pass_block);
    const bool is_exact = values.wait_max_us < std::int64_t{1} << 52;  // 142 years
    if (is_exact) {
        widest()(values, jobs, now_us, count, priorities);
    } else {
        compute_singly(values, jobs, now_us, count, priorities);
    }
}

std::vector<BlockFunction> block_functions() {
    std::vector<BlockFunction> all{compute_singly, compute_narrow};
#if defined(__x86_64__)
    if (has_avx2()) {
        all.push_back(compute_avx2);
    }
    if (has_avx512()) {
        all.push_back(compute_avx512);
    }
#endif
    return all;
}

}  // namespace weir
