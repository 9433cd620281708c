// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see wait_reason.hpp.
#include "cmd/common/wait_reason.hpp"

#include <algorithm>
#include <functional>

#include "cmd/common/dependencies.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t urgency_held = 0;
/// The job-manager's message for a queue that is not stopped but has no scheduler.
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

/// The innermost partition decides.
Json in_partition(Json out, const WaitFacts& facts) {
    const Hop& last = facts.hops.back();
    if (!last.partition.empty()) {
        out.set("partition", last.partition);
    }
    out.set("serves", last.serves).set("child", last.child).set("child_id", last.id);
    if (has_number(out.get(), "t_estimate") || has_number(out.get(), "not_before")) {
        out.set("may_start_in", may_start_in(facts.hops));
    }
    return out;
}

bool does_take(const json_t* partition) {
    return !json_is_false(json_object_get(partition, "takes"));
}

bool has_limit(const json_t* partition) {
    return json_object_get(partition, "limit") != nullptr;
}

/// "batch is drained, spare has 2 cores", if no partition that takes the job can run it, however few others wait.
std::string away_text(const std::vector<json_t*>& partitions) {
    std::string text;
    for (const json_t* partition : partitions) {
        const std::string away = text_at(partition, "away");
        if (does_take(partition) && away.empty()) {
            return "";
        }
        if (does_take(partition)) {
            text += (text.empty() ? "" : ", ") + printable(text_at(partition, "name") + " " + away);
        }
    }
    return text;
}

/// Why no partition of its queue has the job, where one serves it.
Json in_no_partition(const Job& job, const WaitFacts& facts) {
    const auto partitions = items_at(facts.route.get(), "partitions");
    if (!partitions.empty() && std::none_of(partitions.begin(), partitions.end(), does_take)) {
        return reason("not-taken", "waits for a partition that takes it: no partition of the queue \"" +
                                       printable(job.queue) + "\" does");
    }
    if (const std::string away = away_text(partitions); !away.empty()) {
        return reason("partition-away", "waits for a partition of its queue that can run it: " + away);
    }
    const bool is_limited = std::any_of(partitions.begin(), partitions.end(), has_limit) &&
                            std::all_of(partitions.begin(), partitions.end(), [](const json_t* partition) {
                                return !does_take(partition) || has_limit(partition);
                            });
    return is_limited ? reason("partition-limit", "waits until a limit of a partition of its queue allows it")
                      : reason("partition-room", "waits until a partition of its queue has room for it");
}

Json in_route(const Job& job, const WaitFacts& facts) {
    if (const double since = number_at(facts.route.get(), "lost_since"); since > 0) {
        return reason("child-lost",
                      "waits in the child instance " +
                          job_name(static_cast<std::uint64_t>(integer_at(facts.route.get(), "child"))) +
                          ", which is lost since " + local_time(since) +
                          "; when [weir.route] lost-after is over it goes to another that serves its queue");
    }
    if (facts.below) {
        return in_partition(wait_reason(facts.below->job, facts.below->facts), facts);
    }
    const bool is_on_its_way = facts.unanswered && facts.unanswered->code == std::errc::no_such_file_or_directory;
    if (!facts.hops.empty() && is_on_its_way) {
        return in_partition(reason("routed", "is on its way to its partition"), facts);
    }
    if (!facts.hops.empty()) {
        return in_partition(reason("routed", "waits in a partition that gave no answer: " +
                                                 printable(facts.unanswered ? facts.unanswered->message : "")),
                            facts);
    }
    const bool is_configured = !items_at(facts.route.get(), "partitions").empty();
    const bool is_served = json_is_true(json_object_get(facts.route.get(), "served"));
    if (const json_t* lost = json_object_get(facts.route.get(), "lost"); !is_served && lost != nullptr) {
        return reason("child-lost",
                      "waits for a child instance that serves its queue: " + job_name(id_at(lost, "child")) +
                          " is lost since " + local_time(number_at(lost, "since")));
    }
    if (is_served || is_configured) {
        return in_no_partition(job, facts);
    }
    return reason("no-partition",
                  "waits for a partition: no partition serves the queue \"" + printable(job.queue) + "\" now");
}

/// With the reasons why other partitions of its queue do not take the job, or not now: those of the instances below
/// first.
Json in_route_by_rules(const Job& job, const WaitFacts& facts) {
    Json out = in_route(job, facts);
    const auto add = [&out](const char* key, json_t* partition) {
        Json list = out.at(key) ? out.at(key) : Json::array();
        list.append(Json::ref(partition));
        out.set(key, std::move(list));
    };
    for (json_t* partition : items_at(facts.route.get(), "partitions")) {
        if (!does_take(partition)) {
            add("not_taken", partition);
        } else if (has_limit(partition)) {
            add("limited", partition);
        }
    }
    return out;
}

Json in_sched(const Job& job, const WaitFacts& facts) {
    if (job.urgency == urgency_held) {
        return reason("held", "is held: its urgency is 0; `weir nice " + job_name(job.id) + " 0` releases it");
    }
    if (const std::string refusal = text_at(facts.priority.get(), "refusal"); !refusal.empty()) {
        return reason("no-association", "is held back until somebody pays for it: " + refusal);
    }
    if (const std::string limit = text_at(facts.priority.get(), "limit"); !limit.empty()) {
        return reason("limit", "is held back by a limit: " + limit);
    }
    if (json_is_false(json_object_get(facts.queue.get(), "start"))) {
        return stopped(job, facts.queue.get());
    }
    if (facts.scheduler) {
        return facts.scheduler.deep_copy();  // more is added to the reason
    }
    if (facts.route) {
        return in_route_by_rules(job, facts);
    }
    if (facts.is_kept_for_route) {
        return reason("no-job-route", "waits until job-route is loaded: the jobs of its queue \"" +
                                          printable(job.queue) + "\" run in partitions or child instances");
    }
    if (job.priority == 0) {
        const Json pushed = facts.priority.at("pushed");
        return json_is_integer(pushed.get()) && json_integer_value(pushed.get()) == 0
                   ? reason("arriving", "is on its way to the scheduler: it was held back until a moment ago")
                   : reason("held", "is held: a plugin of the job-manager gave it priority 0");
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
        const std::string end = state_text(job), why = ending_reason(job);
        text += (end == "canceled"  ? "was canceled"
                 : end == "timeout" ? "ran out of time"
                                    : end) +
                (why.empty() ? "" : ": " + why);
    }
    return reason("not-waiting", text);
}

/// A request about the job, to the instance that has it.
using Ask = std::function<Result<Json>(const std::string& topic, const Json& payload)>;

/// Whether job-route's plugin has said that this instance's scheduler does not get the job.
bool has_alloc_bypass(const std::string& eventlog) {
    for (std::size_t begin = 0; begin < eventlog.size();) {
        const std::size_t end = std::min(eventlog.find('\n', begin), eventlog.size());
        const auto event = Json::parse(std::string_view(eventlog).substr(begin, end - begin));
        if (event && text_at(event->get(), "name") == "set-flags") {
            const auto flags = items_at(json_object_get(event->get(), "context"), "flags");
            if (std::any_of(flags.begin(), flags.end(), [](const json_t* flag) {
                    return json_is_string(flag) && std::string_view(json_string_value(flag)) == "alloc-bypass";
                })) {
                return true;
            }
        }
        begin = end + 1;
    }
    return false;
}

WaitFacts ask_instance(const Job& job, const Ask& ask) {
    WaitFacts facts;
    if (!is_waiting(job)) {
        return facts;
    }
    const auto take = [&](Json& into, const std::string& topic, const Json& payload) {
        auto answer = ask(topic, payload);
        if (answer) {
            into = std::move(*answer);
        }
        return answer ? std::errc() : answer.error().code;
    };
    Json id = Json::object();
    id.set("id", job.id);
    (void)take(facts.priority, "job-priority.explain", id);
    if (job.state != FLUX_JOB_STATE_SCHED) {
        return facts;
    }
    Json queue = Json::object();
    if (!job.queue.empty()) {
        queue.set("name", job.queue);
    }
    (void)take(facts.queue, "job-manager.queue-status", queue);
    facts.is_foreign_scheduler = take(facts.scheduler, "sched.why", id) == std::errc::function_not_supported;
    if (!facts.scheduler && take(facts.route, "job-route.locate", id) == std::errc::function_not_supported) {
        Json record;
        id.set("keys", std::move(Json::array().append("eventlog"))).set("flags", 0);
        (void)take(record, "job-info.lookup", id);
        facts.is_kept_for_route = has_alloc_bypass(text_at(record.get(), "eventlog"));
    }
    return facts;
}

/// The same questions, answered by the partition that has the job.
void ask_partition(Client& client, std::uint64_t id, WaitFacts& facts) {
    const auto told = ask_about(client, id, "job-list.list-id", job_question());
    if (!told || told->error) {
        facts.unanswered = told ? told->error : std::optional<Error>(told.error());
        facts.hops = told ? told->hops : std::vector<Hop>();
        return;
    }
    facts.hops = told->hops;
    const Job job = job_from(told->answer);
    const Ask ask = [&](const std::string& topic, const Json& payload) -> Result<Json> {
        auto answer = ask_about(client, id, topic, payload);
        if (!answer) {
            return answer.error();
        }
        return answer->error ? Result<Json>(*answer->error) : Result<Json>(std::move(answer->answer));
    };
    facts.below = std::make_shared<const WaitBelow>(WaitBelow{job, ask_instance(job, ask)});
}

}  // namespace

WaitFacts ask_wait_facts(Client& client, const Job& job) {
    WaitFacts facts = ask_instance(
        job, [&client](const std::string& topic, const Json& payload) { return client.call(topic, payload); });
    if (integer_at(facts.route.get(), "child") != 0 && number_at(facts.route.get(), "lost_since") <= 0) {
        ask_partition(client, job.id, facts);
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

namespace {

/// " in batch", where the job may start in another partition as well: what is estimated holds for this one alone.
std::string there_text(const json_t* reason) {
    const std::string name = printable(text_at(reason, "partition"));
    return items_at(reason, "may_start_in").empty() ? "" : name.empty() ? " in its partition" : " in " + name;
}

/// "; it may start earlier in chemp"
std::string elsewhere_text(const json_t* reason) {
    std::string text;
    const auto names = items_at(reason, "may_start_in");
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0                  ? "; it may start earlier in "
                 : i + 1 == names.size() ? " or "
                                         : ", ") +
                printable(json_is_string(names[i]) ? json_string_value(names[i]) : "");
    }
    return text;
}

}  // namespace

std::string wait_text(const std::string& subject, const json_t* reason, bool unicode) {
    std::string text = subject + " " + printable(text_at(reason, "text"));
    if (const double start = number_at(reason, "t_estimate"); start > 0) {
        text += "; estimated start" + there_text(reason) + ": " + local_time(start) + elsewhere_text(reason);
    } else if (const double earliest = number_at(reason, "not_before"); earliest > 0) {
        text += "; not before " + local_time(earliest) + there_text(reason) + elsewhere_text(reason);
    } else if (json_is_true(json_object_get(reason, "is_too_far_back"))) {
        text += "; it is too far back in the queue for an estimated start";
    }
    text += ".\n";
    const auto id_at = [reason](const char* key) { return static_cast<std::uint64_t>(integer_at(reason, key)); };
    if (id_at("child") != 0) {
        const std::string there = id_at("child_id") != 0 ? " as " + job_name(id_at("child_id"), unicode) : "";
        const std::string name = printable(text_at(reason, "partition"));
        text += "It is in " +
                (name.empty() ? "a partition that serves " + printable(text_at(reason, "serves"))
                              : "the partition " + name) +
                " (" + job_name(id_at("child"), unicode) + ")" + there + ".\n";
    }
    if (integer_at(reason, "place") > 1 && text_at(reason, "reason") != "held") {
        const bool is_below = json_is_true(json_object_get(reason, "is_below"));
        const bool is_told = json_object_get(reason, "behind") != nullptr;  // not in a private instance
        text += "It is number " + std::to_string(integer_at(reason, "place")) + " in the queue; " +
                (is_told ? job_name(id_at("behind"), unicode) : "another user's job") +
                (is_told && is_below ? ", submitted to the partition itself," : "") + " is the first pending job";
        const double start = number_at(reason, "behind_start");
        text += start > 0 ? ", with estimated start" + there_text(reason) + " " + local_time(start) + ".\n" : ".\n";
    }
    for (const json_t* partition : items_at(reason, "limited")) {
        text += "The partition " + printable(text_at(partition, "name")) + " " +
                printable(text_at(partition, "limit")) + ".\n";
    }
    for (const json_t* partition : items_at(reason, "not_taken")) {
        text += "The partition " + printable(text_at(partition, "name")) + " takes " +
                printable(text_at(partition, "rule")) + "; " + printable(text_at(partition, "job")) + ".\n";
    }
    return text;
}

StartWait start_wait(Client& client, const PartitionState& state) {
    if (state.job == 0 || state.state != "starting") {
        return {};
    }
    const auto job = find_job(client, state.job);
    if (!job) {
        return {};
    }
    const Json reason = wait_reason(*job, ask_wait_facts(client, *job));
    const std::string name = text_at(reason.get(), "reason");
    return {name == "not-waiting" ? "has not attached yet" : text_at(reason.get(), "text"),
            name == "nodes-down" || name == "order"};
}

}  // namespace weir::cmd
