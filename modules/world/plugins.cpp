// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the plugin of job-route. See plugins.hpp.
#include "modules/world/plugins.hpp"

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "modules/job-route/journal_event.hpp"
#include "modules/world/manager.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using jm::Job;
using jm::State;

namespace {

json_t* system_at(const Job& job, Json& jobspec) {
    jobspec = jm::jobspec_tree(job);
    return read_path(jobspec.get(), "attributes.system");
}

bool has_event(const Job& job, std::string_view name) {
    std::string_view lines = job.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        if (jm::name_of_line(lines.substr(0, end)) == name) {
            return true;
        }
        lines.remove_prefix(end + 1);
    }
    return job.is_queued_event(name);
}

}  // namespace

bool RouteTap::is_routed(const Job& job) const {
    if (queues_.count(job.facts.queue) == 0) {
        return false;
    }
    Json jobspec;
    json_t* system = system_at(job, jobspec);
    return json_object_get(system, "alloc-bypass") == nullptr &&
           json_object_get(json_object_get(system, "weir"), "serves") == nullptr;
}

bool RouteTap::is_from_parent(const Job& job) const {
    if (!is_child_ || job.userid != owner) {
        return false;
    }
    Json jobspec;
    return json_object_get(json_object_get(system_at(job, jobspec), "weir"), "jobid") != nullptr;
}

bool RouteTap::has_mark(std::uint64_t id, Mark mark) const {
    const auto found = marks_.find(id);
    return found != marks_.end() && found->second == mark;
}

void RouteTap::start_prolog(Job& job, const char* description) {
    (void)manager_.post(job, "prolog-start", std::move(Json::object().set("description", description)));
}

void RouteTap::finish_prolog(Job& job, const char* description) {
    (void)manager_.post(job, "prolog-finish",
                        std::move(Json::object().set("description", description).set("status", 0)));
}

void RouteTap::return_from_child(Job& job) {
    grants_.erase(job.id);
    (void)manager_.post(job, "weir.route", std::move(Json::object().set("child", 0)));
}

void RouteTap::on_new(Job& job) {
    const int before_sched = jm::bit(State::created) | jm::bit(State::depend) | jm::bit(State::priority);
    if (jm::is_in(job.state, before_sched) && is_routed(job)) {
        Json context = Json::object();
        context.set("flags", std::move(Json::array().append("alloc-bypass")));
        (void)manager_.post(job, "set-flags", std::move(context));
    } else if (job.state == State::run) {
        hold_again(job);
    }
}

void RouteTap::hold_again(Job& job) {
    if (has_event(job, "prolog-start") || has_event(job, "start")) {
        return;
    }
    if (has_event(job, "weir.route")) {
        start_prolog(job, route::mirror_prolog);
    } else if (is_from_parent(job)) {
        marks_[job.id] = Mark::held;
        start_prolog(job, route::go_prolog);
    }
}

void RouteTap::on_sched(Job& job) {
    const auto grant = grants_.find(job.id);
    if (grant == grants_.end()) {
        return;
    }
    if (job.priority == 0) {
        return_from_child(job);
        return;
    }
    marks_[job.id] = Mark::granted;
    if (!job.r->text.empty()) {
        manager_.ground().fail(manager_.process().name, "job " + std::to_string(job.id) + " gets an R a second time");
        return;
    }
    job.r = jm::allocation_of(std::move(grant->second.R));
    Json context = Json::object();
    context.set("annotations", std::move(grant->second.annotations)).set("bypass", true);
    grants_.erase(grant);
    (void)manager_.post(job, "alloc", std::move(context));
}

void RouteTap::on_run(Job& job) {
    if (has_mark(job.id, Mark::granted)) {
        start_prolog(job, route::mirror_prolog);
    } else if (is_from_parent(job)) {
        marks_[job.id] = Mark::held;
        start_prolog(job, route::go_prolog);
    }
}

void RouteTap::on_cleanup(Job& job) {
    if (has_mark(job.id, Mark::held)) {
        go(job);
    }
    grants_.erase(job.id);
}

void RouteTap::on_inactive(const Job& job) {
    grants_.erase(job.id);
    marks_.erase(job.id);
}

bool RouteTap::give(Job& job, const Json& entry) {
    if (job.state != State::sched && job.state != State::priority) {
        return false;
    }
    grants_.erase(job.id);
    Json context = Json::object();
    context.set("child", *entry.integer_at("child")).set("queue", *entry.string_at("queue"));
    return manager_.post(job, "weir.route", std::move(context)).has_value();
}

bool RouteTap::alloc(Job& job, const Json& entry) {
    if (job.state != State::sched && job.state != State::priority) {
        return false;
    }
    if (job.state == State::sched && job.priority == 0) {
        return_from_child(job);
        return true;
    }
    grants_.insert_or_assign(job.id, Grant{entry.at("R"), entry.at("annotations")});
    if (job.state == State::sched) {
        Json context = Json::object();
        context.set("userid", owner).set("urgency", job.urgency);
        (void)manager_.post(job, "urgency", std::move(context));
    }
    return true;
}

bool RouteTap::clean(Job& job) {
    if (job.state == State::run) {
        (void)manager_.raise_in(job, "child-lost", 0, "the child ended it without a result");
    } else if (job.state != State::cleanup) {
        return false;
    }
    if (has_mark(job.id, Mark::released)) {
        return true;
    }
    marks_[job.id] = Mark::released;
    (void)manager_.post(job, "release", std::move(Json::object().set("ranks", "all").set("final", true)));
    finish_prolog(job, route::mirror_prolog);
    return true;
}

void RouteTap::go(Job& job) {
    if (!has_mark(job.id, Mark::released)) {
        marks_[job.id] = Mark::released;
        finish_prolog(job, route::go_prolog);
    }
}

bool RouteTap::apply(const Json& entry) {
    Job* found = manager_.jobs_.active(static_cast<jm::JobId>(*entry.integer_at("id")));
    if (found == nullptr) {
        return false;
    }
    Job& job = *found;
    const std::string op = *entry.string_at("op");
    if (op == "give") {
        return give(job, entry);
    }
    if (op == "alloc") {
        return alloc(job, entry);
    }
    if (op == "start") {
        if (job.state == State::run) {
            (void)manager_.post(job, "start");
        }
    } else if (op == "finish") {
        (void)manager_.post(job, "finish", std::move(Json::object().set("status", *entry.integer_at("status"))));
    } else if (op == "exception") {
        (void)manager_.raise_in(job, *entry.string_at("type"), static_cast<int>(*entry.integer_at("severity")),
                                entry.string_at("note").value_or(""));
    } else if (op == "clean") {
        return clean(job);
    } else if (op == "go") {
        go(job);
    }
    return true;
}

}  // namespace weir::world
