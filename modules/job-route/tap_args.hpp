// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the plugin reads of a callback's arguments and of other jobs. Must not know what it does then. Source:
// flux-jobtap-plugins(7).
#pragma once
#include <flux/core.h>
#include <flux/jobtap.h>
#include <jansson.h>

#include <cerrno>
#include <set>
#include <string>

#include "modules/common/flux_cpp.hpp"

namespace weir::route {

/// What the plugin looks at of a new job.
struct NewJob {
    int state = 0;
    json_int_t userid = -1;
    const char* queue = nullptr;
    json_t* bypass = nullptr;
    json_t* weir = nullptr;
};

/// The embedded job-manager reads a jobspec only for a plugin that asks for it, so later callbacks do not.
inline NewJob unpack_new(flux_plugin_arg_t* args) {
    NewJob job;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:i s:I s:{s?{s?{s?s s?o s?o}}}}", "state", &job.state,
                               "userid", &job.userid, "jobspec", "attributes", "system", "queue", &job.queue,
                               "alloc-bypass", &job.bypass, "weir", &job.weir) < 0) {
        throw flux::Failure(EPROTO, flux_plugin_arg_strerror(args));
    }
    return job;
}

inline flux_jobid_t id_of(flux_plugin_arg_t* args) {
    json_int_t id = 0;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I}", "id", &id) < 0) {
        throw flux::Failure(EPROTO, flux_plugin_arg_strerror(args));
    }
    return static_cast<flux_jobid_t>(id);
}

inline json_int_t priority_of(flux_plugin_arg_t* args) {
    json_int_t priority = 0;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I}", "priority", &priority) < 0) {
        throw flux::Failure(EPROTO, flux_plugin_arg_strerror(args));
    }
    return priority;
}

/// The queue that a waiting job shall have.
inline const char* queue_update_of(flux_plugin_arg_t* args) {
    const char* queue = nullptr;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:s}", "value", &queue) < 0) {
        throw flux::Failure(EINVAL, "the name of a queue must be a string");
    }
    return queue;
}

/// What the job-manager knows of another job than the callback's.
class JobLookup {
  public:
    JobLookup(flux_plugin_t* p, flux_jobid_t id) : args_(flux_jobtap_job_lookup(p, id)) {
        if (args_ == nullptr) {
            flux::fail_errno("job lookup");
        }
    }
    ~JobLookup() { flux_plugin_arg_destroy(args_); }
    JobLookup(const JobLookup&) = delete;
    JobLookup& operator=(const JobLookup&) = delete;

    template <typename... Values>
    bool unpack(const char* format, Values... values) {
        return flux_plugin_arg_unpack(args_, FLUX_PLUGIN_ARG_IN, format, values...) == 0;
    }

  private:
    flux_plugin_arg_t* args_;
};

struct Standing {
    int state = 0;
    int urgency = 0;
    json_int_t priority = -1;
};
/// Of an active job; Failure ENOENT for any other.
inline Standing standing_of(flux_plugin_t* p, flux_jobid_t id) {
    Standing now;
    const bool is_known = JobLookup(p, id).unpack("{s:i s:i s:I}", "state", &now.state, "urgency", &now.urgency,
                                                  "priority", &now.priority);
    if (!is_known || now.state == FLUX_JOB_STATE_INACTIVE) {
        throw flux::Failure(ENOENT, "the job is inactive");
    }
    return now;
}

inline json_int_t userid_of(flux_plugin_t* p, flux_jobid_t id) {
    json_int_t userid = -1;
    if (!JobLookup(p, id).unpack("{s:I}", "userid", &userid)) {
        throw flux::Failure(EPROTO, "a job without userid");
    }
    return userid;
}

inline std::set<std::string> names_of(json_t* array, const char* where) {
    std::set<std::string> names;
    std::size_t index = 0;
    json_t* value = nullptr;
    if (array != nullptr && !json_is_array(array)) {
        throw flux::Failure(EINVAL, std::string(where) + " must be an array of queue names");
    }
    json_array_foreach(array, index, value) {
        if (!json_is_string(value)) {
            throw flux::Failure(EINVAL, std::string(where) + " must be an array of queue names");
        }
        names.insert(json_string_value(value));
    }
    return names;
}

}  // namespace weir::route
