// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading facts out of a jobspec, redaction, updates.
// Must not know: queues' configuration, flux_t. RFC 14, 21, 25.
// libsched/json/jobspec.hpp reads jobspecs, too, and asks another question: what does the job need? Here the document
// is kept, redacted, updated and listed, and a part that no scheduler understands is no error.
#include "broker/services/job-manager/codecs/jobspec.hpp"

#include <algorithm>
#include <limits>

namespace weir::broker::jobs {
namespace {

/// Sums over the resource tree: how many nodes, slots, cores and gpus in a slot.
struct Counts {
    int nodes = 0;
    int slots = 0;
    int cores_a_slot = 0;
    int gpus_a_slot = 0;
    bool is_exclusive = false;

    int all_slots() const { return times(slots, std::max(nodes, 1)); }
    int cores() const { return times(all_slots(), cores_a_slot); }

    /// A submitter may ask for any number: no product overflows.
    static int times(std::int64_t a, std::int64_t b) {
        constexpr std::int64_t most = std::numeric_limits<int>::max();
        return static_cast<int>(
            std::min(std::clamp<std::int64_t>(a, 0, most) * std::clamp<std::int64_t>(b, 0, most), most));
    }
};

std::int64_t count_of(FlatValue resource) {
    const FlatValue count = resource["count"];
    return count.integer().value_or(count["min"].integer().value_or(1));
}

void add_level(FlatValue list, int factor, Counts& counts) {
    for (FlatValue resource = list.is_array() ? list.first() : FlatValue(); resource; resource = resource.next()) {
        const std::string type = resource["type"].string().value_or("");
        const int count = Counts::times(count_of(resource), factor);
        int below = 1;
        if (type == "node") {
            counts.nodes = count;
            counts.is_exclusive |= resource["exclusive"].boolean().value_or(false);
        } else if (type == "slot") {
            counts.slots = count;
        } else if (type == "core") {
            counts.cores_a_slot = count;
        } else if (type == "gpu") {
            counts.gpus_a_slot = count;
        } else {
            below = count;
        }
        add_level(resource["with"], below, counts);
    }
}

int tasks_of(FlatValue jobspec, FlatValue system, const Counts& counts) {
    const FlatValue per = system["shell"]["options"]["per-resource"];
    const int slots = counts.all_slots();
    if (const auto type = per["type"].string()) {
        const int n = static_cast<int>(per["count"].integer().value_or(1));
        if (*type == "node") {
            return counts.nodes > 0 ? counts.nodes * n : -1;
        }
        if (*type == "core") {
            return counts.nodes > 0 ? -1 : slots * counts.cores_a_slot * n;
        }
    }
    if (const auto total = jobspec["tasks"].element(0)["count"]["total"].integer()) {
        return static_cast<int>(*total);
    }
    return slots > 0 ? slots : -1;
}

std::string name_of(FlatValue jobspec, FlatValue system) {
    if (auto name = system["job"]["name"].string()) {
        return std::move(*name);
    }
    const std::string path = jobspec["tasks"].element(0)["command"].element(0).string().value_or("");
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

}  // namespace

JobspecFacts jobspec_facts(FlatValue jobspec) {
    JobspecFacts facts;
    const FlatValue system = jobspec["attributes"]["system"];
    facts.is_simulated = static_cast<bool>(system["exec"]["test"]);
    facts.is_partition = static_cast<bool>(system["weir"]["partition"]["name"]);
    facts.queue = system["queue"].string().value_or("");
    if (const auto name = system["job"]["name"].string(); name && !name->empty()) {
        facts.name_hash = static_cast<std::uint16_t>(std::hash<std::string>()(*name) | 1U);
    }
    facts.duration = system["duration"].number().value_or(-1);
    Counts counts;
    add_level(jobspec["resources"], 1, counts);
    facts.nnodes = counts.nodes > 0 ? counts.nodes : -1;
    facts.ntasks = tasks_of(jobspec, system, counts);
    const int cores = counts.cores();
    facts.ncores = (counts.nodes > 0 && counts.is_exclusive) || cores == 0 ? -1 : cores;
    return facts;
}

JobspecFacts jobspec_facts(std::string_view jobspec) {
    FlatJson flat;
    return jobspec_facts(flat.read(jobspec));
}

int task_count(const Job& job) {
    if (job.facts.ntasks > 0) {
        return job.facts.ntasks;
    }
    FlatJson flat;
    const FlatValue per =
        flat.read(job.jobspec_text.redacted)["attributes"]["system"]["shell"]["options"]["per-resource"];
    const std::string type = per["type"].string().value_or("");
    const int given = type == "core" ? job.r->facts.ncores : type == "node" ? job.r->facts.nnodes : -1;
    return given > 0 ? Counts::times(given, per["count"].integer().value_or(1)) : -1;
}

JobSize jobspec_size(std::string_view jobspec) {
    FlatJson flat;
    Counts counts;
    add_level(flat.read(jobspec)["resources"], 1, counts);
    return {counts.nodes, counts.cores(), Counts::times(counts.all_slots(), counts.gpus_a_slot)};
}

JobspecNames jobspec_names(std::string_view jobspec) {
    FlatJson flat;
    const FlatValue root = flat.read(jobspec);
    const FlatValue system = root["attributes"]["system"];
    return {name_of(root, system), system["cwd"].string().value_or(""), system["project"].string().value_or(""),
            system["bank"].string().value_or("")};
}

std::string explicit_name(std::string_view jobspec) {
    FlatJson flat;
    return flat.read(jobspec)["attributes"]["system"]["job"]["name"].string().value_or("");
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
        text.environment = pool.intern(Json::ref(environment).dump());
        json_object_del(system, "environment");
    }
    text.redacted = jobspec.dump();
    text.redacted.shrink_to_fit();
    return text;
}

Result<Json> updated_jobspec(const Job& job, const json_t* updates) {
    auto tree = Json::parse(job.jobspec_text.redacted, SameKeys::last_counts);
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
        if (auto done = write_path(tree->get(), path, Json::ref(value)); !done) {
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
    job.jobspec_text.redacted = jobspec.dump();
    job.facts = jobspec_facts(job.jobspec_text.redacted);
    job.jobspec = std::move(jobspec);
}

}  // namespace weir::broker::jobs
