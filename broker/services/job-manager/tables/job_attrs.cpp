// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-list's view of a job and of the table.
// Must not know: requests, flux_t. RFC 43.
#include "broker/services/job-manager/tables/job_attrs.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

/// Sets the member, or nothing when the attribute is not set.
using Writer = void (*)(const Job&, const char* name, ObjectText& out);

void put(ObjectText& out, const char* name, const std::string& text) {
    if (!text.empty()) {
        out.set(name, text);
    }
}
void put(ObjectText& out, const char* name, int value) {
    if (value >= 0) {
        out.set(name, value);
    }
}
void put_real(ObjectText& out, const char* name, double value) {
    if (value >= 0) {
        out.set(name, value);
    }
}
void put_time(ObjectText& out, const char* name, std::int64_t t_us) {
    if (t_us != 0) {
        out.splice(name, timestamp_text(t_us));
    }
}
bool is_over(const Job& job) {
    return job.state == State::inactive;
}

struct Attribute {
    const char* name;
    Writer write;
    /// In place of a writer: the attribute is only in the jobspec.
    std::string JobspecNames::*in_jobspec = nullptr;
};
const Attribute attributes[] = {
    {"userid", [](const Job& j, const char* n, ObjectText& o) { o.set(n, j.userid); }},
    {"urgency", [](const Job& j, const char* n, ObjectText& o) { put(o, n, j.urgency); }},
    {"priority",
     [](const Job& j, const char* n, ObjectText& o) {
         if ((j.states_mask & bit(State::sched)) != 0 && j.priority >= priority_min) {
             o.set(n, j.priority);
         }
     }},
    {"t_submit", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[0]); }},
    {"t_depend", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[1]); }},
    {"t_priority", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[2]); }},
    {"t_sched", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[3]); }},
    {"t_run", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[4]); }},
    {"t_cleanup", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[5]); }},
    {"t_inactive", [](const Job& j, const char* n, ObjectText& o) { put_time(o, n, j.t_state_us[6]); }},
    {"state", [](const Job& j, const char* n, ObjectText& o) { put(o, n, bit(j.state)); }},
    {"name", nullptr, &JobspecNames::name},
    {"cwd", nullptr, &JobspecNames::cwd},
    {"queue", [](const Job& j, const char* n, ObjectText& o) { put(o, n, j.facts.queue); }},
    {"project", nullptr, &JobspecNames::project},
    {"bank", nullptr, &JobspecNames::bank},
    {"ntasks", [](const Job& j, const char* n, ObjectText& o) { put(o, n, task_count(j)); }},
    {"ncores", [](const Job& j, const char* n,
                  ObjectText& o) { put(o, n, j.r->facts.ncores >= 0 ? j.r->facts.ncores : j.facts.ncores); }},
    {"duration", [](const Job& j, const char* n, ObjectText& o) { put_real(o, n, j.facts.duration); }},
    {"nnodes", [](const Job& j, const char* n,
                  ObjectText& o) { put(o, n, j.r->facts.nnodes >= 0 ? j.r->facts.nnodes : j.facts.nnodes); }},
    {"ranks",
     [](const Job& j, const char* n, ObjectText& o) {
         if (j.has_run()) {
             put(o, n, j.r->facts.ranks);
         }
     }},
    {"nodelist",
     [](const Job& j, const char* n, ObjectText& o) {
         if (j.has_run()) {
             put(o, n, j.r->facts.nodelist);
         }
     }},
    {"success",
     [](const Job& j, const char* n, ObjectText& o) {
         if (is_over(j)) {
             o.set(n, j.success);
         }
     }},
    {"exception_occurred",
     [](const Job& j, const char* n, ObjectText& o) {
         if (is_over(j)) {
             o.set(n, j.had_exception);
         }
     }},
    {"exception_severity",
     [](const Job& j, const char* n, ObjectText& o) {
         if (is_over(j) && j.had_exception) {
             put(o, n, j.exception->severity);
         }
     }},
    {"exception_type",
     [](const Job& j, const char* n, ObjectText& o) {
         if (is_over(j) && j.had_exception) {
             put(o, n, j.exception->type);
         }
     }},
    {"exception_note",
     [](const Job& j, const char* n, ObjectText& o) {
         if (is_over(j) && j.had_exception) {
             o.set(n, j.exception->note);
         }
     }},
    {"result",
     [](const Job& j, const char* n, ObjectText& o) {
         if (is_over(j)) {
             put(o, n, static_cast<int>(j.result()));
         }
     }},
    {"expiration",
     [](const Job& j, const char* n, ObjectText& o) {
         if (j.has_run()) {
             put_real(o, n, j.r->facts.expiration);
         }
     }},
    {"annotations",
     [](const Job& j, const char* n, ObjectText& o) {
         if (j.annotations) {
             o.set(n, j.annotations);
         }
     }},
    {"waitstatus", [](const Job& j, const char* n, ObjectText& o) { put(o, n, j.wait_status); }},
    {"dependencies",
     [](const Job& j, const char* n, ObjectText& o) {
         ArrayText list;
         for (const std::string& d : *j.dependencies) {
             list.append(d);
         }
         if (!list.empty()) {
             o.splice(n, list.text());
         }
     }},
};

std::optional<std::size_t> index_of(std::string_view name) {
    static const auto table = [] {
        std::unordered_map<std::string_view, std::size_t> made;
        for (std::size_t i = 0; i < std::size(attributes); ++i) {
            made.emplace(attributes[i].name, i);
        }
        return made;
    }();
    const auto at = table.find(name);
    return at == table.end() ? std::nullopt : std::optional(at->second);
}

/// Writes attributes of one job; reads its jobspec once, if any of them asks for it.
class JobWriter {
  public:
    explicit JobWriter(const Job& job) : job_(job) { out_.set("id", job.id); }
    void add(const Attribute& attribute) {
        if (attribute.write) {
            attribute.write(job_, attribute.name, out_);
        } else {
            put(out_, attribute.name, names().*attribute.in_jobspec);
        }
    }
    std::string text() { return out_.text(); }

  private:
    const JobspecNames& names() {
        if (!names_) {
            names_ = jobspec_names(job_.jobspec_text.redacted);
        }
        return *names_;
    }
    const Job& job_;
    ObjectText out_;
    std::optional<JobspecNames> names_;
};

Json counts_json(const JobCounts& counts) {
    Json states = Json::object();
    int total = 0;
    for (int i = 1; i < 7; ++i) {
        states.set(state_name(i), counts.states[i]);
        total += counts.states[i];
    }
    states.set("total", total);
    Json out = Json::object();
    out.set("job_states", std::move(states));
    out.set("successful", counts.successful);
    out.set("failed", counts.failed);
    out.set("canceled", counts.canceled);
    out.set("timeout", counts.timeout);
    out.set("inactive_purged", counts.purged);
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

Result<JobAttributes> JobAttributes::of(const json_t* names) {
    JobAttributes shown;
    for (std::size_t i = 0; i < json_array_size(names); ++i) {
        const char* name = json_string_value(json_array_get(names, i));
        if (!name) {
            return Error{std::errc::invalid_argument, "attr has no string value"};
        }
        if (std::string_view(name) == "all") {
            for (std::size_t index = 0; index < std::size(attributes); ++index) {
                shown.add(index);
            }
        } else if (const auto index = index_of(name)) {
            shown.add(*index);
        } else {
            return Error{std::errc::invalid_argument, std::string(name) + " is not a valid attribute"};
        }
    }
    return shown;
}

void JobAttributes::add(std::size_t index) {
    if (std::find(indices_.begin(), indices_.end(), index) == indices_.end()) {
        indices_.push_back(index);
    }
}

std::string job_text(const Job& job, const JobAttributes& shown) {
    JobWriter writer(job);
    for (const std::size_t index : shown.indices_) {
        writer.add(attributes[index]);
    }
    return writer.text();
}

std::vector<const Job*> list_jobs(const JobTable& table, const ListQuery& query) {
    std::vector<const Job*> pending, running;
    for (const auto& [id, job] : table.active_jobs()) {
        if (query.is_over()) {
            return {};
        }
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
        if (is_enough || (*at)->t_state_us[6] <= query.since_us || query.is_over()) {
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
        queue.set("name", name);
        queues.append(std::move(queue));
    }
    out.set("queues", std::move(queues));
    return out;
}

}  // namespace weir::broker::jobs
