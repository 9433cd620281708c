// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab_priorities.hpp.
#include "libsched/order/moab_priorities.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "libfairshare/usage/metric.hpp"
#include "libsched/priority/component_sum.hpp"

namespace weir {
namespace {

const MoabPolicy::Component& component_of(const MoabPolicy& policy, MoabComponent component) {
    return policy.components[static_cast<std::size_t>(component)];
}

double weighted(const MoabPolicy::Component& component, std::span<const double> values) {
    Component sum{component.weight, component.cap, {}};
    for (std::size_t i = 0; i < values.size(); i++) {
        sum.parts.push_back({component.parts[i].weight, values[i], component.parts[i].cap});
    }
    return contribution(sum);
}

}  // namespace

MoabPriorities::MoabPriorities(const PolicySettings& settings)
    : policy_(settings.moab),
      counts_bypasses_(component_of(policy_, MoabComponent::service).weight != 0 &&
                       policy_.part(MoabComponent::service, "bypass").weight != 0) {}

MoabPriorities::Credential MoabPriorities::add_credential(std::size_t kind, std::span<const std::string> names) {
    Known known;
    for (const std::string& name : names) {
        if (const auto found = policy_.credentials[kind].find(name); found != policy_.credentials[kind].end()) {
            known = {&found->second, name};
            break;
        }
    }
    known_[kind].push_back(std::move(known));
    return static_cast<Credential>(known_[kind].size() - 1);
}

const MoabPolicy::Credential* MoabPriorities::own(std::size_t kind, const Job& job) const {
    return job.who[kind] == nobody ? nullptr : known_[kind][job.who[kind]].setting;
}

const MoabPolicy::Credential* MoabPriorities::fallback(std::size_t kind) const {
    const auto found = policy_.credentials[kind].find("*");
    return found == policy_.credentials[kind].end() ? nullptr : &found->second;
}

// ---- jobs that come and go ----

void MoabPriorities::put(JobId id, const Job& job) {
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    entries_[id.value].job = job;
}

void MoabPriorities::pause(JobId id) {
    if (id.value < entries_.size()) {
        Entry& entry = entries_[id.value];
        see(entry);
        entry.job.reset();
        entry.appended.reset();
    }
}

void MoabPriorities::remove(JobId id) {
    if (id.value < entries_.size()) {
        entries_[id.value] = {};
    }
}

void MoabPriorities::start(JobId id) {
    const Entry& entry = entries_[id.value];
    if (counts_bypasses_ && entry.appended) {
        starts_.push_back({*entry.appended, entry.job->place});
    }
    remove(id);
}

void MoabPriorities::hold(Credential user, std::int64_t jobs, std::int64_t cores) {
    if (user != nobody) {
        holding_.resize(std::max<std::size_t>(holding_.size(), user + 1));
        holding_[user].jobs += jobs;
        holding_[user].cores += cores;
    }
}

std::uint32_t MoabPriorities::bypassed(const Entry& entry) const {
    if (!entry.job || !entry.appended || entry.seen == starts_.size()) {
        return entry.bypassed;
    }
    const Start own{*entry.appended, entry.job->place};
    const auto after = [&](const Start& start) { return own < start; };
    const auto count = entry.seen == 0 && sorted_.size() == starts_.size()
                           ? sorted_.end() - std::partition_point(sorted_.begin(), sorted_.end(), std::not_fn(after))
                           : std::count_if(starts_.begin() + entry.seen, starts_.end(), after);
    return entry.bypassed + static_cast<std::uint32_t>(count);
}

void MoabPriorities::see(Entry& entry) const {
    entry.bypassed = bypassed(entry);
    entry.seen = static_cast<std::uint32_t>(starts_.size());
}

void MoabPriorities::see_all() {
    if (starts_.empty()) {
        return;
    }
    sorted_ = starts_;
    std::sort(sorted_.begin(), sorted_.end());
    for (Entry& entry : entries_) {
        entry.bypassed = bypassed(entry);
        entry.seen = 0;
    }
    starts_.clear();
    sorted_.clear();
}

// ---- caps ----

bool MoabPriorities::is_capped(std::size_t kind, const Job& job, const Usage& usage) const {
    if (job.who[kind] == nobody) {
        return false;
    }
    const MoabPolicy::Credential* own = this->own(kind, job);
    const MoabPolicy::Credential* all = fallback(kind);
    const auto& cap = own != nullptr && own->cap ? own->cap : all != nullptr ? all->cap : std::nullopt;
    return cap && !cap_admits(*cap, core_seconds(usage[kind].of(job.who[kind])), core_seconds(usage[kind].all),
                              job.cores * to_seconds(job.limit));
}

bool MoabPriorities::is_admitted(const Job& job, const Usage& usage) const {
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        if (is_capped(kind, job, usage)) {
            return false;
        }
    }
    return true;
}

std::string MoabPriorities::capped_by(JobId id, const Usage& usage) const {
    const Job& job = *entries_[id.value].job;
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        if (is_capped(kind, job, usage)) {
            const std::string& name = known_[kind][job.who[kind]].name;
            return std::string(moab_credential_names[kind]) + "." + (name.empty() ? "\"*\"" : name);
        }
    }
    return {};
}

// ---- the sum ----

std::array<FsPart, moab_credential_kinds> MoabPriorities::fairshare_parts(const Job& job, const Usage& usage) const {
    const MoabPolicy::Component& component = component_of(policy_, MoabComponent::fairshare);
    std::array<FsPart, moab_credential_kinds> parts;
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        if (job.who[i] == nobody || !goes_by_usage(i)) {
            continue;
        }
        const MoabPolicy::Credential* own = this->own(i, job);
        const MoabPolicy::Credential* all = fallback(i);
        parts[i] = {
            effective_target(own != nullptr ? own->target : std::nullopt, all != nullptr ? all->target : std::nullopt),
            percent_of(usage[i].of(job.who[i]), usage[i].all),
            component.parts[i].weight + (own != nullptr ? own->weight : 0.), component.parts[i].cap};
    }
    return parts;
}

double MoabPriorities::fairshare(const Job& job, const Usage& usage) const {
    const MoabPolicy::Component& component = component_of(policy_, MoabComponent::fairshare);
    return fs_component(fairshare_parts(job, usage), component.weight, component.cap, policy_.is_ratio);
}

const MoabPolicy::Credential* MoabPriorities::setting_of(std::size_t kind, const Job& job) const {
    const MoabPolicy::Credential* setting = own(kind, job);
    return setting == nullptr && job.who[kind] != nobody ? fallback(kind) : setting;
}

MoabPriorities::Targets MoabPriorities::targets_of(const Job& job) const {
    Targets targets;
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        if (const MoabPolicy::Credential* setting = setting_of(i, job)) {
            const bool has_time = setting->queue_time > Duration{};
            targets.minutes = has_time ? to_seconds(setting->queue_time) / 60 : targets.minutes;
            targets.xfactor = setting->xfactor > 0 ? setting->xfactor : targets.xfactor;
        }
    }
    return targets;
}

double MoabPriorities::processor_equivalents(const Job& job) const {
    const auto part = [](double asked, double all) { return all > 0 ? asked / all : 0.; };
    const double most = std::max(part(job.gpus, machine_.gpus), part(job.memory_mib, machine_.memory_gib * 1024));
    return std::max<double>(job.cores, most * machine_.cores);
}

MoabPriorities::Values MoabPriorities::values(const Entry& entry, Instant now) const {
    const Job& job = *entry.job;
    Values out{};
    const auto of = [&](MoabComponent component) -> auto& {
        return out[static_cast<std::size_t>(component)];
    };
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        const MoabPolicy::Credential* setting = setting_of(i, job);
        of(MoabComponent::credential)[i] = setting == nullptr ? 0. : setting->priority;
    }
    const Targets targets = targets_of(job);
    const Duration queued = now - job.since;
    const double minutes = to_seconds(queued) / 60;
    const double xfactor = expansion_factor(queued, job.limit, policy_.xfactor_shortest);
    const double wall = to_seconds(job.limit);
    const double cores = job.cores;
    const Holding held = job.who[0] < holding_.size() ? holding_[job.who[0]] : Holding{};
    of(MoabComponent::resource) = {cores,
                                   cores * wall,
                                   wall,
                                   static_cast<double>(job.nodes),
                                   job.memory_mib,
                                   processor_equivalents(job),
                                   static_cast<double>(held.cores),
                                   static_cast<double>(held.jobs)};
    of(MoabComponent::service) = {minutes, xfactor, static_cast<double>(bypassed(entry)),
                                  static_cast<double>(job.user_priority)};
    of(MoabComponent::target) = {nearness(targets.minutes, minutes), nearness(targets.xfactor, xfactor)};
    of(MoabComponent::usage) = {0., cores * wall, 0.};  // a waiting job has consumed nothing: all remains
    return out;
}

double MoabPriorities::total(const Entry& entry, const Usage& usage, Instant now) const {
    const Values values = this->values(entry, now);
    const auto of = [&](MoabComponent component) {
        return weighted(component_of(policy_, component), values[static_cast<std::size_t>(component)]);
    };
    return of(MoabComponent::credential) + fairshare(*entry.job, usage) + of(MoabComponent::resource) +
           of(MoabComponent::service) + of(MoabComponent::target) + of(MoabComponent::usage);
}

double MoabPriorities::number_of(const Entry& entry, const Usage& usage, Instant now) const {
    if (!is_admitted(*entry.job, usage)) {
        return priority_held;
    }
    // Maui's priorities may be negative; a queue's are not.
    const double offset = policy_.allows_negative ? maui_priority_max + 1 : 0;
    return maui_priority(total(entry, usage, now), policy_.allows_negative) + offset;
}

std::uint32_t MoabPriorities::update_value(JobId id, const Usage& usage, Instant now) {
    Entry& entry = entries_[id.value];
    see(entry);
    return *(entry.appended = value_of(entry, usage, now));
}

void MoabPriorities::prioritize(const Usage& usage, Instant now,
                                std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    see_all();
    for (std::size_t i = 0; i < entries_.size(); i++) {
        Entry& entry = entries_[i];
        if (!entry.job) {
            continue;
        }
        const std::uint32_t value = value_of(entry, usage, now);
        if (value != entry.appended) {
            entry.appended = value;
            changed.emplace_back(JobId{i}, value);
        }
    }
}

OrderTerms MoabPriorities::explain(JobId id, const Usage& usage, Instant now) const {
    const Entry& entry = entries_[id.value];
    const Job& job = *entry.job;
    Values values = this->values(entry, now);
    std::array<MoabPolicy::Component, moab_components> components = policy_.components;
    const auto fs = static_cast<std::size_t>(MoabComponent::fairshare);
    const auto parts = fairshare_parts(job, usage);
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        values[fs][i] =
            parts[i].target ? fs_discrepancy(*parts[i].target, parts[i].usage_percent, policy_.is_ratio) : 0;
        components[fs].parts[i].weight = std::max(parts[i].weight, components[fs].parts[i].weight);
    }
    OrderTerms out;
    for (std::size_t c = 0; c < moab_components; c++) {
        const MoabPolicy::Component& component = components[c];
        double sum = 0;
        for (std::size_t part = 0; part < moab_parts; part++) {
            const double weight = component.parts[part].weight;
            if (weight == 0 || component.weight == 0) {
                continue;
            }
            const double value = weight * bounded(values[c][part], component.parts[part].cap);
            out.terms.push_back({moab_part_name(c, part), values[c][part], moab_part_kinds[c][part].unit,
                                 component.weight * weight, component.weight * value});
            sum += value;
        }
        if (const double cap = component.cap; cap > 0) {
            out.terms.push_back({std::string(moab_component_names[c]) + " cap", cap, "", component.weight,
                                 component.weight * (bounded(sum, cap) - sum)});
        }
    }
    out.sum = total(entry, usage, now);
    out.words.push_back("The components add up to " + order_number(out.sum) +
                        (policy_.allows_negative ? "; 1000000001 is added, as a priority is never negative here."
                                                 : "; the priority is at least 1."));
    return out;
}

}  // namespace weir
