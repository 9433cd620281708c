// SPDX-License-Identifier: LGPL-3.0-only
// Owns: our own jobs' starts and ends. See job_charges.hpp.
#include "modules/job-priority/charges/job_charges.hpp"

#include <string>

#include "libsched/config/usage_settings.hpp"
#include "modules/job-priority/jobs/job_cost.hpp"

namespace weir::priority {
namespace {

/// \param has_history  the site counts by the wall time asked for
UplinkRow start_record(const BookJob& job, const std::string& user, const RunningJob& running, bool has_history) {
    UplinkRow record{.is_start = true,
                     .job = job.id,
                     .user = user,
                     .account = job.request->account,
                     .cores = running.cores,
                     .time = running.start,
                     .bill = running.bill};
    record.bill.queue = job.request->queue_above;
    record.bill.qos = user.empty() ? std::string() : job.request->qos;
    record.bill.committed = has_history ? running.bill.committed : Duration{};
    return record;
}

}  // namespace

bool JobCharges::apply(const AppliedEvent& applied) {
    if (!applied.is_active()) {
        return false;
    }
    const JobEvent& event = applied.event;
    follow_broker(*applied.job, event);
    if (applied.change == BookChange::started) {
        if (applied.is_live) {
            waits_.add(event.time - applied.job->submit);
        }
        return start(*applied.job, event);
    }
    if (applied.change != BookChange::ended || !end(*applied.job, event.time)) {
        return false;
    }
    rebuilt_ += applied.is_live ? 0 : 1;
    return true;
}

/// False, without effect, if the child instance that runs the job reports its usage. REQUIRES: the event is an alloc.
bool JobCharges::start(const BookJob& job, const JobEvent& event) {
    const auto& alloc = std::get<AllocEvent>(event.what);
    if (alloc.is_charged_elsewhere) {
        return false;
    }
    const std::uint32_t userid = job.charged_userid();
    const bool is_idle = job.request->is_instance && book_.is_partition(job);
    if (!is_idle && users_.is_in_doubt(userid)) {
        paid_in_doubt_.insert(job.id);
    }
    const JobRun run{job.id, job.submit_stamp, event.stamp()};
    const Bill bill = bill_of(settings_, *job.request, alloc);
    if (accounting_.start(run, is_idle ? idle : job.payer, alloc.cores, event.time, bill)) {
        const std::string user = is_idle ? std::string() : users_.name(userid);
        uplink_.record(start_record(job, user, *accounting_.find(job.id), goes_by_history(settings_)));
    }
    return true;
}

/// False, without effect, if it is not being charged.
bool JobCharges::end(const BookJob& job, Instant at) {
    paid_in_doubt_.erase(job.id);
    const RunningJob* running = accounting_.find(job.id);
    if (running == nullptr) {
        return false;
    }
    uplink_.record({false, job.id, users_.name(job.charged_userid()), job.request->account, running->cores, at});
    accounting_.end(job.id, at);
    return true;
}

void JobCharges::follow_broker(const BookJob& job, const JobEvent& event) {
    if (!std::holds_alternative<DownEvent>(event.what) && !std::holds_alternative<UpEvent>(event.what)) {
        return;
    }
    const RunningJob* running = accounting_.find(job.id);
    if (running == nullptr) {
        return;
    }
    if (const auto* down = std::get_if<DownEvent>(&event.what)) {
        if (accounting_.skip(job.id, event.time, event.time + down->length)) {
            uplink_.record(
                {false, job.id, users_.name(job.charged_userid()), job.request->account, running->cores, event.time});
            resumed_.insert(job.id);
        }
    } else if (std::holds_alternative<UpEvent>(event.what) && resumed_.erase(job.id) != 0) {
        const std::string user = running->payer == idle ? std::string() : users_.name(job.charged_userid());
        uplink_.record(start_record(job, user, *running, goes_by_history(settings_)));
    }
}

bool JobCharges::is_past(const JobRun& run, Instant freed) const {
    // The load threshold counts the cores in use, whoever paid for them.
    return settings_.policy != PolicyKind::load_threshold && accounting_.is_charged(run, freed);
}

void JobCharges::end_all(const std::vector<FluxJobId>& ids, Instant last_seen) {
    for (const FluxJobId id : ids) {
        uplink_.record({false, id, {}, {}, 0, last_seen});
        accounting_.end(id, last_seen);
    }
    vanished_ += ids.size();
}

std::vector<FluxJobId> JobCharges::end_vanished(const std::map<FluxJobId, JobRun>& runs, Instant last_seen) {
    std::vector<FluxJobId> vanished = accounting_.vanished(runs);
    end_all(vanished, last_seen);
    return vanished;
}

void JobCharges::end_unheld(Instant last_seen) {
    std::vector<FluxJobId> unheld = accounting_.running_ids();
    std::erase_if(unheld, [this](FluxJobId id) {
        const BookJob* job = book_.find(id);
        return job != nullptr && job->has_resources;
    });
    end_all(unheld, last_seen);
}

void JobCharges::settle_doubts(const std::function<NodeId(const BookJob&)>& resolve) {
    for (auto id = paid_in_doubt_.begin(); id != paid_in_doubt_.end();) {
        const BookJob* job = book_.find(*id);
        const RunningJob* running = accounting_.find(*id);
        if (job != nullptr && running != nullptr) {
            const NodeId payer = resolve(*job);
            if (users_.is_in_doubt(job->charged_userid())) {
                ++id;
                continue;
            }
            accounting_.move_payer(*id, payer, running->start);
        }
        id = paid_in_doubt_.erase(id);
    }
}

}  // namespace weir::priority
