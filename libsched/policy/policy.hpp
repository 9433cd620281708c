// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the policies: FCFS and EASY as values whose pass decides what starts, given the queue in order, the space and
// the instant. A pass is a function of those three alone and changes nothing but the space it is given; what it decides
// goes to a sink. Must not know modules, clocks or how space is kept. Source: Lifka 1995; Mu'alem and Feitelson 2001.
#pragma once
#include <optional>
#include <string_view>
#include <variant>

#include "libsched/job.hpp"

namespace weir {

/// Why the first job that waits does not start, and when it is believed to.
struct Blocked {
    /// The shadow time; none: the policy makes no reservation, or nothing that runs is believed to end.
    std::optional<Instant> estimate;
};

// A Space keeps what is free and what is believed to end. Both spaces, CountSpace (cores are a number) and
// ResourceSpace (cores of nodes), have
//   Taken                                         what a start takes
//   std::optional<Taken> start(const PendingJob&, Instant now)     takes it now if it fits
//   std::optional<Instant> reserve(const PendingJob&, Instant now) keeps the earliest place for a job that does not fit
//   std::optional<Taken> backfill(const PendingJob&, Instant now)  start, unless it would delay the reservation
//   bool full() const                             nothing at all is free
// A Sink has started(const PendingJob&, Taken) and blocked(const PendingJob&, Blocked).
// A Queue has walk(visit) in order, as SortedChunks.

/// Starts from the head while it fits; stops at the first that does not.
struct Fcfs {
    static constexpr std::string_view name = "fcfs";

    template <typename Queue, typename Space, typename Sink>
    void pass(const Queue& queue, Space& space, Instant now, Sink&& sink) const {
        queue.walk([&](const PendingJob& job) {
            if (job.key.priority == priority_held) {
                return false;
            }
            if (auto taken = space.start(job, now)) {
                sink.started(job, std::move(*taken));
                return true;
            }
            sink.blocked(job, Blocked{});
            return false;
        });
    }
};

/// As FCFS; then the blocked head gets a reservation at its shadow time, and the others start in queue order when they
/// fit now and either end by then (believed; equality allowed) or take only what the head leaves over then. The
/// reservation is made anew at every pass.
struct Easy {
    static constexpr std::string_view name = "easy";

    template <typename Queue, typename Space, typename Sink>
    void pass(const Queue& queue, Space& space, Instant now, Sink&& sink) const {
        bool head_waits = false;
        queue.walk([&](const PendingJob& job) {
            if (job.key.priority == priority_held) {
                return false;
            }
            auto taken = head_waits ? space.backfill(job, now) : space.start(job, now);
            if (taken) {
                sink.started(job, std::move(*taken));
            } else if (!head_waits) {
                head_waits = true;
                sink.blocked(job, Blocked{space.reserve(job, now)});
            }
            return !(head_waits && space.full());
        });
    }
};

using Policy = std::variant<Fcfs, Easy>;

inline std::string_view name_of(const Policy& policy) {
    return std::visit([](const auto& p) { return p.name; }, policy);
}
/// "fcfs" or "easy"; nothing for other names.
inline std::optional<Policy> policy_named(std::string_view name) {
    if (name == Fcfs::name) {
        return Fcfs{};
    }
    if (name == Easy::name) {
        return Easy{};
    }
    return std::nullopt;
}

}  // namespace weir
