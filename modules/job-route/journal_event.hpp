// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events of a job-manager's journal that job-route looks at, as values. Must not know JSON or Flux handles.
// Source: RFC 21 (events); job-manager.events-journal of flux-core.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::route {

/// Prologs of the plugin, by the description in their events. Both hold a job in RUN without starting it here.
inline constexpr const char* mirror_prolog = "job-route";  ///< a routed job, while a child runs it
inline constexpr const char* go_prolog = "job-route-go";   ///< a job from the parent, until it says go

/// What job-route reads of a jobspec's attributes.system.
struct JobFacts {
    std::string queue;
    std::vector<std::string> serves;  ///< weir.serves: it is a child instance
    std::uint64_t upstream = 0;       ///< weir.jobid: the parent's job that this one stands for; 0: none
    std::uint32_t upstream_userid = 0;
    std::string upstream_queue;              ///< weir.queue: that its user submitted it to
    std::string upstream_output;             ///< weir.output: the name of its output's files there, without suffix
    std::optional<Instant> upstream_submit;  ///< weir.submit: when its user submitted it there
    std::int64_t cores = 1;                  ///< that it requests, as far as its jobspec has numbers
    std::int64_t nodes = 1;                  ///< the same; 1 where it requests none
    std::int64_t whole_nodes = 0;            ///< the same, of those with all their cores
    std::int64_t slots = 1;                  ///< the same, of the slots that its memory is for
    std::uint32_t memory_per_slot_mib = 0;   ///< 0: it requests none
    Duration duration{};                     ///< 0: no limit
    std::string account;                     ///< "bank" in the jobspec; empty: it names none
    std::string qos;
    std::vector<std::string> properties;  ///< that each of its nodes must have
    bool has_own_R = false;               ///< stock Flux's alloc-bypass, which counts of the owner alone
    // weir.partition: it is an instance of a partition that this instance keeps
    std::string partition;
    std::string partition_digest;
    int partition_folder = 0;
};

struct JournalEvent {
    enum class Kind : std::uint8_t {
        submit,         ///< userid, urgency, at, and the entry's facts
        bypass,         ///< set-flags alloc-bypass
        priority,       ///< priority: enters SCHED
        urgency,        ///< urgency: leaves SCHED
        update,         ///< duration, account, queue: of the jobspec; unset where unchanged; has_project
        route,          ///< child: the job was routed to it
        alloc,          ///< child (0: not by job-route), R, cores
        start,          //
        finish,         ///< status
        exception,      ///< type, severity, note
        prolog_start,   ///< type is its description
        prolog_finish,  ///< type is its description
        clean,          //
        restart,        ///< the instance was restarted: leaves SCHED
        memo_uri,       ///< note is the URI that the job published
    };
    Kind kind = Kind::submit;
    std::uint32_t userid = 0;
    int urgency = 16;
    Instant at{};
    std::int64_t priority = 0;
    std::uint64_t child = 0;
    int status = 0;
    int severity = 0;
    std::string type;
    std::string note;
    std::string R;
    std::int64_t cores = 0;  ///< of R; 0: it has none that can be read
    std::optional<Duration> duration;
    std::optional<std::string> account;
    std::optional<std::string> queue;
    bool has_project = false;  ///< an update names one
};

}  // namespace weir::route
