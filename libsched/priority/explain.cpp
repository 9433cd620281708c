// SPDX-License-Identifier: LGPL-3.0-only
// Owns: breakdown, rank and words. The order is the queue's own key, so what is said here is what the scheduler does.
#include "libsched/priority/explain.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weir {
namespace {

std::string rounded(double value) {
    return std::to_string(std::llround(value));
}

/// What sorts a job in the queue.
struct PlaceKey {
    bool is_held_back = false;
    QueueKey key;
    /// Whom nothing but the queue delays, then who is held back, then whom his user holds.
    int part() const { return key.priority == priority_held ? 2 : is_held_back ? 1 : 0; }
    friend bool operator<(const PlaceKey& a, const PlaceKey& b) {
        return a.part() != b.part() ? a.part() < b.part() : a.key < b.key;
    }
};

PlaceKey key_of(const EngineAt& at, PriorityEngine::Slot slot, const IsHeldBack& is_held_back) {
    const JobInputs in = at.engine.inputs(slot);
    return {is_held_back && is_held_back(in.id),
            QueueKey{at.engine.priority(slot, at.now, at.factors), in.submit, in.id}};
}

constexpr std::array<const char*, factor_count> leads{
    "it has waited longer",         "its fair share is better",       "its QoS is higher",
    "its queue ranks higher",       "its size is favoured more",      "its urgency is higher",
    "its association ranks higher", "the site's own factor lifts it", "what it asks for is favoured more"};

constexpr std::array<const char*, factor_count> factor_units{"s",       "factor",   "priority", "priority", "cores",
                                                             "urgency", "priority", "value",    "types"};

double at_or_zero(std::span<const double> table, std::size_t index) {
    return index < table.size() ? table[index] : 0.;
}

double raw_of(Factor factor, const PrioritySettings& s, const JobInputs& job) {
    switch (factor) {
        case Factor::wait:
        case Factor::fairshare:
            return 0.;
        case Factor::qos:
            return at_or_zero(s.qos_priority, job.qos);
        case Factor::queue:
            return at_or_zero(s.queue_priority, job.queue);
        case Factor::size:
            return static_cast<double>(job.cores);
        case Factor::user:
            return static_cast<double>(job.urgency);
        case Factor::association:
            return at_or_zero(s.association_priority, job.association);
        case Factor::site:
            return job.extras.site;
        case Factor::resources:
            return static_cast<double>(std::count_if(job.extras.resources.begin(), job.extras.resources.end(),
                                                     [](double amount) { return amount != 0.; }));
    }
    return 0.;
}

Bypass bypass_of(const JobInputs& job) {
    if (job.urgency == 0) {
        return Bypass::held;
    }
    if (job.urgency >= 31) {
        return Bypass::expedited;
    }
    return job.extras.given ? Bypass::given : Bypass::none;
}

std::vector<ResourcePart> resource_parts(const PrioritySettings& s, const JobInputs& job) {
    std::vector<ResourcePart> parts;
    for (std::size_t kind = 0; kind < s.resources.size(); kind++) {
        const ResourceWeight& resource = s.resources[kind];
        ResourcePart part{resource.name.c_str(), job.extras.resources[kind], resource_factor(s, job, kind),
                          resource.weight, 0.};
        part.contribution = weight_of(s, Factor::resources) * (part.weight * part.factor);
        parts.push_back(part);
    }
    return parts;
}

/// Fills in what lifts `other` above `own`.
void explain_lead(const Breakdown& own, const Breakdown& other, Ahead& ahead) {
    if (other.bypass == Bypass::expedited) {
        ahead.why = own.bypass == Bypass::expedited ? "both are expedited and it was submitted earlier"
                                                    : "it was expedited by the instance owner";
        return;
    }
    if (own.bypass == Bypass::held) {
        ahead.why = other.bypass == Bypass::held ? "both are held and it was submitted earlier"
                                                 : "this job is held (urgency 0) and it is not";
        return;
    }
    if (own.bypass == Bypass::given || other.bypass == Bypass::given) {
        ahead.why = other.bypass == Bypass::given ? "its priority was given directly"
                                                  : "this job's priority was given directly, and it is lower";
        return;
    }
    if (own.priority == other.priority) {
        ahead.why = "the priorities are equal and it was submitted earlier";
        return;
    }
    const std::string in_all =
        rounded(static_cast<double>(other.priority) - static_cast<double>(own.priority)) + " ahead";
    if (other.is_kept_up) {
        ahead.why =
            "an earlier pass gave it more than its terms give now, and no pass lowers it (only-raises): " + in_all;
        return;
    }
    std::size_t greatest = 0;
    double behind = 0.;
    for (std::size_t i = 0; i < factor_count; i++) {
        const double lead = other.terms[i].contribution - own.terms[i].contribution;
        if (lead > ahead.lead) {
            ahead.lead = lead;
            greatest = i;
        }
        behind += std::max(-lead, 0.);
    }
    ahead.greatest = static_cast<Factor>(greatest);
    ahead.why = std::string(leads[greatest]) + ": +" + rounded(ahead.lead) + " from " + factor_names[greatest] +
                ", in all " + in_all + (behind >= 0.5 ? " (this job leads by " + rounded(behind) + " elsewhere)" : "");
}

}  // namespace

Breakdown breakdown(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now,
                    std::span<const double> factors) {
    const JobInputs in = engine.inputs(slot);
    const PrioritySettings& s = engine.settings();
    const Duration waited = std::max(now - in.eligible, Duration::zero());
    const double fairshare = at_or_zero(factors, in.association);
    Breakdown out;
    out.bypass = bypass_of(in);
    out.priority = engine.priority(slot, now, factors);
    out.is_kept_up = engine.is_kept_up(slot, now, factors);
    double fixed = 0.;
    for (std::size_t i = 0; i < factor_count; i++) {
        const auto f = static_cast<Factor>(i);
        Term& term = out.terms[i];
        term = Term{f, raw_of(f, s, in), factor_units[i], 0., s.weights[i]};
        if (f == Factor::wait) {
            term.raw = to_seconds(waited);
            term.factor = wait_factor(waited, s.wait_max);
        } else if (f == Factor::fairshare) {
            term.raw = term.factor = fairshare;
        } else {
            term.factor = fixed_factor(f, s, engine.classes(), in);
        }
        term.factor = in.extras.given ? 0. : term.factor;
        term.contribution = term.weight * term.factor;
        fixed += i >= index_of(Factor::qos) ? term.contribution : 0.;
    }
    if (in.extras.given) {
        out.sum = static_cast<double>(*in.extras.given);
        return out;
    }
    out.resources = resource_parts(s, in);
    out.sum = (out.terms[0].contribution + out.terms[1].contribution) + fixed;
    for (Term& term : out.terms) {
        term.share = out.sum > 0. ? term.contribution / out.sum : 0.;
    }
    return out;
}

Standing standing(const EngineAt& at, PriorityEngine::Slot slot, std::size_t limit,
                  const std::function<Counts(JobId)>& counts, const IsHeldBack& is_held_back) {
    const auto& [engine, now, factors] = at;
    using Entry = std::pair<PlaceKey, PriorityEngine::Slot>;
    const PlaceKey own = key_of(at, slot, is_held_back);
    Standing out;
    out.rank = 1;
    out.of = 1;
    const auto farther = [](const Entry& a, const Entry& b) { return b.first < a.first; };
    std::vector<Entry> nearest;  // a heap with the farthest of the nearest on top
    for (std::uint32_t i = 0; i < engine.slots(); i++) {
        const PriorityEngine::Slot other{i};
        if (!engine.is_live(other) || other == slot) {
            continue;
        }
        const Counts how = counts ? counts(engine.inputs(other).id) : Counts::fully;
        if (how == Counts::not_at_all) {
            continue;
        }
        out.of += how == Counts::fully ? 1 : 0;
        const Entry entry{key_of(at, other, is_held_back), other};
        if (!(entry.first < own)) {
            continue;
        }
        out.rank += how == Counts::fully ? 1 : 0;
        if (limit == 0 || (nearest.size() == limit && entry.first < nearest.front().first)) {
            continue;
        }
        if (nearest.size() == limit) {
            std::pop_heap(nearest.begin(), nearest.end(), farther);
            nearest.pop_back();
        }
        nearest.push_back(entry);
        std::push_heap(nearest.begin(), nearest.end(), farther);
    }
    std::sort(nearest.begin(), nearest.end(), farther);
    const Breakdown mine = breakdown(engine, slot, now, factors);
    for (const auto& [key, other] : nearest) {
        Ahead ahead{other, key.key.id, key.key.priority, {}, 0., {}};
        if (own.is_held_back && !key.is_held_back) {
            ahead.why = "this job is held back and it is not";
        } else {
            explain_lead(mine, breakdown(engine, other, now, factors), ahead);
        }
        out.ahead.push_back(std::move(ahead));
    }
    return out;
}

std::vector<PriorityEngine::Change> in_queue_order(const PriorityEngine& engine, Instant now,
                                                   std::span<const double> factors, std::size_t limit,
                                                   const IsHeldBack& is_held_back) {
    std::vector<std::pair<PlaceKey, PriorityEngine::Slot>> keys;
    keys.reserve(engine.size());
    for (std::uint32_t i = 0; i < engine.slots(); i++) {
        if (engine.is_live({i})) {
            keys.emplace_back(key_of({engine, now, factors}, {i}, is_held_back), PriorityEngine::Slot{i});
        }
    }
    const auto is_before = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (limit < keys.size()) {
        std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(limit), keys.end(), is_before);
        keys.resize(limit);
    }
    std::sort(keys.begin(), keys.end(), is_before);
    std::vector<PriorityEngine::Change> out;
    out.reserve(keys.size());
    for (const auto& [key, slot] : keys) {
        out.push_back({key.key.id, slot, key.key.priority});
    }
    return out;
}

}  // namespace weir
