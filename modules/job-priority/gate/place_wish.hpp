// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a child instance says to its parent about a job that is to be counted against the limits, and the answer.
// Must not know: JSON, links, how a limit is counted.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// A job of the child as it is now.
struct PlaceWish {
    enum class State : std::uint8_t {
        gone,     ///< it needs no place any more
        parked,   ///< it is not ready to start, and cannot start: it has no place
        waits,    ///< it is ready, and cannot start: it has no place
        holds,    ///< it has a place, or had one and may still be starting
        running,  ///< `job` has what it got
    };
    std::uint64_t id = 0;  ///< the child's name of the job
    State state = State::gone;
    /// The number of the last answer about the job that the child has followed, on this link. It gives a place back by
    /// `parked` or `waits` with the number of the answer that granted or withdrew it.
    std::uint64_t seen = 0;
    bool is_new = false;  ///< the limits of a submission are to be checked
    PlaceRow job{};
    std::uint64_t priority = 0;  ///< greater comes first; of `waits` alone
    friend bool operator==(const PlaceWish&, const PlaceWish&) = default;
};

/// The jobs about which there is something new. After an attach all jobs come; `is_complete` comes with the last.
struct PlaceWishes {
    static constexpr std::size_t batch_max = 1'000;
    std::uint64_t link = 0;  ///< the number that the parent gave this link
    bool is_complete = false;
    std::vector<PlaceWish> jobs;
    bool is_empty() const { return jobs.empty() && !is_complete; }
};

struct PlaceAnswer {
    enum class What : std::uint8_t {
        waits,    ///< it has no place, or has it no more
        granted,  ///< it may start
        refused,  ///< it must not be here
    };
    std::uint64_t id = 0;
    std::uint64_t number = 0;  ///< grows when a place is granted or withdrawn
    What what = What::waits;
    std::string text{};  ///< why it waits or is refused; empty: nothing but the child's own reasons
    friend bool operator==(const PlaceAnswer&, const PlaceAnswer&) = default;
};

}  // namespace weir::priority
