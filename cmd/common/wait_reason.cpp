// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see wait_reason.hpp.
#include "cmd/common/wait_reason.hpp"

#include <algorithm>

#include "cmd/common/dependencies.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t urgency_held = 0;
/// The job-manager's words for a queue that is not stopped but has nobody to give its jobs to.
constexpr const char* scheduler_offline = "Scheduler is offline";

Json reason(const char* name, const std::string& text) {
    Json out = Json::object();
    out.set("reason", name).set("text", text);
    return out;
}

bool is_waiting(const Job& job) {
    return job.state != 0 && (job.state & FLUX_JOB_STATE_PENDING) != 0;
}

Json in_depend(const Job& job) {
    Json out = dependency_reason(job.dependencies);
    if (!out) {
        return reason("arriving", "has just arrived and is not in the queue yet");
    }
    if (job.urgency == urgency_held) {
        out.set("text", text_at(out.get(), "text") + "; it is held as well: its urgency is 0");
    }
    return out;
}

Json stopped(const Job& job, const json_t* queue) {
    const std::string why = text_at(queue, "stop_reason");
    if (why == scheduler_offline) {
        return reason("no-scheduler", "waits for a scheduler: none is loaded");
    }
    const std::string name = job.queue.empty() ? "the queue" : "its queue \"" + printable(job.queue) + "\"";
    return reason("queue-stopped",
                  "waits until " + name + " is started; it was stopped" + (why.empty() ? "" : ": " + printable(why)));
}

Json in_sched(const Job& job, const WaitFacts& facts) {
    if (job.urgency == urgency_held) {
        return reason("held", "is held: its urgency is 0; `weir nice " + job_name(job.id) + " 0` releases it");
    }
    if (const std::string limit = text_at(facts.priority.get(), "limit"); !limit.empty()) {
        return reason("limit", "is held back by a limit: " + limit);
    }
    if (json_is_false(json_object_get(facts.queue.get(), "start"))) {
        return stopped(job, facts.queue.get());
    }
    if (facts.scheduler) {
        return facts.scheduler.share();
    }
    if (const double since = number_at(facts.route.get(), "lost_since"); since > 0) {
        return reason("child-lost",
                      "waits in the child instance " +
                          job_name(static_cast<std::uint64_t>(integer_at(facts.route.get(), "child"))) +
                          ", which is lost since " + local_time(since) +
                          "; when [weir.route] lost-after is over it goes to another that serves its queue");
    }
    if (facts.served_by.empty() && facts.lost_child) {
        return reason("child-lost",
                      "waits for a child instance that serves its queue: " + job_name(facts.lost_child->jobid) +
                          " is lost since " + local_time(facts.lost_child->lost_since));
    }
    if (!facts.served_by.empty()) {
        return reason("routed", "waits in the instance that serves its queue, " + facts.served_by + "; `weir --uri " +
                                    facts.served_by + " jobs` shows what goes on there");
    }
    if (job.priority == 0) {
        return reason("held", "is held: a plugin of the job-manager gave it priority 0");
    }
    return facts.is_foreign_scheduler
               ? reason("foreign-scheduler", "waits for resources; the scheduler here does not say which")
               : reason("arriving", "is on its way to the scheduler");
}

Json not_waiting(const Job& job) {
    std::string text = "does not wait: it ";
    if (job.state == FLUX_JOB_STATE_RUN) {
        text += "has its resources";
    } else if (job.state == FLUX_JOB_STATE_CLEANUP) {
        text += "is ending";
    } else {
        const std::string end = state_text(job);
        text += (end == "canceled"  ? "was canceled"
                 : end == "timeout" ? "ran out of time"
                                    : end) +
                (job.note.empty() ? "" : ": " + printable(job.note));
    }
    return reason("not-waiting", text);
}

}  // namespace

WaitFacts ask_wait_facts(Client& client, const Job& job) {
    WaitFacts facts;
    if (!is_waiting(job)) {
        return facts;
    }
    Json id = Json::object();
    id.set("id", job.id);
    if (auto answer = client.call("job-priority.explain", id)) {
        facts.priority = std::move(*answer);
    }
    if (job.state != FLUX_JOB_STATE_SCHED) {
        return facts;
    }
    Json queue = Json::object();
    if (!job.queue.empty()) {
        queue.set("name", job.queue);
    }
    if (auto answer = client.call("job-manager.queue-status", queue)) {
        facts.queue = std::move(*answer);
    }
    if (auto answer = client.call("sched.why", id)) {
        facts.scheduler = std::move(*answer);
        return facts;
    } else {
        facts.is_foreign_scheduler = answer.error().code == std::errc::function_not_supported;
    }
    if (auto answer = client.call("job-route.locate", id)) {
        facts.route = std::move(*answer);
    }
    for (const ChildEntry& child : children_of(client)) {
        if (std::find(child.serves.begin(), child.serves.end(), job.queue) == child.serves.end()) {
            continue;
        }
        if (child.lost_since > 0) {
            facts.lost_child = child;
        } else {
            facts.served_by = child.uri;
        }
    }
    return facts;
}

Json wait_reason(const Job& job, const WaitFacts& facts) {
    switch (job.state) {
        case FLUX_JOB_STATE_NEW:
        case FLUX_JOB_STATE_DEPEND:
            return in_depend(job);
        case FLUX_JOB_STATE_PRIORITY:
            return reason("priority", facts.priority
                                          ? "waits for its first priority, which the next pass of job-priority gives"
                                          : "waits for its first priority, and job-priority does not answer");
        case FLUX_JOB_STATE_SCHED:
            return in_sched(job, facts);
        default:
            return not_waiting(job);
    }
}

std::string wait_text(const std::string& subject, const json_t* reason, bool unicode) {
    std::string text = subject + " " + text_at(reason, "text");
    if (const double start = number_at(reason, "t_estimate"); start > 0) {
        text += "; estimated start: " + local_time(start);
    } else if (const double earliest = number_at(reason, "not_before"); earliest > 0) {
        text += "; not before " + local_time(earliest);
    }
    text += ".\n";
    if (json_object_get(reason, "behind") != nullptr) {
        text += "It is number " + std::to_string(integer_at(reason, "place")) + " in the queue; " +
                job_name(static_cast<std::uint64_t>(integer_at(reason, "behind")), unicode) +
                " is the first pending job";
        const double start = number_at(reason, "behind_start");
        text += start > 0 ? ", with estimated start " + local_time(start) + ".\n" : ".\n";
    }
    return text;
}

}  // namespace weir::cmd
