// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab_priorities.hpp.
#include "libsched/order/moab_priorities.hpp"

#include <algorithm>
#include <cmath>

#include "libfairshare/usage/metric.hpp"
#include "libsched/priority/component_sum.hpp"

namespace weir {
namespace {

const MoabPolicy::Component& component_of(const MoabPolicy& policy, MoabComponent component) {
    return policy.components[static_cast<std::size_t>(component)];
}

/// (target - current)^-2, as it grows without bound when the target comes near: at most 1e8, also beyond it.
double nearness(double target, double current) {
    const double left = std::max(target - current, 1e-4);
    return target > 0 ? 1 / (left * left) : 0.;
}

double bounded(double value, double cap) {
    return cap > 0 ? std::min(value, cap) : value;
}

double weighted(const MoabPolicy::Component& component, std::span<const double> values) {
    Component sum{component.weight, component.cap, {}};
    for (std::size_t i = 0; i < values.size(); i++) {
        sum.parts.push_back({component.parts[i].weight, values[i], component.parts[i].cap});
    }
    return contribution(sum);
}

}  // namespace

MoabPriorities::MoabPriorities(const PolicySettings& settings) : policy_(settings.moab) {}

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

void MoabPriorities::put(JobId id, const Job& job) {
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    entries_[id.value].job = job;
}

void MoabPriorities::remove(JobId id) {
    if (id.value < entries_.size()) {
        entries_[id.value] = {};
    }
}

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

MoabPriorities::Values MoabPriorities::values(const Job& job, Instant now) const {
    Values out{};
    const auto of = [&](MoabComponent component) -> auto& {
        return out[static_cast<std::size_t>(component)];
    };
    double target_minutes = 0, target_xfactor = 0;
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        const MoabPolicy::Credential* one = own(i, job);
        one = one == nullptr && job.who[i] != nobody ? fallback(i) : one;
        if (one != nullptr) {
            of(MoabComponent::credential)[i] = one->priority;
            target_minutes = one->queue_time > Duration{} ? to_seconds(one->queue_time) / 60 : target_minutes;
            target_xfactor = one->xfactor > 0 ? one->xfactor : target_xfactor;
        }
    }
    const Duration queued = now - job.since;
    const double minutes = to_seconds(queued) / 60;
    const double xfactor = expansion_factor(queued, job.limit, policy_.xfactor_shortest);
    const double wall = to_seconds(job.limit);
    const double cores = job.cores;
    of(MoabComponent::resource) = {cores, cores * wall, wall};
    of(MoabComponent::service) = {minutes, xfactor};
    of(MoabComponent::target) = {nearness(target_minutes, minutes), nearness(target_xfactor, xfactor)};
    of(MoabComponent::usage) = {0., cores * wall, 0.};  // of a job that waits nothing is consumed and all remains
    return out;
}

double MoabPriorities::total(const Job& job, const Usage& usage, Instant now) const {
    const Values values = this->values(job, now);
    const auto of = [&](MoabComponent component) {
        return weighted(component_of(policy_, component), values[static_cast<std::size_t>(component)]);
    };
    return of(MoabComponent::credential) + fairshare(job, usage) + of(MoabComponent::resource) +
           of(MoabComponent::service) + of(MoabComponent::target) + of(MoabComponent::usage);
}

std::uint32_t MoabPriorities::value_of(const Job& job, const Usage& usage, Instant now) const {
    if (!is_admitted(job, usage)) {
        return priority_held;
    }
    // Maui's priorities may be negative; a queue's are not.
    const double offset = policy_.allows_negative ? maui_priority_max + 1 : 0;
    const double sum = maui_priority(total(job, usage, now), policy_.allows_negative) + offset;
    return static_cast<std::uint32_t>(std::llround(sum));
}

std::uint32_t MoabPriorities::value(JobId id, const Usage& usage, Instant now) const {
    return value_of(*entries_[id.value].job, usage, now);
}

void MoabPriorities::prioritize(const Usage& usage, Instant now,
                                std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    for (std::size_t i = 0; i < entries_.size(); i++) {
        Entry& entry = entries_[i];
        if (!entry.job) {
            continue;
        }
        const std::uint32_t value = value_of(*entry.job, usage, now);
        if (value != entry.told) {
            entry.told = value;
            changed.emplace_back(JobId{i}, value);
        }
    }
}

OrderTerms MoabPriorities::explain(JobId id, const Usage& usage, Instant now) const {
    const Job& job = *entries_[id.value].job;
    const std::array<const char*, moab_parts> priority{"priority", "priority", "priority", "priority", "priority"};
    const std::array<const char*, moab_parts> percent{"% below", "% below", "% below", "% below", "% below"};
    const std::array<std::array<const char*, moab_parts>, moab_components> units{
        priority,
        percent,
        std::array<const char*, moab_parts>{"cores", "core-s", "s"},
        std::array<const char*, moab_parts>{"min", "times"},
        std::array<const char*, moab_parts>{"1/min2", "nearness"},
        std::array<const char*, moab_parts>{"core-s", "core-s", "%"}};
    Values values = this->values(job, now);
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
            const char* unit = units[c][part];
            out.terms.push_back({std::string(moab_component_names[c]) + "." + std::string(moab_part_names[c][part]),
                                 values[c][part], unit == nullptr ? "" : unit, component.weight * weight,
                                 component.weight * value});
            sum += value;
        }
        if (const double cap = component.cap; cap > 0) {
            out.terms.push_back({std::string(moab_component_names[c]) + " cap", cap, "", component.weight,
                                 component.weight * (bounded(sum, cap) - sum)});
        }
    }
    out.sum = total(job, usage, now);
    out.words.push_back("The components add up to " + order_number(out.sum) +
                        (policy_.allows_negative ? "; 1000000001 is added, as a priority is never negative here."
                                                 : "; the priority is at least 1."));
    return out;
}

}  // namespace weir
