// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what all parts of the world stand on: time, chance, the trace for people, and the violations that checkers
// found. Must not know instances, jobs or faults.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "modules/world/agenda.hpp"
#include "modules/world/random.hpp"

namespace weir::world {

class Ground {
  public:
    /// 2026-01-01, when every world begins.
    static constexpr std::int64_t start_us = 1767225600'000000;

    explicit Ground(std::uint64_t seed, std::function<void(const std::string&)> trace = {})
        : agenda(Instant{Duration{start_us}}), random(seed), trace_(std::move(trace)) {}

    Agenda agenda;
    Random random;
    struct {
        Duration wall_ahead{};       ///< its wall clock less true time, without the drift
        Instant stepped{};           ///< when it was set last
        std::int64_t drift_ppm = 0;  ///< of the wall clock
        bool is_stock = false;       ///< the instances are a stock Flux: events bear the wall clock
    } machine;

    Instant now() const { return agenda.now(); }
    /// The machine's wall clock less true time, as of now.
    Duration wall_ahead() const {
        return machine.wall_ahead + machine.drift_ppm * (now() - Instant{Duration{start_us}}) / 1'000'000;
    }
    bool is_traced() const { return static_cast<bool>(trace_); }
    /// A line of the trace: "seconds who: what". Ask is_traced() before a text is made that costs something.
    void note(const std::string& who, const std::string& what) const {
        if (trace_) {
            trace_(line(who, what));
        }
    }
    /// A promise was broken.
    void fail(const std::string& who, const std::string& what) {
        violations_.push_back(line(who, what));
        note(who, "VIOLATION " + what);
    }
    const std::vector<std::string>& violations() const { return violations_; }
    double seconds() const { return static_cast<double>(micros(now()) - start_us) / 1e6; }

  private:
    std::string line(const std::string& who, const std::string& what) const {
        std::string time = std::to_string(seconds());
        time.insert(0, time.size() < 12 ? 12 - time.size() : 0, ' ');
        return time + " " + who + ": " + what;
    }
    std::function<void(const std::string&)> trace_;
    std::vector<std::string> violations_;
};

}  // namespace weir::world
