// SPDX-License-Identifier: LGPL-3.0-only
// Owns: folding journal events into job records. Timestamps become whole microseconds, as they were posted.
#include "cmd/demo/records.hpp"

#include <algorithm>

#include "cmd/common/reader.hpp"
#include "libfairshare/base/json/r.hpp"
#include "libsched/json/jobspec.hpp"

namespace weir::cmd {
namespace {

void take_jobspec(json_t* document, JournalJob& job) {
    const json_t* system = json_object_get(json_object_get(document, "attributes"), "system");
    job.account = text_at(system, "bank");
    job.queue = text_at(system, "queue");
    job.requested = duration_from_seconds(number_at(system, "duration"));
    job.upstream = static_cast<std::uint64_t>(integer_at(json_object_get(system, "weir"), "jobid"));
}

void take_event(const json_t* event, JournalJob& job) {
    const std::string name = text_at(event, "name");
    const Instant at = instant_from_seconds(number_at(event, "timestamp"));
    const json_t* context = json_object_get(event, "context");
    if (name == "submit") {
        job.submit = at;
        job.userid = static_cast<std::uint32_t>(integer_at(context, "userid"));
    } else if (name == "priority") {
        job.priorities.push_back({at, integer_at(context, "priority")});
    } else if (name == "weir.route") {
        job.hand_downs.push_back(at);
    } else if (name == "clean") {
        job.clean = at;
    } else if (name == "alloc") {
        job.alloc = job.free = at;
    } else if (name == "start") {
        job.has_started = true;
    } else if (name == "free") {
        job.free = at;
    } else if (name == "finish" && job.result.empty()) {
        job.result = integer_at(context, "status") == 0 ? "completed" : "failed";
    } else if (name == "exception" && integer_at(context, "severity") == 0) {
        job.result = text_at(context, "type");
    }
}

}  // namespace

bool Journal::take(json_t* answer) {
    const std::int64_t id = integer_at(answer, "id", -1);
    if (id == -1) {
        return false;
    }
    JournalJob& job = jobs_[static_cast<std::uint64_t>(id)];
    if (json_t* jobspec = json_object_get(answer, "jobspec")) {
        take_jobspec(jobspec, job);
    }
    if (json_t* document = json_object_get(answer, "R")) {
        const auto r = decode_r(document);
        job.cores = r ? static_cast<std::int64_t>(core_count(r->resources)) : 0;
    }
    for (const json_t* event : items_at(answer, "events")) {
        take_event(event, job);
    }
    return true;
}

Result<Journal> read_journal(const std::string& uri) {
    auto client = Client::open(uri);  // a connection of its own: closing it ends the stream
    if (!client) {
        return client.error();
    }
    Journal journal;
    Json payload = Json::object();
    payload.set("full", true);
    const auto done =
        client->stream("job-manager.events-journal", payload, [&](json_t* answer) { return journal.take(answer); });
    return done ? Result<Journal>(std::move(journal)) : Result<Journal>(done.error());
}

std::vector<JobRecord> join(const Journal& parent, const std::map<std::string, Journal>& children,
                            const std::map<std::uint32_t, std::string>& names) {
    std::map<std::uint64_t, JobRecord> records;
    for (const auto& [id, job] : parent.jobs()) {
        const auto name = names.find(job.userid);
        if (name == names.end()) {
            continue;  // the owner's own: the child instances
        }
        JobRecord& record = records[id];
        record.id = id;
        record.user = name->second;
        record.account = job.account;
        record.queue = job.queue;
        record.result = job.result;
        record.submit = job.submit;
        record.recorded = job.alloc;
        record.priorities = job.priorities;
        record.moves = job.hand_downs;
        record.requested = job.requested;
    }
    for (const auto& [partition, journal] : children) {
        for (const auto& [id, job] : journal.jobs()) {
            const auto record = records.find(job.upstream);
            if (record == records.end()) {
                continue;
            }
            if (!job.has_started) {  // the parent gave the cores to a job of higher priority before this one started
                record->second.recalled_core_us += job.cores * (job.free - job.alloc).count();
                record->second.moves.push_back(job.clean);
                continue;
            }
            // A job that ran in two places would count twice in the ledger: keep the second as a record of its own.
            JobRecord& into = record->second.has_run() ? records[id] : record->second;
            if (&into != &record->second) {
                into = record->second;
                into.recalled_core_us = 0;
                into.result = "ran twice";
            }
            into.child_id = id;
            into.partition = partition;
            into.cores = job.cores;
            into.alloc = job.alloc;
            into.free = job.free;
        }
    }
    std::vector<JobRecord> list;
    for (auto& [id, record] : records) {
        std::sort(record.moves.begin(), record.moves.end());
        list.push_back(std::move(record));
    }
    return list;
}

}  // namespace weir::cmd
