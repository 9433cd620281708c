// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see tap_questions.hpp.
#include "modules/job-priority/tap/tap_questions.hpp"

#include <jansson.h>
#include <unistd.h>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/tap/job_kind.hpp"

namespace weir::priority {

bool unpack_question(flux_plugin_arg_t* args, TapQuestion& job) {
    int state = 0;
    json_int_t id = 0;
    json_int_t priority = 0;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:i s:i s:I}", "id", &id, "urgency", &job.urgency,
                               "state", &state, "priority", &priority) < 0) {
        return false;
    }
    job.id = static_cast<std::uint64_t>(id);
    job.is_in_sched = state == FLUX_JOB_STATE_SCHED;
    job.priority = priority;
    return true;
}

std::string kind_of(flux_plugin_arg_t* args, int urgency) {
    json_int_t userid = 0;
    json_t* resources = nullptr;
    json_t* attributes = nullptr;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:{s:o s:o}}", "userid", &userid, "jobspec", "resources",
                               &resources, "attributes", &attributes) < 0) {
        return {};
    }
    Json parts = Json::object();
    parts.set("resources", Json::ref(resources)).set("attributes", Json::ref(attributes));
    const std::string text = parts.dump();
    FlatJson reader;
    return kind_of_jobspec(static_cast<std::uint32_t>(userid), urgency, reader.read(text)).value_or("");
}

bool unpack_submission(flux_plugin_arg_t* args, TapSubmission& job) {
    json_int_t userid = 0;
    const char* account = nullptr;
    const char* queue = nullptr;
    json_t* project = nullptr;
    json_t* weir = nullptr;
    json_t* qos = nullptr;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:{s?{s?{s?s s?s s?o s?o s?o}}}}", "userid", &userid,
                               "jobspec", "attributes", "system", "bank", &account, "queue", &queue, "project",
                               &project, "weir", &weir, "qos", &qos) < 0) {
        return false;
    }
    job.userid = static_cast<std::uint32_t>(userid);
    job.is_owner = job.userid == static_cast<std::uint32_t>(getuid());
    if (account != nullptr) {
        job.account = account;
    }
    if (queue != nullptr) {
        job.queue = queue;
    }
    if (json_string_length(project) != 0) {  // any other value counts as none
        job.project = json_string_value(project);
    }
    if (json_string_length(qos) != 0) {  // any other value counts as none
        job.qos = json_string_value(qos);
    }
    job.serves_queues = json_object_get(weir, "serves") != nullptr;
    job.is_from_above = job.is_owner && json_object_get(weir, "jobid") != nullptr;
    if (const json_t* user = json_object_get(weir, "userid"); job.is_from_above && json_is_integer(user)) {
        job.userid = static_cast<std::uint32_t>(json_integer_value(user));
    }
    return true;
}

}  // namespace weir::priority
