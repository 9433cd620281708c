// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab_order.hpp.
#include "libsched/sim/moab_order.hpp"

#include <algorithm>
#include <cmath>

#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/usage/metric.hpp"
#include "libsched/priority/component_sum.hpp"

namespace weir {
namespace {

constexpr std::size_t qos_kind = 3;

std::uint32_t number_of(std::size_t kind, const SimJob& job) {
    const std::array<std::uint32_t, moab_credential_kinds> numbers{job.user, job.group, job.group, 0, job.queue};
    return numbers[kind];
}

const MoabPolicy::Component& component_of(const MoabPolicy& policy, MoabComponent component) {
    return policy.components[static_cast<std::size_t>(component)];
}

/// (target - current)^-2, as it grows without bound when the target comes near: at most 1e8, also beyond it.
double nearness(double target, double current) {
    const double left = std::max(target - current, 1e-4);
    return target > 0 ? 1 / (left * left) : 0.;
}

double weighted(const MoabPolicy::Component& component, std::span<const double> values) {
    Component sum{component.weight, component.cap, {}};
    for (std::size_t i = 0; i < values.size(); i++) {
        sum.parts.push_back({component.parts[i].weight, values[i], component.parts[i].cap});
    }
    return contribution(sum);
}

}  // namespace

MoabOrder::Kind::Kind(const PolicySettings& site) : members(LogShares::of_users()), usage(site, members.tree()) {}

MoabOrder::MoabOrder(const PolicySettings& settings, std::map<std::uint32_t, std::string> names)
    : policy_(settings.moab),
      names_(std::move(names)),
      interval_(settings.update_interval),
      kinds_{Kind(settings), Kind(settings), Kind(settings), Kind(settings), Kind(settings)} {
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        const auto found = policy_.credentials[kind].find("*");
        kinds_[kind].fallback = found == policy_.credentials[kind].end() ? nullptr : &found->second;
        kinds_[kind].is_used = !policy_.credentials[kind].empty();
    }
}

const MoabPolicy::Credential* MoabOrder::find(std::size_t kind, std::uint32_t number) const {
    const auto& named = policy_.credentials[kind];
    const std::string digits = std::to_string(number);
    std::vector<std::string> spellings{digits, (kind == 0 ? "u" : "g") + digits};
    if (const auto name = names_.find(number); kind == 0 && name != names_.end()) {
        spellings.insert(spellings.begin(), name->second);
    }
    for (const std::string& spelling : spellings) {
        if (const auto found = named.find(spelling); found != named.end()) {
            return &found->second;
        }
    }
    return nullptr;
}

LogShares::Party MoabOrder::party_in(std::size_t kind, const SimJob& job, Instant now) {
    Kind& one = kinds_[kind];
    SimJob credential;
    credential.user = number_of(kind, job);
    const std::uint64_t version = one.members.version();
    const LogShares::Party party = one.members.party(credential);
    if (one.members.version() != version) {
        one.usage.follow(one.members.tree(), now);
    }
    if (party == one.settings.size()) {
        one.settings.push_back(find(kind, credential.user));
    }
    return party;
}

void MoabOrder::submitted(const SimJob& job, JobId id, Instant now) {
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    Entry& entry = entries_[id.value];
    entry = {job, {}, std::nullopt, true};
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        entry.party[kind] = party_in(kind, job, now);
    }
}

void MoabOrder::charge(const Entry& entry, std::int64_t cores, Instant now) {
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        if (kinds_[kind].is_used) {
            kinds_[kind].usage.start(kinds_[kind].members.leaf(entry.party[kind]), cores, now);
        }
    }
}

void MoabOrder::started(const SimJob& job, JobId id, Instant now) {
    entries_[id.value].waits = false;
    charge(entries_[id.value], job.cores, now);
}

void MoabOrder::ended(const SimJob& job, JobId id, Instant now) {
    charge(entries_[id.value], -static_cast<std::int64_t>(job.cores), now);
}

bool MoabOrder::is_admitted(const Entry& entry) const {
    const double request = entry.job.cores * to_seconds(entry.job.limit);
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        const Kind& kind = kinds_[i];
        const MoabPolicy::Credential* own = kind.settings[entry.party[i]];
        const auto& cap = own != nullptr && own->cap ? own->cap
                          : kind.fallback != nullptr ? kind.fallback->cap
                                                     : std::nullopt;
        if (cap && !cap_admits(*cap, core_seconds(kind.used(entry.party[i])), core_seconds(kind.all()), request)) {
            return false;
        }
    }
    return true;
}

double MoabOrder::fairshare(const Entry& entry) const {
    const MoabPolicy::Component& component = component_of(policy_, MoabComponent::fairshare);
    std::array<FsPart, moab_credential_kinds> parts;
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        const Kind& kind = kinds_[i];
        const MoabPolicy::Credential* own = kind.settings[entry.party[i]];
        if (i == qos_kind || !kind.is_used) {
            continue;
        }
        parts[i] = {effective_target(own != nullptr ? own->target : std::nullopt,
                                     kind.fallback != nullptr ? kind.fallback->target : std::nullopt),
                    percent_of(kind.used(entry.party[i]), kind.all()),
                    component.parts[i].weight + (own != nullptr ? own->weight : 0.), component.parts[i].cap};
    }
    return fs_component(parts, component.weight, component.cap, policy_.is_ratio);
}

double MoabOrder::total(const Entry& entry, Instant now) const {
    std::array<double, moab_credential_kinds> priorities{};
    double target_minutes = 0, target_xfactor = 0;
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        const MoabPolicy::Credential* own = kinds_[i].settings[entry.party[i]];
        own = own == nullptr ? kinds_[i].fallback : own;
        if (own != nullptr && i != qos_kind) {
            priorities[i] = own->priority;
            target_minutes = own->queue_time > Duration{} ? to_seconds(own->queue_time) / 60 : target_minutes;
            target_xfactor = own->xfactor > 0 ? own->xfactor : target_xfactor;
        }
    }
    const Duration queued = now - entry.job.submit;
    const double minutes = to_seconds(queued) / 60;
    const double xfactor = expansion_factor(queued, entry.job.limit, policy_.xfactor_shortest);
    const double wall = to_seconds(entry.job.limit);
    const double cores = entry.job.cores;
    return weighted(component_of(policy_, MoabComponent::credential), priorities) + fairshare(entry) +
           weighted(component_of(policy_, MoabComponent::resource), std::array{cores, cores * wall, wall}) +
           weighted(component_of(policy_, MoabComponent::service), std::array{minutes, xfactor}) +
           weighted(component_of(policy_, MoabComponent::target),
                    std::array{nearness(target_minutes, minutes), nearness(target_xfactor, xfactor)}) +
           // Of a job that waits nothing is consumed and all remains.
           weighted(component_of(policy_, MoabComponent::usage), std::array{0., cores * wall, 0.});
}

double MoabOrder::raw(JobId id) const {
    return total(entries_[id.value], told_);
}

void MoabOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    told_ = now;
    for (Kind& kind : kinds_) {
        if (kind.is_used) {
            kind.usage.snapshot(now, kind.snapshot);
        }
    }
    // Maui's priorities may be negative; a queue's are not.
    const double offset = policy_.allows_negative ? maui_priority_max + 1 : 0;
    for (std::size_t i = 0; i < entries_.size(); i++) {
        Entry& entry = entries_[i];
        if (!entry.waits) {
            continue;
        }
        std::uint32_t value = priority_held;
        if (is_admitted(entry)) {
            const double sum = maui_priority(total(entry, now), policy_.allows_negative) + offset;
            value = static_cast<std::uint32_t>(std::llround(sum));
        }
        if (value != entry.told) {
            entry.told = value;
            changed.emplace_back(JobId{i}, value);
        }
    }
}

}  // namespace weir
