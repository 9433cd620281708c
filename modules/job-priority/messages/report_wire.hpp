// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text of a child's report (job-priority.report). A record costs some 30 bytes, so that a parent of many
// children spends its time on charges, not on text. Must not know: requests, which children are believed.
//
//     {jobid, seq, since, records: [START or [id, t], ...]}
//     START: [id, t, user, account, cores, inside?, queue?, project?, rate?, gpus?, prepaid?, committed?, qos?]
//
// A record of two values is an end. `since` and `t` are microseconds: since the Unix epoch, and since `since`. The
// record's user, account, queue, project and qos are each a text or, where the message has that text before, the number
// of it: texts count from 0 in the order in which they stand. `rate` is in billing_unit parts of a core, without it the
// job costs its cores; `prepaid` and `committed` are microseconds (see Bill).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/sends/uplink_queue.hpp"

namespace weir::priority {

/// The longest report that is read. 500 records with the longest names that are written have half of it.
inline constexpr std::size_t report_bytes_max = std::size_t{2} << 20;

/// O(size log names).
std::string write_report(FluxJobId child, const UplinkBatch& batch);

/// The child of a report, and the number of records that it seems to have: enough to queue the request.
struct ReportHead {
    FluxJobId child = 0;
    std::size_t records = 0;
};
/// Errors: EPROTO with what is right.
Result<ReportHead> read_report_head(FlatValue message);
/// At most UplinkQueue::batch_max records, all or none. Errors: EPROTO with the record and what is right.
Result<UplinkBatch> read_report(FlatValue message);

}  // namespace weir::priority
