// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the state machine of RFC 21.
// Must not know: flux_t, plugins, queues, files.
// Table of handlers by event name: each reads its context first and changes the job last.
#include "broker/services/job-manager/state/transition.hpp"

#include <unordered_map>

#include "broker/services/job-manager/codecs/jobspec.hpp"

namespace weir::broker::jobs {
namespace {

Error bad(const Event& event, const std::string& what) {
    return Error{std::errc::protocol_error, event.name + ": " + what};
}

void enter(Job& job, State state, std::int64_t t_us) {
    job.state = state;
    job.states_mask |= bit(state);
    std::int64_t& first = job.t_state_us[state_index(state)];
    if (first == 0) {
        first = t_us;
    }
}

/// SCHED returns to PRIORITY whenever the inputs of the priority changed.
void reconsider(Job& job, std::int64_t t_us) {
    if (job.state == State::sched) {
        enter(job, State::priority, t_us);
    }
}

void end_with(Job& job, const Event& event) {
    if (!job.end_event) {
        job.end_event = entry_json(event);
    }
    enter(job, State::cleanup, event.t_us);
}

Status on_submit(Job& job, const Event& event) {
    const auto userid = read_integer(event.context.get(), "userid");
    const auto urgency = read_integer(event.context.get(), "urgency");
    const auto flags = read_integer(event.context.get(), "flags");
    if (job.state != State::created || job.t_submit_us() != 0) {
        return bad(event, "must be the first event of a job");
    }
    if (!userid || !urgency || !flags) {
        return bad(event, "context needs userid, urgency and flags (integers)");
    }
    job.userid = static_cast<std::uint32_t>(*userid);
    job.urgency = static_cast<int>(*urgency);
    job.flags = static_cast<int>(*flags);
    job.t_state_us[0] = event.t_us;
    return Done{};
}

Status on_validate(Job& job, const Event& event) {
    if (job.state == State::created) {
        enter(job, State::depend, event.t_us);
    }
    return Done{};
}

Status on_invalidate(Job& job, const Event&) {
    job.is_readonly = true;
    return Done{};
}

Status on_dependency(Job& job, const Event& event) {
    const auto description = read_string(event.context.get(), "description");
    if (!description) {
        return bad(event, "context needs description (string)");
    }
    if (!is_in(job.state, bit(State::created) | bit(State::depend))) {
        return Done{};
    }
    if (event.name == "dependency-add") {
        job.dependencies.make().emplace(*description);
    } else if (job.dependencies.make().erase(std::string(*description)) == 0) {
        return bad(event, "the job has no dependency \"" + std::string(*description) + "\"");
    }
    return Done{};
}

Status on_depend(Job& job, const Event& event) {
    if (job.state == State::depend) {
        enter(job, State::priority, event.t_us);
    }
    return Done{};
}

Status on_priority(Job& job, const Event& event) {
    const auto priority = read_integer(event.context.get(), "priority");
    if (!priority) {
        return bad(event, "context needs priority (integer)");
    }
    if (is_in(job.state, bit(State::priority) | bit(State::sched))) {
        job.priority = *priority;
    }
    if (job.state == State::priority) {
        enter(job, State::sched, event.t_us);
    }
    return Done{};
}

Status on_urgency(Job& job, const Event& event) {
    const auto urgency = read_integer(event.context.get(), "urgency");
    if (!urgency || *urgency < urgency_hold || *urgency > urgency_expedite) {
        return bad(event, "context needs urgency (integer, 0 to 31)");
    }
    job.urgency = static_cast<int>(*urgency);
    reconsider(job, event.t_us);
    return Done{};
}

Status on_exception(Job& job, const Event& event) {
    const auto severity = read_integer(event.context.get(), "severity");
    const auto type = read_string(event.context.get(), "type");
    if (!severity || !type) {
        return bad(event, "context needs severity (integer) and type (string)");
    }
    if (job.state == State::created && *severity == 0) {
        return bad(event, "a job in state NEW cannot have a fatal exception");
    }
    if (is_in(job.state, bit(State::created) | bit(State::inactive))) {
        return Done{};
    }
    if (!job.had_exception || *severity < job.exception->severity) {
        job.had_exception = true;
        job.exception = {static_cast<int>(*severity), std::string(*type),
                         std::string(read_string(event.context.get(), "note").value_or(""))};
    }
    if (*severity == 0) {
        if (*type == exception_unclaimed) {
            job.has_resources = false;
        }
        end_with(job, event);
    }
    return Done{};
}

Status on_alloc(Job& job, const Event& event) {
    job.has_resources = true;
    if (job.state == State::sched) {
        enter(job, State::run, event.t_us);
    }
    return Done{};
}

Status on_start(Job& job, const Event& event) {
    job.was_started = true;
    job.t_start_us = event.t_us;
    return Done{};
}

Status on_launch(Job& job, const Event& event) {
    job.was_launched = event.name == launch_mark;
    return Done{};
}

Status on_finish(Job& job, const Event& event) {
    const auto status = read_integer(event.context.get(), "status");
    if (!status) {
        return bad(event, "context needs status (integer, as of wait(2))");
    }
    if (is_in(job.state, mask_running)) {
        job.wait_status = static_cast<int>(*status);
    }
    if (job.state != State::run) {
        return Done{};
    }
    job.success = *status == 0 && !(job.had_exception && job.exception->severity == 0);
    end_with(job, event);
    return Done{};
}

Status on_release(Job&, const Event& event) {
    if (!read_boolean(event.context.get(), "final")) {
        return bad(event, "context needs final (boolean)");
    }
    return Done{};
}

Status on_free(Job& job, const Event&) {
    job.has_resources = false;
    return Done{};
}

Status on_clean(Job& job, const Event& event) {
    if (job.state == State::cleanup) {
        enter(job, State::inactive, event.t_us);
    }
    return Done{};
}

Status on_perilog(Job& job, const Event& event) {
    const bool is_prolog = event.name.starts_with("prolog-");
    if (is_prolog ? job.start_pending : job.state != State::cleanup) {
        return Done{};
    }
    if (event.name.ends_with("-start")) {
        ++job.perilog_active;
    } else if (job.perilog_active > 0) {
        --job.perilog_active;
    }
    return Done{};
}

Status on_set_flags(Job& job, const Event& event) {
    const json_t* flags = json_object_get(event.context.get(), "flags");
    bool bypass = job.alloc_bypass, immutable = job.is_immutable;
    int debug = 0;
    for (std::size_t i = 0; i < json_array_size(flags); ++i) {
        const char* flag = json_string_value(json_array_get(flags, i));
        const std::string_view name = flag ? flag : "";
        if (name == "alloc-bypass") {
            bypass = true;
        } else if (name == "immutable") {
            immutable = true;
        } else if (name == "debug") {
            debug = 2;
        } else {
            return bad(event, "unknown flag \"" + std::string(name) + "\": alloc-bypass, immutable or debug");
        }
    }
    if (!json_is_array(flags)) {
        return bad(event, "context needs flags (array of strings)");
    }
    job.alloc_bypass = bypass;
    job.is_immutable = immutable;
    job.flags |= debug;
    return Done{};
}

Status on_memo(Job& job, const Event& event) {
    if (!event.context) {
        return bad(event, "needs a context");
    }
    Json update = Json::object();
    update.set("user", event.context.share());
    merge_annotations(job.annotations, update.get());
    return Done{};
}

Status on_annotations(Job& job, const Event& event) {
    json_t* value = json_object_get(event.context.get(), "annotations");
    job.annotations = json_is_object(value) ? Json::ref(value).deep_copy() : Json();
    return Done{};
}

Status on_jobspec_update(Job& job, const Event& event) {
    auto updated = updated_jobspec(job, event.context.get());
    if (!updated) {
        return updated.error();
    }
    replace_jobspec(job, std::move(*updated));
    reconsider(job, event.t_us);
    return Done{};
}

Status on_resource_update(Job& job, const Event& event) {
    const auto expiration = read_number(event.context.get(), "expiration");
    if (!expiration) {
        return bad(event, "context needs expiration (number)");
    }
    job.r.make().facts.expiration = *expiration;
    if (auto r = Json::parse(job.r->text, SameKeys::last_counts)) {
        if (auto done = write_path(r->get(), "execution.expiration", Json::real(*expiration)); !done) {
            return done;
        }
        job.r.make().text = r->dump();
        job.r.make().tree = std::move(*r);
    }
    return Done{};
}

Status on_flux_restart(Job& job, const Event& event) {
    if (job.state == State::sched) {
        job.priority = priority_unknown;  // a plugin has to set it again
    }
    reconsider(job, event.t_us);
    return Done{};
}

using Handler = Status (*)(Job&, const Event&);
const std::unordered_map<std::string_view, Handler>& handlers() {
    static const std::unordered_map<std::string_view, Handler> table = {
        {"submit", on_submit},
        {"validate", on_validate},
        {"invalidate", on_invalidate},
        {"dependency-add", on_dependency},
        {"dependency-remove", on_dependency},
        {"depend", on_depend},
        {"priority", on_priority},
        {"urgency", on_urgency},
        {"exception", on_exception},
        {"alloc", on_alloc},
        {launch_mark, on_launch},
        {launch_refused_mark, on_launch},
        {"start", on_start},
        {"finish", on_finish},
        {"release", on_release},
        {"free", on_free},
        {"clean", on_clean},
        {"prolog-start", on_perilog},
        {"prolog-finish", on_perilog},
        {"epilog-start", on_perilog},
        {"epilog-finish", on_perilog},
        {"set-flags", on_set_flags},
        {"memo", on_memo},
        {"annotations", on_annotations},
        {"jobspec-update", on_jobspec_update},
        {"resource-update", on_resource_update},
        {"flux-restart", on_flux_restart},
    };
    return table;
}

void merge_object(json_t* base, const json_t* update) {
    const char* key;
    json_t* value;
    json_object_foreach(const_cast<json_t*>(update), key, value) {
        if (json_is_null(value)) {
            json_object_del(base, key);
            continue;
        }
        if (!json_is_object(value)) {
            json_object_set(base, key, value);
            continue;
        }
        json_t* inner = json_object_get(base, key);
        if (!json_is_object(inner)) {
            inner = json_object();
            json_object_set_new(base, key, inner);
        }
        merge_object(inner, value);
        if (json_object_size(inner) == 0) {
            json_object_del(base, key);
        }
    }
}

}  // namespace

Status transition(Job& job, const Event& event) {
    const auto found = handlers().find(event.name);
    return found == handlers().end() ? Status(Done{}) : found->second(job, event);
}

void merge_annotations(Json& base, const json_t* update) {
    base = base ? base.deep_copy() : Json::object();
    merge_object(base.get(), update);
    if (json_object_size(base.get()) == 0) {
        base = Json();
    }
}

}  // namespace weir::broker::jobs
