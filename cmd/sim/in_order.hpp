// SPDX-License-Identifier: LGPL-3.0-only
// Owns: outcomes in the log's order, made from outcomes in the order of starts. Must not know where they go.
#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "libsched/sim/sim_job.hpp"

namespace weir::cmd {

/// Holds jobs that started after the oldest pending job: its memory grows with the longest wait, not with the log.
class InOrder {
  public:
    using Sink = std::function<Status(const Outcome&)>;
    explicit InOrder(Sink sink) : sink_(std::move(sink)) {}

    /// Amortised O(1). Error: the sink's.
    Status add(const Outcome& outcome) {
        const auto i = static_cast<std::size_t>(outcome.place - first_);
        if (i >= held_.size()) {
            held_.resize(i + 1);
        }
        held_[i] = outcome;
        while (!held_.empty() && held_.front()) {
            if (auto done = pop(); !done) {
                return done;
            }
        }
        return Done{};
    }
    /// Passes on the jobs that are still held, without those that never started.
    Status finish() {
        while (!held_.empty()) {
            if (auto done = pop(); !done) {
                return done;
            }
        }
        return Done{};
    }

  private:
    Status pop() {
        const std::optional<Outcome> outcome = held_.front();
        held_.pop_front();
        ++first_;
        return outcome ? sink_(*outcome) : Status(Done{});
    }

    Sink sink_;
    std::deque<std::optional<Outcome>> held_;
    std::uint64_t first_ = 0;  ///< place of held_.front()
};

}  // namespace weir::cmd
