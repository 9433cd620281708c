// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the queue, the policies and the priority engine know of a job: its id, its request, its place.
// Must not know jobspec, R or any wire format. RFC 19 (ids), RFC 30 (urgency), RFC 14 (slots).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "libfairshare/base/strong_id.hpp"
#include "libfairshare/base/time.hpp"

namespace weir {

/// A Flux job id (RFC 19 FLUID) or, in a simulation, the place in the log. Unique among the jobs of an instance.
using JobId = StrongId<struct JobIdTag, std::uint64_t>;

inline constexpr std::uint32_t priority_held = 0;                 ///< urgency 0: never starts
inline constexpr std::uint32_t priority_min = 1;                  ///< least value of a job that may start
inline constexpr std::uint32_t priority_max = 0xFFFFFFFEU;        ///< greatest value that is not "expedited"
inline constexpr std::uint32_t priority_expedited = 0xFFFFFFFFU;  ///< urgency 31: before all others

/// Later than every other instant: what does not come.
inline constexpr Instant never = Instant::max();

/// The longest time limit that the policies know, a thousand years, which is that of a job without a limit. Such jobs
/// are believed to end in the order in which they started, as jobs of any common limit do. So a reservation that waits
/// for one of them leaves over a definite number of cores, and jobs that start beside it cannot pass it again and
/// again.
inline constexpr Duration limit_max = std::chrono::hours(24 * 365 * 1000);

/// A believed instant as users are told it; none where it depends on the end of a job without a limit.
constexpr std::optional<Instant> expected(Instant at) {
    return at < Instant{limit_max} ? std::optional(at) : std::nullopt;
}

/// The request of a job: `slots` slots of `cores_per_slot` cores. With nodes == 0 they may be anywhere; else there are
/// `slots` slots on each of `nodes` nodes. RFC 25.
struct Request {
    std::uint32_t nodes = 0;           ///< 0: any number of nodes
    std::uint32_t slots = 1;           ///< in all when nodes == 0, else on each node; >= 1
    std::uint32_t cores_per_slot = 1;  ///< >= 1
    bool exclusive = false;            ///< whole nodes (with nodes > 0): all resources of each are allocated
    std::uint32_t gpus_per_slot = 0;
    std::uint32_t memory_per_slot_mib = 0;  ///< 0: none is reserved
    std::uint32_t node_set = 0;             ///< the suitable nodes: see NodeSets; 0: any
    friend auto operator<=>(const Request&, const Request&) = default;
};

/// Cores requested in total; for exclusive nodes the least that the job can get.
constexpr std::uint64_t cores_of(const Request& request) {
    return std::uint64_t{request.nodes == 0 ? 1U : request.nodes} * request.slots * request.cores_per_slot;
}

/// The place in the queue: priority first (high before low), then submission, then id. Total: ids are unique.
struct QueueKey {
    Instant submit{};
    JobId id;
    std::uint32_t priority =
        priority_min;  ///< last, and in no aggregate, so that a member after a key may use its padding

    constexpr QueueKey() = default;
    constexpr QueueKey(std::uint32_t a_priority, Instant a_submit, JobId a_id)
        : submit(a_submit), id(a_id), priority(a_priority) {}
    friend bool operator==(const QueueKey&, const QueueKey&) = default;
    friend constexpr std::strong_ordering operator<=>(const QueueKey& a, const QueueKey& b) {
        if (const auto order = b.priority <=> a.priority; std::is_neq(order)) {
            return order;
        }
        if (const auto order = a.submit.time_since_epoch().count() <=> b.submit.time_since_epoch().count();
            std::is_neq(order)) {
            return order;
        }
        return a.id <=> b.id;
    }
    /// The same, in the form that sorting and searching are fastest with.
    friend constexpr bool operator<(const QueueKey& a, const QueueKey& b) {
        if (a.priority != b.priority) {
            return a.priority > b.priority;
        }
        return a.submit != b.submit ? a.submit < b.submit : a.id < b.id;
    }
};

/// A pending job: its place, its request and its time limit.
struct PendingJob {
    [[no_unique_address]] QueueKey key;
    Request request;
    Duration limit = limit_max;  ///< requested time; limit_max: none given
};

constexpr std::uint64_t cores_of(const PendingJob& job) {
    return cores_of(job.request);
}

/// The believed end of a job that starts now. A limit above limit_max is limit_max. `never` where it would overflow.
constexpr Instant believed_end(Instant now, Duration limit) {
    limit = std::min(limit, limit_max);
    return limit >= never - now ? never : now + limit;
}

}  // namespace weir
