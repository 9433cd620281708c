// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the responses of the stream of job events, as schedulers of priorities and routes read it. Must not know: who
// listens, flux_t. RFC 18 (entries).
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// The end of the backlog: live events follow.
inline constexpr std::string_view end_of_backlog = R"({"id":-1,"events":[]})";

/// A live event of this name: its line of the eventlog, with the jobspec if it is the first, with R if it brings it.
/// The events come last, so that a later event of the job can be inserted before the last `live_event_tail` bytes.
std::string live_event_text(const Job& job, std::string_view name, std::string_view line);
inline constexpr std::size_t live_event_tail = 2;

/// Whether the response of an event of this name has more than the event.
bool brings_more(std::string_view name);

/// What is inserted for a later event of the same job, which must not bring more.
std::string later_event_text(std::string_view line);

/// A response with several jobs, for a listener that asked for it, which has `job` only so far: a text of
/// live_event_text(). Another one, with a comma before it, can be inserted before the last `together_tail` bytes.
std::string together_text(std::string_view job);
inline constexpr std::size_t together_tail = 2;

/// All events of a job whose line of the eventlog `takes` accepts (none given: all), with jobspec and R. O(eventlog).
std::string backlog_text(const Job& job, const std::function<bool(std::string_view line)>& takes = {});

}  // namespace weir::broker::jobs
