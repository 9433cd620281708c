// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of job queues.
// Must not know: jobs' states, flux_t. RFC 33.
#include "broker/services/job-manager/tables/queues.hpp"

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir::broker::jobs {
namespace {

Error bad(const std::string& key, const std::string& what) {
    return Error{std::errc::invalid_argument, key + ": " + what};
}

Result<std::optional<double>> duration_at(const json_t* table, const std::string& path) {
    const json_t* value = read_path(table, "policy.jobspec.defaults.system.duration");
    if (!value) {
        return std::optional<double>();
    }
    if (json_is_number(value)) {
        return std::optional<double>(json_number_value(value));
    }
    auto seconds = parse_fsd_seconds(json_string_value(value) ? json_string_value(value) : "");
    if (!seconds) {
        return bad(path + "policy.jobspec.defaults.system.duration", seconds.error().message);
    }
    return std::optional<double>(*seconds);
}

Result<Queue> read_queue(const std::string& name, const json_t* table) {
    Queue queue;
    if (!json_is_object(table)) {
        return bad("queues." + name, "must be a table");
    }
    if (const json_t* needs = json_object_get(table, "requires")) {
        for (std::size_t i = 0; i < json_array_size(needs); ++i) {
            if (const char* property = json_string_value(json_array_get(needs, i))) {
                queue.needs.emplace_back(property);
            }
        }
        if (queue.needs.size() != json_array_size(needs) || !json_is_array(needs)) {
            return bad("queues." + name + ".requires", "must be a list of strings");
        }
    }
    auto duration = duration_at(table, "queues." + name + ".");
    if (!duration) {
        return duration.error();
    }
    queue.default_duration = *duration;
    auto limits = read_limits(table, "queues." + name + ".");
    if (!limits) {
        return limits.error();
    }
    queue.limits = *limits;
    return queue;
}

Json constraint_for(const std::vector<std::string>& needs) {
    Json properties = Json::array();
    for (const std::string& property : needs) {
        properties.append(property);
    }
    Json constraint = Json::object();
    constraint.set("properties", std::move(properties));
    return constraint;
}

/// Adds what the queue needs to the constraints.
void add_needs(json_t* system, const Queue& queue) {
    if (queue.needs.empty()) {
        return;
    }
    Json constraint = constraint_for(queue.needs);
    if (json_t* given = json_object_get(system, "constraints"); json_object_size(given) > 0) {
        Json both = Json::array();
        both.append(Json::ref(given));
        both.append(std::move(constraint));
        constraint = Json::object();
        constraint.set("and", std::move(both));
    }
    json_object_set_new(system, "constraints", constraint.release());
}

/// Takes out of the constraints what add_needs() added. False if it is not there.
bool take_needs(json_t* system, const std::vector<std::string>& needs) {
    if (needs.empty()) {
        return true;
    }
    const json_t* constraints = json_object_get(system, "constraints");
    const Json added = constraint_for(needs);
    if (json_equal(constraints, added.get())) {
        json_object_set_new(system, "constraints", json_object());
        return true;
    }
    const json_t* both = json_object_get(constraints, "and");
    if (json_object_size(constraints) != 1 || json_array_size(both) != 2 ||
        !json_equal(json_array_get(both, 1), added.get())) {
        return false;
    }
    json_object_set(system, "constraints", json_array_get(both, 0));
    return true;
}

}  // namespace

Status Queues::configure(const json_t* config) {
    std::map<std::string, Queue> fresh;
    const json_t* tables = json_object_get(config, "queues");
    if (tables && !json_is_object(tables)) {
        return bad("queues", "must be a table of tables");
    }
    const char* name;
    json_t* table;
    json_object_foreach(const_cast<json_t*>(tables), name, table) {
        auto queue = read_queue(name, table);
        if (!queue) {
            return queue.error();
        }
        if (const auto old = named_.find(name); old != named_.end()) {
            queue->is_enabled = old->second.is_enabled;
            queue->is_started = old->second.is_started;
            queue->disable_reason = old->second.disable_reason;
            queue->stop_reason = old->second.stop_reason;
            queue->is_started_again = old->second.is_started_again;
            queue->kept_stop_reason = old->second.kept_stop_reason;
        }
        fresh.emplace(name, std::move(*queue));
    }
    auto duration = duration_at(config, "");
    if (!duration) {
        return duration.error();
    }
    auto limits = read_limits(config, "");
    if (!limits) {
        return limits.error();
    }
    const std::string chosen(read_string(read_path(config, "policy.jobspec.defaults.system"), "queue").value_or(""));
    if (!chosen.empty() && fresh.find(chosen) == fresh.end()) {
        return bad("policy.jobspec.defaults.system.queue", "'" + chosen + "' is not one of [queues]");
    }
    named_ = std::move(fresh);
    default_queue_ = chosen;
    default_duration_ = *duration;
    limits_ = *limits;
    return Done{};
}

std::vector<std::string> Queues::names() const {
    std::vector<std::string> names;
    for (const auto& [name, queue] : named_) {
        names.push_back(name);
    }
    return names;
}

Result<Queue*> Queues::find(const std::string& name) {
    if (name.empty() && named_.empty()) {
        return &anonymous_;
    }
    if (const auto at = named_.find(name); at != named_.end()) {
        return &at->second;
    }
    std::string list;
    for (const std::string& known : names()) {
        list += (list.empty() ? "" : ", ") + known;
    }
    if (name.empty()) {
        return Error{std::errc::invalid_argument, "a named queue is required (" + list + ")"};
    }
    std::string message = "'" + name + "' is not a valid queue";
    if (const std::string near = nearest_name(name, names()); !near.empty()) {
        message += "; did you mean '" + near + "'?";
    } else {
        message += named_.empty() ? "; this instance has no queues" : "; the queues are " + list;
    }
    return Error{std::errc::invalid_argument, message};
}

bool Queues::is_started(const std::string& name) const {
    if (named_.empty()) {
        return anonymous_.is_started;
    }
    const auto at = named_.find(name);
    return at == named_.end() || at->second.is_started;
}

std::vector<Queue*> Queues::select(const std::string& name) {
    std::vector<Queue*> chosen;
    if (named_.empty()) {
        chosen.push_back(&anonymous_);
    }
    for (auto& [known, queue] : named_) {
        if (name.empty() || known == name) {
            chosen.push_back(&queue);
        }
    }
    return chosen;
}

Status Queues::enable(const std::string& name, bool on, const std::string& reason) {
    if (auto found = name.empty() ? Result<Queue*>(nullptr) : find(name); !found) {
        return found.error();
    }
    for (Queue* queue : select(name)) {
        queue->is_enabled = on;
        queue->disable_reason = on ? "" : reason;
    }
    return Done{};
}

Status Queues::start(const std::string& name, bool on, const std::string& reason, bool is_kept) {
    if (auto found = name.empty() ? Result<Queue*>(nullptr) : find(name); !found) {
        return found.error();
    }
    for (Queue* queue : select(name)) {
        queue->is_started = on;
        queue->stop_reason = on ? "" : reason;
        if (is_kept) {
            queue->is_started_again = on;
            queue->kept_stop_reason = queue->stop_reason;
        }
    }
    return Done{};
}

std::vector<std::pair<std::string, const Queue*>> Queues::all() const {
    std::vector<std::pair<std::string, const Queue*>> list;
    if (named_.empty()) {
        list.emplace_back("", &anonymous_);
    }
    for (const auto& [name, queue] : named_) {
        list.emplace_back(name, &queue);
    }
    return list;
}

Json Queues::closed() const {
    Json closed = Json::object();
    for (const auto& [name, queue] : all()) {
        Json how = Json::object();
        if (!queue->is_enabled) {
            how.set("disabled", queue->disable_reason);
        }
        if (!queue->is_started_again) {
            how.set("stopped", queue->kept_stop_reason);
        }
        if (json_object_size(how.get()) != 0) {
            closed.set(name.c_str(), std::move(how));
        }
    }
    return closed;
}

void Queues::close(const json_t* closed) {
    for (const auto& [name, known] : all()) {
        const json_t* how = json_object_get(closed, name.c_str());
        if (const auto reason = read_string(how, "disabled")) {
            (void)enable(name, false, std::string(*reason));
        }
        if (const auto reason = read_string(how, "stopped")) {
            (void)start(name, false, std::string(*reason));
        }
    }
}

Status Queues::prepare(json_t* jobspec) {
    json_t* system = read_path(jobspec, "attributes.system");
    std::string name(read_string(system, "queue").value_or(""));
    if (name.empty() && !default_queue_.empty()) {
        name = default_queue_;
        json_object_set_new(system, "queue", json_string(name.c_str()));
    }
    auto queue = find(name);
    if (!queue) {
        return queue.error();
    }
    if (!(*queue)->is_enabled) {
        return Error{std::errc::invalid_argument, "job submission" + (name.empty() ? name : " to " + name) +
                                                      " is disabled: " + (*queue)->disable_reason};
    }
    const auto duration = (*queue)->default_duration ? (*queue)->default_duration : default_duration_;
    if (duration && read_number(system, "duration").value_or(0) == 0) {
        json_object_set_new(system, "duration", json_real(*duration));
    }
    add_needs(system, **queue);
    return Done{};
}

Status Queues::move(json_t* jobspec, const std::string& from) {
    json_t* system = read_path(jobspec, "attributes.system");
    const std::string to(read_string(system, "queue").value_or(""));
    auto queue = find(to);
    if (!queue) {
        return queue.error();
    }
    if (!(*queue)->is_enabled) {  // the words of a stock Flux
        return Error{std::errc::invalid_argument, "queue " + to + " is currently disabled"};
    }
    const auto left = named_.find(from);
    const bool was_removed = left == named_.end() && !from.empty();  // nobody knows what it needed
    const bool is_taken = was_removed ? json_object_size(json_object_get(system, "constraints")) == 0
                                      : left == named_.end() || take_needs(system, left->second.needs);
    if (!is_taken) {
        return Error{std::errc::invalid_argument, "the job has constraints that are not those of its queue '" + from +
                                                      "': submit it anew to queue '" + to + "'"};
    }
    add_needs(system, **queue);
    return Done{};
}

Status Queues::check_limits(const JobspecFacts& facts, std::string_view jobspec) const {
    const auto at = named_.find(facts.queue);
    const PolicyLimits limits = at != named_.end() ? limits_of_queue(limits_, at->second.limits) : limits_;
    if (limits.is_of_size()) {
        if (auto kept = check_size(limits, jobspec_size(jobspec), facts.queue); !kept) {
            return kept;
        }
    }
    return check_duration(limits, facts.duration, facts.queue);
}

Json Queues::status(const Queue& queue, bool is_scheduler_ready) const {
    Json out = Json::object();
    out.set("enable", queue.is_enabled);
    out.set("start", queue.is_started && is_scheduler_ready);
    if (!queue.is_enabled) {
        out.set("disable_reason", queue.disable_reason);
    }
    if (!is_scheduler_ready) {
        if (queue.is_started) {
            out.set("blocked", "scheduler");
        }
        out.set("stop_reason", "Scheduler is offline");
    } else if (!queue.is_started && !queue.stop_reason.empty()) {
        out.set("stop_reason", queue.stop_reason);
    }
    return out;
}

}  // namespace weir::broker::jobs
