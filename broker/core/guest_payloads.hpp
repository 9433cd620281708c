// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how long the payload of a guest's request may be, by method. A payload of a few MB takes a good part of a
// second to parse, in the thread that serves everybody. Must not know messages or modules. Source: ADR 0188.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace weir::broker {

/// No honest guest sends more to a method that guest_payloads does not name.
inline constexpr std::size_t guest_payload_bytes_max = 64u << 10;
/// Of what has one jobspec or one constraint.
inline constexpr std::size_t guest_document_bytes_max = 256u << 10;
/// Bounded by the size of a guest's message alone.
inline constexpr std::size_t whole_message = static_cast<std::size_t>(-1);

struct GuestPayload {
    std::string_view topic;
    std::size_t bytes_max;
};

/// The methods of modules to which an honest guest sends more.
inline constexpr std::array<GuestPayload, 11> guest_payloads{{
    {"job-ingest.submit", guest_document_bytes_max},  // a signed jobspec, with the environment
    {"feasibility.check", guest_document_bytes_max},  // the same jobspec
    {"job-list.list", guest_document_bytes_max},      // a constraint with names of hosts
    {"job-priority.attach", whole_message},           // the ids of the jobs that host the instance's jobs
    {"job-priority.places", whole_message},           // the ids of all pending jobs that a command shows
    {"job-priority.report", whole_message},           // records of jobs
    {"job-priority.share-figures", whole_message},    // 5000 paths of nodes
    {"job-priority.share-rows", whole_message},       // the paths that a view has opened or shut
    {"job-route.answer", whole_message},              // 2 MiB of another instance's answer
    {"job-route.attach", whole_message},              // R, and the jobs that the child knows
    {"job-route.report", whole_message},              // events, with the R of jobs
}};

/// The most bytes of a guest's request to this method of a module.
constexpr std::size_t guest_payload_max(std::string_view topic) {
    for (const GuestPayload& one : guest_payloads) {
        if (one.topic == topic) {
            return one.bytes_max;
        }
    }
    return guest_payload_bytes_max;
}

}  // namespace weir::broker
