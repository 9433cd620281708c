// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading facts out of a jobspec, redaction, updates.
// Must not know: queues' configuration, flux_t. RFC 14, 21, 25.
#include "broker/services/job-manager/codecs/jobspec.hpp"

#include <algorithm>

namespace weir::broker::jobs {
namespace {

/// Sums over the resource tree: how many nodes, slots, cores in a slot.
struct Counts {
    int nodes = 0;
    int slots = 0;
    int cores_a_slot = 0;
    bool is_exclusive = false;
};

int count_of(const json_t* resource) {
    if (const auto n = read_integer(resource, "count")) {
        return static_cast<int>(*n);
    }
    return static_cast<int>(read_integer(json_object_get(resource, "count"), "min").value_or(1));
}

void add_level(const json_t* list, int factor, Counts& counts) {
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const json_t* resource = json_array_get(list, i);
        const std::string_view type = read_string(resource, "type").value_or("");
        const int count = count_of(resource) * factor;
        int below = 1;
        if (type == "node") {
            counts.nodes = count;
            counts.is_exclusive |= read_boolean(resource, "exclusive").value_or(false);
        } else if (type == "slot") {
            counts.slots = count;
        } else if (type == "core") {
            counts.cores_a_slot = count;
        } else {
            below = count;
        }
        add_level(json_object_get(resource, "with"), below, counts);
    }
}

int tasks_of(const json_t* jobspec, const Counts& counts) {
    const json_t* task = json_array_get(json_object_get(jobspec, "tasks"), 0);
    const json_t* per = read_path(jobspec, "attributes.system.shell.options.per-resource");
    const int slots = counts.slots * std::max(counts.nodes, 1);
    if (const auto type = read_string(per, "type")) {
        const int n = static_cast<int>(read_integer(per, "count").value_or(1));
        if (*type == "node") {
            return counts.nodes > 0 ? counts.nodes * n : -1;
        }
        if (*type == "core") {
            return counts.nodes > 0 ? -1 : slots * counts.cores_a_slot * n;
        }
    }
    if (const auto total = read_integer(json_object_get(task, "count"), "total")) {
        return static_cast<int>(*total);
    }
    return slots > 0 ? slots : -1;
}

std::string name_of(const json_t* jobspec) {
    if (const auto name = read_string(read_path(jobspec, "attributes.system.job"), "name")) {
        return std::string(*name);
    }
    const json_t* task = json_array_get(json_object_get(jobspec, "tasks"), 0);
    const char* command = json_string_value(json_array_get(json_object_get(task, "command"), 0));
    const std::string path = command ? command : "";
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

}  // namespace

JobspecFacts jobspec_facts(const json_t* jobspec) {
    JobspecFacts facts;
    const json_t* system = read_path(jobspec, "attributes.system");
    facts.is_simulated = read_path(system, "exec.test") != nullptr;
    facts.name = name_of(jobspec);
    facts.cwd = read_string(system, "cwd").value_or("");
    facts.queue = read_string(system, "queue").value_or("");
    facts.project = read_string(system, "project").value_or("");
    facts.bank = read_string(system, "bank").value_or("");
    facts.duration = read_number(system, "duration").value_or(-1);
    Counts counts;
    add_level(json_object_get(jobspec, "resources"), 1, counts);
    facts.nnodes = counts.nodes > 0 ? counts.nodes : -1;
    facts.ntasks = tasks_of(jobspec, counts);
    const int cores = counts.slots * std::max(counts.nodes, 1) * counts.cores_a_slot;
    facts.ncores = (counts.nodes > 0 && counts.is_exclusive) || cores == 0 ? -1 : cores;
    return facts;
}

std::shared_ptr<const std::string> EnvironmentPool::intern(std::string text) {
    if (const auto found = pool_.find(text); found != pool_.end()) {
        if (auto shared = found->second.lock()) {
            return shared;
        }
    }
    // The deleter takes the entry out, so the map's key never dangles.
    const auto* owned = new std::string(std::move(text));
    std::shared_ptr<const std::string> shared(owned, [this](const std::string* gone) {
        pool_.erase(std::string_view(*gone));
        delete gone;
    });
    pool_.emplace(std::string_view(*owned), shared);
    return shared;
}

JobspecText redact(Json& jobspec, EnvironmentPool& pool) {
    JobspecText text;
    json_t* system = read_path(jobspec.get(), "attributes.system");
    if (json_t* environment = json_object_get(system, "environment")) {
        text.environment = pool.intern(Json::share(environment).text());
        json_object_del(system, "environment");
    }
    text.redacted = jobspec.text();
    text.redacted.shrink_to_fit();
    return text;
}

Result<Json> updated_jobspec(const Job& job, const json_t* updates) {
    auto tree = Json::parse(job.jobspec_text.redacted);
    if (!tree) {
        return tree.error();
    }
    const char* key;
    json_t* value;
    json_object_foreach(const_cast<json_t*>(updates), key, value) {
        const std::string_view path = key;
        const std::string_view top = path.substr(0, path.find('.'));
        if (top != "attributes" && top != "resources" && top != "tasks") {
            return Error{std::errc::invalid_argument, "jobspec-update: \"" + std::string(path) +
                                                          "\": a key must begin with attributes, resources or tasks"};
        }
        if (auto done = write_path(tree->get(), path, Json::share(value)); !done) {
            return Error{std::errc::invalid_argument,
                         "jobspec-update: \"" + std::string(path) + "\": " + done.error().message};
        }
    }
    return std::move(*tree);
}

void replace_jobspec(Job& job, Json jobspec) {
    if (!job.jobspec_text.original) {
        job.jobspec_text.original = std::make_unique<std::string>(full_jobspec(job.jobspec_text));
    }
    job.jobspec_text.redacted = jobspec.text();
    job.facts = jobspec_facts(jobspec.get());
    job.jobspec = std::move(jobspec);
}

}  // namespace weir::broker::jobs
