// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the mapping from a response of job-manager.events-journal to this module's job events. The text is read in
// place: a backlog has one for each job of the instance. Must not know: handles, streams, what the events lead to.
// Source: RFC 14, 18, 20, 21, 25.
#pragma once
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/jobs/job_event.hpp"

namespace weir::priority {

/// One response of job-manager.events-journal.
struct JournalMessage {
    bool is_sentinel = false;  ///< the end of the backlog
    FluxJobId id = 0;
    std::vector<JobEvent> events;  ///< those that are used, in their order
};

/// The events that read_journal() understands, as a filter for the job-manager. Our own `priority` events are not among
/// them, so that pushing cannot feed back.
Json journal_filter();

/// Errors: EPROTO with what is missing.
Result<JournalMessage> read_journal(FlatValue message);

}  // namespace weir::priority
