// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the choice of the scheme, and begin-time. Must not know: requests.
#include "broker/services/job-manager/dependencies/dependencies.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace weir::broker::jobs {
namespace {

constexpr std::string_view begin_prefix = "begin-time=";

}  // namespace

Dependencies::Dependencies(Engine& engine)
    : engine_(engine),
      after_(engine),
      singleton_(engine),
      begin_times_(engine.handle(), [this](JobId id) { begin(id); }) {}

bool Dependencies::is_scheme(std::string_view scheme) {
    return scheme == "singleton" || scheme == "begin-time" || AfterDependencies::is_scheme(scheme);
}

Status Dependencies::add(Job& job, const json_t* entry) {
    const std::string scheme(read_string(entry, "scheme").value_or(""));
    const auto value = read_string(entry, "value");
    if (scheme == "singleton") {
        return singleton_.add(job);
    }
    if (!value) {
        return refused_dependency("dependency: " + scheme + ": value must be a string");
    }
    return scheme == "begin-time" ? add_begin_time(job, std::string(*value))
                                  : after_.add(job, scheme, std::string(*value));
}

Status Dependencies::add_begin_time(Job& job, const std::string& value) {
    char* end = nullptr;
    const double time = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0' || !std::isfinite(time) || time < 0 || time > 1e12) {
        return refused_dependency("Invalid begin-time=" + value);
    }
    char description[64];
    std::snprintf(description, sizeof description, "begin-time=%.3f", time);
    if (job.dependencies->count(description) == 0) {
        for (const std::string& other : *job.dependencies) {
            if (other.starts_with(begin_prefix)) {
                return refused_dependency("a job has one begin-time at most");
            }
        }
        Json context = Json::object();
        context.set("description", description);
        if (auto done = engine_.post(job, "dependency-add", std::move(context)); !done) {
            return done;
        }
    }
    begin_times_.set(job.id, time);
    return Done{};
}

void Dependencies::begin(JobId id) {
    Job* job = engine_.jobs().active(id);
    if (job == nullptr) {
        return;
    }
    const std::set<std::string> all = *job->dependencies;
    for (const std::string& description : all) {
        if (description.starts_with(begin_prefix)) {
            Json context = Json::object();
            context.set("description", description);
            (void)engine_.post(*job, "dependency-remove", std::move(context));
        }
    }
}

void Dependencies::on_rejected(const Job& job) {
    begin_times_.clear(job.id);
    singleton_.on_rejected(job);
}

void Dependencies::on_inactive(const Job& job) {
    begin_times_.clear(job.id);
    singleton_.on_inactive(job);
    after_.on_inactive(job);
}

}  // namespace weir::broker::jobs
