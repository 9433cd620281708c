// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when a job fulfils the dependencies on it. Must not know: other schemes, requests.
#include "broker/services/job-manager/dependencies/after.hpp"

#include <utility>

namespace weir::broker::jobs {

std::string_view AfterDependencies::words_of(Kind kind) {
    static constexpr std::string_view words[] = {"after-start", "after-success", "after-failure", "after-finish",
                                                 "after-except"};
    return words[static_cast<int>(kind)];
}

bool AfterDependencies::is_scheme(std::string_view scheme) {
    return scheme == "after" || scheme == "afterstart" || scheme == "afterok" || scheme == "afternotok" ||
           scheme == "afterany" || scheme == "afterexcept";
}

/// For a job that has ended. One that never had resources fulfils only afterany.
bool AfterDependencies::is_fulfilled(Kind kind, const Job& target) {
    const bool is_completed = target.result() == JobResult::completed;
    switch (kind) {
        case Kind::any:
            return true;
        case Kind::start:
            return target.was_started;
        case Kind::ok:
            return target.has_run() && is_completed;
        case Kind::not_ok:
            return target.has_run() && !is_completed;
        case Kind::except:
            return target.has_run() && read_string(target.end_event.get(), "name").value_or("") == "exception";
    }
    return false;
}

Status AfterDependencies::refuse_ended(std::string_view scheme, const std::string& value, Kind kind,
                                       const Job& target) const {
    if (is_fulfilled(kind, target)) {
        return Done{};
    }
    if (!target.has_run() || kind == Kind::start) {
        return refused_dependency("dependency: after: " + value + " never started");
    }
    const char* why = kind == Kind::ok       ? " failed or was canceled"
                      : kind == Kind::not_ok ? " succeeded"
                                             : ": no exception";
    return refused_dependency("dependency: " + std::string(scheme) + ": job " + value + why);
}

Status AfterDependencies::add(Job& job, std::string_view scheme, const std::string& value) {
    const Kind kind = scheme == "afterok"       ? Kind::ok
                      : scheme == "afternotok"  ? Kind::not_ok
                      : scheme == "afterany"    ? Kind::any
                      : scheme == "afterexcept" ? Kind::except
                                                : Kind::start;
    const std::string place = "dependency: " + std::string(scheme) + ": ";
    flux_jobid_t id = 0;
    if (flux_job_id_parse(value.c_str(), &id) < 0) {
        return refused_dependency(place + "\"" + value + "\" is not a valid jobid");
    }
    const Job* target = engine_.jobs().find(id);
    if (target == nullptr || target == &job) {
        return refused_dependency(place + "id " + value + ": job not found");
    }
    if (target->userid != job.userid) {
        return refused_dependency(std::string(scheme) + ": Permission denied for job " + value);
    }
    const bool is_over = target->state == State::inactive;
    if (auto possible = is_over ? refuse_ended(scheme, value, kind, *target) : Status(Done{}); !possible) {
        return possible;
    }
    if (scheme == "after" && job.state == State::created) {
        (void)engine_.raise(
            job, {"dependency", 3, "dependency scheme 'after' is deprecated, use 'afterstart'", engine_.owner()});
    }
    const Waiting waiting{job.id, kind, std::string(words_of(kind)) + "=" + value};
    if (job.dependencies->count(waiting.description) == 0) {  // else it is known from before a restart
        Json context = Json::object();
        context.set("description", waiting.description);
        if (auto done = engine_.post(job, "dependency-add", std::move(context)); !done) {
            return done;
        }
    }
    if (is_over || (kind == Kind::start && target->was_started)) {
        release(waiting);
    } else {
        waiting_[id].push_back(waiting);
    }
    return Done{};
}

void AfterDependencies::release(const Waiting& waiting) {
    Job* job = engine_.jobs().active(waiting.id);
    if (job == nullptr || job->dependencies->count(waiting.description) == 0) {
        return;  // it ended before
    }
    Json context = Json::object();
    context.set("description", waiting.description);
    (void)engine_.post(*job, "dependency-remove", std::move(context));
}

void AfterDependencies::on_start(const Job& job) {
    const auto at = waiting_.find(job.id);
    if (at == waiting_.end()) {
        return;
    }
    std::vector<Waiting> left;
    for (Waiting& waiting : std::exchange(at->second, {})) {
        if (waiting.kind == Kind::start) {
            release(waiting);
        } else {
            left.push_back(std::move(waiting));
        }
    }
    waiting_[job.id] = std::move(left);
}

void AfterDependencies::on_inactive(const Job& job) {
    const auto at = waiting_.find(job.id);
    if (at == waiting_.end()) {
        return;
    }
    const std::vector<Waiting> all = std::move(at->second);
    waiting_.erase(at);
    for (const Waiting& waiting : all) {
        Job* other = engine_.jobs().active(waiting.id);
        if (is_fulfilled(waiting.kind, job)) {
            release(waiting);
        } else if (other != nullptr && other->state == State::depend) {
            const char* why = job.has_run() ? " can never be satisfied" : " job never started";
            hopeless_.push_back({waiting.id, "dependency " + waiting.description + why});
        }
    }
    if (!is_raising_) {
        raise_hopeless();
    }
}

/// An exception makes the job inactive, and on_inactive() adds those that wait for it: a loop, since a user may make
/// the chain as long as he likes.
void AfterDependencies::raise_hopeless() {
    is_raising_ = true;
    for (; !hopeless_.empty(); hopeless_.pop_front()) {
        const Hopeless& next = hopeless_.front();
        if (Job* job = engine_.jobs().active(next.id); job != nullptr && job->state == State::depend) {
            (void)engine_.raise(*job, {"dependency", 0, next.note, engine_.owner()});
        }
    }
    is_raising_ = false;
}

}  // namespace weir::broker::jobs
