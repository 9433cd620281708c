// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events of a replay in order: submissions, starts and ends merged from outcomes, instant by instant, and the
// intervals between them in which nothing changes. Must not know what is measured.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libsched/sim/sim_job.hpp"

namespace weir {

enum class Change : std::uint8_t { submitted, started, ended };

/// The events of outcomes, which it borrows. 12 bytes a job.
class Timeline {
  public:
    /// At most 2^32 - 1 outcomes, in any order. O(n log n), O(n) for an order that is given sorted.
    explicit Timeline(std::span<const Outcome> outcomes);

    bool empty() const { return outcomes_.empty(); }
    std::size_t size() const { return outcomes_.size(); }
    const Outcome& outcome(std::uint32_t at) const { return outcomes_[at]; }
    /// The first submission. REQUIRES: not empty.
    Instant begin() const { return outcomes_[submits_.front()].job.submit; }
    Instant last_submit() const { return outcomes_[submits_.back()].job.submit; }
    /// The last end.
    Instant end() const { return outcomes_[ends_.back()].end(); }

    /// change(Change, place of the outcome) for each event, then hold(from, to) for the stretch until the next instant
    /// at which something happens; to > from, none after the last end. Within an instant submissions come first, then
    /// starts, then ends: a job of no run time starts before it ends. O(n).
    template <typename OnChange, typename Hold>
    void walk(OnChange&& change, Hold&& hold) const {
        std::size_t s = 0, r = 0, e = 0;
        while (e < ends_.size()) {
            const Instant now = next(s, r, e);
            for (; s < submits_.size() && outcomes_[submits_[s]].job.submit == now; ++s) {
                change(Change::submitted, submits_[s]);
            }
            for (; r < starts_.size() && outcomes_[starts_[r]].start == now; ++r) {
                change(Change::started, starts_[r]);
            }
            for (; e < ends_.size() && outcomes_[ends_[e]].end() == now; ++e) {
                change(Change::ended, ends_[e]);
            }
            if (e < ends_.size()) {
                hold(now, next(s, r, e));
            }
        }
    }

  private:
    Instant next(std::size_t s, std::size_t r, std::size_t e) const;

    std::span<const Outcome> outcomes_;
    std::vector<std::uint32_t> submits_, starts_, ends_;
};

}  // namespace weir
