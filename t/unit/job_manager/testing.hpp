// SPDX-License-Identifier: LGPL-3.0-only
// Owns: builders that read like the scenario, for the job-manager's tests.
#pragma once
#include <string>
#include <vector>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "broker/services/job-manager/state/transition.hpp"

namespace weir::broker::jobs::testing {

inline Json json(const std::string& text) {
    auto value = Json::parse(text);
    WEIR_CHECK(value.has_value());
    return std::move(value).value();
}

inline std::string jobspec_text(const std::string& system = "\"duration\":60") {
    return R"({"resources":[{"type":"slot","count":2,"label":"task","with":[{"type":"core","count":3}]}],)"
           R"("tasks":[{"command":["/bin/hostname","-s"],"slot":"task","count":{"per_slot":1}}],)"
           R"("attributes":{"system":{)" +
           system + R"(}},"version":1})";
}

inline void set_jobspec(Job& job, EnvironmentPool& pool, const std::string& text) {
    job.jobspec = json(text);
    job.jobspec_text = redact(job.jobspec, pool);
    job.facts = jobspec_facts(job.jobspec_text.redacted);
}

/// Applies events to a job the way the manager does: a microsecond apart, each in the eventlog.
struct Life {
    Job job;
    EnvironmentPool pool;
    std::int64_t now_us = 1700000000000000;

    explicit Life(JobId id = 1) {
        job.id = id;
        set_jobspec(job, pool, jobspec_text());
    }
    Status post(const std::string& name, const std::string& context = "") {
        const Event event{++now_us, name, context.empty() ? Json() : json(context)};
        auto done = transition(job, event);
        if (done) {
            job.eventlog += encode(event) + "\n";
        }
        return done;
    }
    Life& to_sched(int urgency = 16, int priority = 100) {
        (void)post("submit", "{\"userid\":7,\"urgency\":" + std::to_string(urgency) + ",\"flags\":0,\"version\":1}");
        (void)post("validate");
        (void)post("depend");
        (void)post("priority", "{\"priority\":" + std::to_string(priority) + "}");
        return *this;
    }
    Life& to_run() {
        to_sched();
        (void)post("alloc");
        (void)post("start");
        return *this;
    }
    Life& to_inactive(int status = 0) {
        to_run();
        (void)post("finish", "{\"status\":" + std::to_string(status) + "}");
        (void)post("release", R"({"ranks":"all","final":true})");
        (void)post("free");
        (void)post("clean");
        return *this;
    }
};

}  // namespace weir::broker::jobs::testing
