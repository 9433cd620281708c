// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job events that change a priority or a charge, as plain values.
// Must not know: JSON, the journal's protocol, how it is followed. Source: RFC 18 (entries), RFC 21 (events).
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "libfairshare/base/time.hpp"

namespace weir::priority {

/// A job id as the wire and the state file have it (RFC 19 FLUID).
using FluxJobId = std::uint64_t;

/// The parts of the request that matter for priorities (RFC 14, 25, 31). Empty text: not given.
struct JobRequest {
    std::string account;  ///< attributes.system.bank
    std::string queue;
    std::string qos;
    std::string serves;  ///< of an instance: the queue whose jobs it runs; empty: none, or several
    std::int64_t cores = 1;
    std::optional<std::uint32_t> routed_for;  ///< attributes.system.weir.userid: the user behind a routed job
    std::int64_t nodes = 1;                   ///< 1 if the job names none: the number is known when it starts
    Duration wall_time = Duration::max();     ///< attributes.system.duration; max: none
    /// Amounts of other requested resources: "gpus", "memory" (GiB), types of the jobspec by their names there.
    std::map<std::string, double> amounts{};
    bool is_instance = false;  ///< attributes.system.weir.serves: it runs the jobs of some queues
    std::string project{};     ///< attributes.system.project
    /// attributes.system.weir.queue: of a routed job the queue above that its user submitted it to; empty: none
    std::string queue_above{};
    std::int64_t spread = 0;       ///< if it names no nodes: its slots, each of which may get a node of its own
    std::int64_t whole_nodes = 0;  ///< nodes that it requests with all their cores
    /// attributes.system.weir.default_bank is the account: it was filled in for a job that named none
    bool is_account_filled_in = false;

    /// Whether the submitter chose the account.
    bool names_account() const { return !account.empty() && !is_account_filled_in; }
    /// Its queue in reports.
    const std::string& named_queue() const { return queue_above.empty() ? queue : queue_above; }
    friend bool operator==(const JobRequest&, const JobRequest&) = default;
    /// Any total order: amounts are finite numbers.
    friend auto operator<=>(const JobRequest&, const JobRequest&) = default;
};

struct SubmitEvent {
    std::uint32_t userid = 0;
    int urgency = 16;
    JobRequest request;
    FluxJobId copy_of = 0;  ///< attributes.system.weir.jobid: the parent's job of which this is the copy; 0: none
    std::optional<Instant> submit_above{};  ///< attributes.system.weir.submit: when that was submitted
};
/// The job's dependencies are met: from here it waits for resources.
struct DependEvent {};
struct UrgencyEvent {
    int urgency = 16;
};
/// attributes.system.* changed after submission; an empty optional is "unchanged".
struct UpdateEvent {
    std::optional<std::string> account;
    std::optional<std::string> queue;
    std::optional<std::string> qos;
    std::optional<Duration> wall_time{};
    std::optional<std::string> project{};
    std::optional<std::string> filled_in{};  ///< attributes.system.weir.default_bank
};
/// Resources are held from here; `charged_elsewhere` when a child instance runs the job and reports its usage.
struct AllocEvent {
    std::int64_t cores = 0;
    bool is_charged_elsewhere = false;
    std::int64_t nodes = 1;
};
struct FreeEvent {};
/// From here on the broker was down, for `length`, and the job held resources without a process: nobody pays for that
/// time.
struct DownEvent {
    Duration length{};
};
/// The broker is back.
struct UpEvent {};
/// The job is inactive.
struct CleanEvent {};

struct JobEvent {
    FluxJobId id = 0;
    Instant time;
    std::variant<SubmitEvent, DependEvent, UrgencyEvent, UpdateEvent, AllocEvent, FreeEvent, DownEvent, UpEvent,
                 CleanEvent>
        what;
    Duration moved{};  ///< timestamp in the eventlog less `time`: the steps of the wall clock between the two

    Instant stamp() const { return time + moved; }
};

}  // namespace weir::priority
