// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the messages between the two sides of a route, as plain values: the child's attach and report, the parent's
// orders. Ids are always the parent's, unless a name says local. Must not know JSON (messages_json), Flux, or a clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libfairshare/base/strong_id.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::route {

/// Of a child or a job. Loads are compared as products with it.
inline constexpr std::int64_t cores_max = std::int64_t{1} << 30;
inline constexpr std::int64_t own_jobs_max = std::int64_t{1} << 40;  ///< of a child: jobs that are its own
inline constexpr std::size_t report_events_max = 256;                ///< a child says the rest in its next report

/// A job of the parent (a routed job, or the job that is a child instance).
using JobId = StrongId<struct ParentJobTag, std::uint64_t>;
/// A job of the child.
using LocalId = StrongId<struct LocalJobTag, std::uint64_t>;

/// One event of a routed job in its child. Each kind happens at most once a job, in this order, except `exception`,
/// which may come at any time and after which only `cleaned` follows, and the last two, which come in turns before
/// `allocated`.
struct ChildEvent {
    enum class Kind : std::uint8_t {
        accepted,   ///< the child has it under `local`, and its scheduler knows it
        returned,   ///< the child returned it unstarted: the parent may route it to another child
        allocated,  ///< `R` is set; it waits for the order `go`
        started,
        finished,   ///< `status` is set (wait status)
        exception,  ///< `type`, `note` are set; a `severity` other than 0 says nothing
        cleaned,    ///< inactive in the child
        held_back,  ///< by a limit of the child's own: it waits for no cores there
        admitted,   ///< no longer held back
        published,  ///< `note` is the URI that the job, an instance, published
    };
    static constexpr std::size_t kinds = 10;
    std::uint64_t seq = 0;  ///< counts from 1 in each session
    JobId id;
    Kind kind = Kind::accepted;
    LocalId local;
    std::string R;  ///< JSON text, in the child's numbers
    int status = 0;
    std::string type;
    int severity = 0;
    std::string note;
    friend bool operator==(const ChildEvent&, const ChildEvent&) = default;
};

/// A job that a child still knows.
struct KnownJob {
    JobId id;
    bool has_ended = false;  ///< no longer active in the child; its end will be reported
    int urgency = 16;
    bool is_unwanted = false;  ///< the parent cancelled it, and it did not start
    friend bool operator==(const KnownJob&, const KnownJob&) = default;
};

/// A child says which jobs it has and which queues it serves.
struct Attach {
    JobId child;          ///< the parent's job that is the child instance
    std::string session;  ///< unique for each attempt; a report quotes it
    std::vector<std::string> serves;
    std::vector<KnownJob> known;
    std::string resources;  ///< the child's whole R, JSON text; may be empty
    std::int64_t cores = 0;
    std::int64_t node_cores = 0;  ///< of its largest node, as the parent reads `resources`; 0: they do not say
    std::string uri;              ///< its URI for users; may be empty
    std::int64_t own_jobs = 0;    ///< active jobs that did not come from the parent
    std::int64_t own_cores = 0;   ///< that these hold, and that are free on drained nodes
    bool takes_signals = false;   ///< it knows the order `signal`; one that does not would end its session
    bool takes_drains = false;    ///< the same of drained nodes
};

/// What of an attach says whether its sender may attach that child.
struct AttachHead {
    JobId child;
    std::size_t serves = 0;  ///< how many queues
    std::size_t known = 0;   ///< how many jobs
};

struct Report {
    JobId child;
    std::string session;
    std::vector<ChildEvent> events;  ///< consecutive seq
    std::int64_t own_jobs = 0;       ///< active jobs that did not come from the parent
    std::int64_t own_cores = 0;      ///< that these hold, and that are free on drained nodes
};

/// The same of a report.
struct ReportHead {
    JobId child;
    std::string session;
    std::size_t events = 0;  ///< how many
};

/// An order of the parent to a child.
struct Order {
    enum class Kind : std::uint8_t {
        submit,    ///< `jobspec`, `urgency`, `userid`, `queue`, `output`, `priority`, `submit` are set
        cancel,    ///< `type`, `note` are set
        urgency,   ///< `urgency` is set
        go,        ///< its allocation is on record here: it may start
        priority,  ///< `priority` is set: the job's place among those that wait
        complete,  ///< about no job: every job of the child was sent after its attach
        signal,    ///< `signum` is set: for the processes that run now
    };
    Kind kind = Kind::submit;
    JobId id;
    std::string jobspec;  ///< JSON text
    int urgency = 16;
    std::uint32_t userid = 0;
    std::string queue;          ///< that the user submitted the job to, at whatever level; empty: none
    std::string output;         ///< the name of its output's files at that level, without suffix; empty: none
    std::int64_t priority = 0;  ///< as the parent's job-manager has it; 0: none
    Instant submit{};           ///< when the user submitted the job, at whatever level; 0: unknown
    std::string type;
    std::string note;
    int signum = 0;
    friend bool operator==(const Order&, const Order&) = default;
};

}  // namespace weir::route
