// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the random numbers of generated workloads: our own generator and distributions, so that a seed gives the same
// bytes with every compiler and library. xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

namespace weir {

class Prng {
  public:
    explicit Prng(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            seed += 0x9E3779B97F4A7C15ULL;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
            word = z ^ (z >> 31);
        }
    }
    std::uint64_t next() {
        const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
        const std::uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }
    /// In [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    double uniform(double from, double to) { return from + (to - from) * uniform(); }
    /// Mean 0, deviation 1 (Marsaglia's polar method).
    double normal() {
        while (true) {
            const double u = uniform(-1., 1.);
            const double v = uniform(-1., 1.);
            const double s = u * u + v * v;
            if (s > 0. && s < 1.) {
                return u * std::sqrt(-2. * std::log(s) / s);
            }
        }
    }
    /// Shape >= 1 and scale > 0, mean shape x scale (Marsaglia and Tsang 2000).
    double gamma(double shape, double scale) {
        const double d = shape - 1. / 3.;
        const double c = 1. / std::sqrt(9. * d);
        while (true) {
            const double x = normal();
            const double root = 1. + c * x;
            if (root <= 0.) {
                continue;
            }
            const double v = root * root * root;
            if (std::log(1. - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
                return d * v * scale;
            }
        }
    }

  private:
    static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace weir
