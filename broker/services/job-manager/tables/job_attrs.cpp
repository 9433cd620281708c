// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-list's view of a job and of the table.
// Must not know: requests, flux_t. RFC 43.
#include "broker/services/job-manager/tables/job_attrs.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "broker/services/job-manager/codecs/jobspec.hpp"

namespace weir::broker::jobs {
namespace {

/// Appends the value and returns true, or returns false when the attribute is not set.
using Writer = bool (*)(const Job&, std::string&);

bool put(std::string& out, const std::string& text) {
    if (text.empty()) {
        return false;
    }
    append_quoted(out, text);
    return true;
}
bool put(std::string& out, int value) {
    if (value < 0) {
        return false;
    }
    out += std::to_string(value);
    return true;
}
bool put_real(std::string& out, double value) {
    if (value < 0) {
        return false;
    }
    append_json(out, Json::real(value).get());
    return true;
}
bool put_time(std::string& out, std::int64_t t_us) {
    if (t_us == 0) {
        return false;
    }
    append_timestamp(out, t_us);
    return true;
}
bool put_bool(std::string& out, bool value) {
    out += value ? "true" : "false";
    return true;
}
bool is_over(const Job& job) {
    return job.state == State::inactive;
}
bool has_run(const Job& job) {
    return (job.states_mask & bit(State::run)) != 0;
}

struct Attribute {
    const char* name;
    Writer write;
    /// In place of a writer: it stands in the jobspec alone.
    std::string JobspecNames::*in_jobspec = nullptr;
};
const Attribute attributes[] = {
    {"userid",
     [](const Job& j, std::string& o) {
         o += std::to_string(j.userid);
         return true;
     }},
    {"urgency", [](const Job& j, std::string& o) { return put(o, j.urgency); }},
    {"priority",
     [](const Job& j, std::string& o) {
         if ((j.states_mask & bit(State::sched)) == 0 || j.priority < priority_min) {
             return false;
         }
         o += std::to_string(j.priority);
         return true;
     }},
    {"t_submit", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[0]); }},
    {"t_depend", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[1]); }},
    {"t_priority", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[2]); }},
    {"t_sched", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[3]); }},
    {"t_run", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[4]); }},
    {"t_cleanup", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[5]); }},
    {"t_inactive", [](const Job& j, std::string& o) { return put_time(o, j.t_state_us[6]); }},
    {"state", [](const Job& j, std::string& o) { return put(o, bit(j.state)); }},
    {"name", nullptr, &JobspecNames::name},
    {"cwd", nullptr, &JobspecNames::cwd},
    {"queue", [](const Job& j, std::string& o) { return put(o, j.facts.queue); }},
    {"project", nullptr, &JobspecNames::project},
    {"bank", nullptr, &JobspecNames::bank},
    {"ntasks", [](const Job& j, std::string& o) { return put(o, j.facts.ntasks); }},
    {"ncores",
     [](const Job& j, std::string& o) { return put(o, j.r->facts.ncores >= 0 ? j.r->facts.ncores : j.facts.ncores); }},
    {"duration", [](const Job& j, std::string& o) { return put_real(o, j.facts.duration); }},
    {"nnodes",
     [](const Job& j, std::string& o) { return put(o, j.r->facts.nnodes >= 0 ? j.r->facts.nnodes : j.facts.nnodes); }},
    {"ranks", [](const Job& j, std::string& o) { return has_run(j) && put(o, j.r->facts.ranks); }},
    {"nodelist", [](const Job& j, std::string& o) { return has_run(j) && put(o, j.r->facts.nodelist); }},
    {"success", [](const Job& j, std::string& o) { return is_over(j) && put_bool(o, j.success); }},
    {"exception_occurred", [](const Job& j, std::string& o) { return is_over(j) && put_bool(o, j.had_exception); }},
    {"exception_severity",
     [](const Job& j, std::string& o) { return is_over(j) && j.had_exception && put(o, j.exception->severity); }},
    {"exception_type",
     [](const Job& j, std::string& o) { return is_over(j) && j.had_exception && put(o, j.exception->type); }},
    {"exception_note",
     [](const Job& j, std::string& o) {
         if (!is_over(j) || !j.had_exception) {
             return false;
         }
         append_quoted(o, j.exception->note);
         return true;
     }},
    {"result", [](const Job& j, std::string& o) { return is_over(j) && put(o, static_cast<int>(j.result())); }},
    {"expiration", [](const Job& j, std::string& o) { return has_run(j) && put_real(o, j.r->facts.expiration); }},
    {"annotations",
     [](const Job& j, std::string& o) {
         if (!j.annotations) {
             return false;
         }
         append_json(o, j.annotations.get());
         return true;
     }},
    {"waitstatus", [](const Job& j, std::string& o) { return put(o, j.wait_status); }},
    {"dependencies",
     [](const Job& j, std::string& o) {
         if (j.dependencies->empty()) {
             return false;
         }
         o += '[';
         for (const std::string& d : *j.dependencies) {
             o += o.back() == '[' ? "" : ",";
             append_quoted(o, d);
         }
         o += ']';
         return true;
     }},
};

const Attribute* attribute_of(std::string_view name) {
    static const auto table = [] {
        std::unordered_map<std::string_view, const Attribute*> made;
        for (const Attribute& attribute : attributes) {
            made.emplace(attribute.name, &attribute);
        }
        return made;
    }();
    const auto at = table.find(name);
    return at == table.end() ? nullptr : at->second;
}

/// Writes attributes of one job; reads its jobspec once, if any of them asks for it.
class JobWriter {
  public:
    explicit JobWriter(const Job& job) : job_(job), out_("{\"id\":" + std::to_string(job.id)) {}
    void add(const Attribute& attribute) {
        const std::size_t before = out_.size();
        out_ += ",\"";
        out_ += attribute.name;
        out_ += "\":";
        if (!(attribute.write ? attribute.write(job_, out_) : put(out_, names().*attribute.in_jobspec))) {
            out_.resize(before);
        }
    }
    std::string text() { return std::move(out_ += '}'); }

  private:
    const JobspecNames& names() {
        if (!names_) {
            names_ = jobspec_names(job_.jobspec_text.redacted);
        }
        return *names_;
    }
    const Job& job_;
    std::string out_;
    std::optional<JobspecNames> names_;
};

Json counts_json(const JobCounts& counts) {
    Json states = Json::object();
    int total = 0;
    for (int i = 1; i < 7; ++i) {
        states.set(state_name(i), Json::integer(counts.states[i]));
        total += counts.states[i];
    }
    states.set("total", Json::integer(total));
    Json out = Json::object();
    out.set("job_states", std::move(states));
    out.set("successful", Json::integer(counts.successful));
    out.set("failed", Json::integer(counts.failed));
    out.set("canceled", Json::integer(counts.canceled));
    out.set("timeout", Json::integer(counts.timeout));
    out.set("inactive_purged", Json::integer(counts.purged));
    return out;
}

}  // namespace

const std::vector<std::string>& job_attribute_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const Attribute& attribute : attributes) {
            made.emplace_back(attribute.name);
        }
        return made;
    }();
    return names;
}

Result<std::string> job_text(const Job& job, const json_t* attrs) {
    JobWriter writer(job);
    for (std::size_t i = 0; i < json_array_size(attrs); ++i) {
        const char* name = json_string_value(json_array_get(attrs, i));
        if (!name) {
            return Error{std::errc::invalid_argument, "attr has no string value"};
        }
        if (std::string_view(name) == "all") {
            for (const Attribute& attribute : attributes) {
                writer.add(attribute);
            }
        } else if (const Attribute* attribute = attribute_of(name)) {
            writer.add(*attribute);
        } else {
            return Error{std::errc::invalid_argument, std::string(name) + " is not a valid attribute"};
        }
    }
    return writer.text();
}

std::vector<const Job*> list_jobs(const JobTable& table, const ListQuery& query) {
    std::vector<const Job*> pending, running;
    for (const auto& [id, job] : table.active_jobs()) {
        if (is_in(job->state, query.states & mask_pending) && query.filter(*job)) {
            pending.push_back(job.get());
        } else if (is_in(job->state, query.states & mask_running) && query.filter(*job)) {
            running.push_back(job.get());
        }
    }
    std::stable_sort(pending.begin(), pending.end(), [](const Job* a, const Job* b) {
        return std::max(a->priority, priority_min) > std::max(b->priority, priority_min);
    });
    std::stable_sort(running.begin(), running.end(),
                     [](const Job* a, const Job* b) { return a->t_state_us[4] > b->t_state_us[4]; });
    std::vector<const Job*> all = std::move(pending);
    all.insert(all.end(), running.begin(), running.end());
    const bool wants_inactive = (query.states & bit(State::inactive)) != 0;
    const auto& ended = table.inactive_jobs();
    for (auto at = ended.rbegin(); wants_inactive && at != ended.rend(); ++at) {
        const bool is_enough = query.entries_max > 0 && all.size() >= query.entries_max;
        if (is_enough || (*at)->t_state_us[6] <= query.since_us) {
            break;
        }
        if (query.filter(**at)) {
            all.push_back(*at);
        }
    }
    if (query.entries_max > 0 && all.size() > query.entries_max) {
        all.resize(query.entries_max);
    }
    return all;
}

Json stats_json(const JobTable& table) {
    Json out = counts_json(table.counts());
    Json queues = Json::array();
    for (const auto& [name, counts] : table.counts_by_queue()) {
        Json queue = counts_json(counts);
        queue.set("name", Json::string(name));
        queues.append(std::move(queue));
    }
    out.set("queues", std::move(queues));
    return out;
}

}  // namespace weir::broker::jobs
