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

QueueKey key_of(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now, std::span<const double> factors) {
    const JobInputs in = engine.inputs(slot);
    return QueueKey{engine.priority(slot, now, factors), in.submit, in.id};
}

constexpr std::array<const char*, factor_count> leads{"it has waited longer",      "its fair share is better",
                                                      "its QoS is higher",         "its queue ranks higher",
                                                      "its size is favoured more", "its urgency is higher"};

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
    if (own.priority == other.priority) {
        ahead.why = "the priorities are equal and it was submitted earlier";
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
                ", in all " + rounded(static_cast<double>(other.priority) - static_cast<double>(own.priority)) +
                " ahead" + (behind >= 0.5 ? " (this job leads by " + rounded(behind) + " elsewhere)" : "");
}

}  // namespace

Breakdown breakdown(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now,
                    std::span<const double> factors) {
    const JobInputs in = engine.inputs(slot);
    const PrioritySettings& s = engine.settings();
    const Duration waited = std::max(now - in.eligible, Duration::zero());
    const double fairshare = in.association < factors.size() ? factors[in.association] : 0.;
    const auto raw_class = [](const std::vector<double>& v, std::size_t i) { return i < v.size() ? v[i] : 0.; };
    Breakdown out;
    out.terms = {Term{Factor::wait, to_seconds(waited), "s", wait_factor(waited, s.wait_max)},
                 Term{Factor::fairshare, fairshare, "factor", fairshare},
                 Term{Factor::qos, raw_class(s.qos_priority, in.qos), "priority", class_factor(s.qos_priority, in.qos)},
                 Term{Factor::queue, raw_class(s.queue_priority, in.queue), "priority",
                      class_factor(s.queue_priority, in.queue)},
                 Term{Factor::size, static_cast<double>(in.cores), "cores", size_factor(s, in.cores)},
                 Term{Factor::user, static_cast<double>(in.urgency), "urgency", user_factor(in.urgency)}};
    for (Term& term : out.terms) {
        term.weight = weight_of(s, term.factor_id);
        term.contribution = term.weight * term.factor;
    }
    const auto& t = out.terms;
    const double fixed = ((t[2].contribution + t[3].contribution) + t[4].contribution) + t[5].contribution;
    out.sum = (t[0].contribution + t[1].contribution) + fixed;
    for (Term& term : out.terms) {
        term.share = out.sum > 0. ? term.contribution / out.sum : 0.;
    }
    out.bypass = in.urgency == 0 ? Bypass::held : (in.urgency >= 31 ? Bypass::expedited : Bypass::none);
    out.priority = engine.priority(slot, now, factors);
    return out;
}

Standing standing(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now, std::span<const double> factors,
                  std::size_t limit) {
    using Entry = std::pair<QueueKey, PriorityEngine::Slot>;
    const QueueKey own = key_of(engine, slot, now, factors);
    Standing out;
    out.rank = 1;
    out.of = engine.size();
    const auto farther = [](const Entry& a, const Entry& b) { return b.first < a.first; };
    std::vector<Entry> nearest;  // a heap with the farthest of the nearest on top
    for (std::uint32_t i = 0; i < engine.slots(); i++) {
        const PriorityEngine::Slot other{i};
        if (!engine.is_live(other) || other == slot) {
            continue;
        }
        const Entry entry{key_of(engine, other, now, factors), other};
        if (!(entry.first < own)) {
            continue;
        }
        out.rank++;
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
        Ahead ahead{other, key.id, key.priority, {}, 0., {}};
        explain_lead(mine, breakdown(engine, other, now, factors), ahead);
        out.ahead.push_back(std::move(ahead));
    }
    return out;
}

std::vector<PriorityEngine::Change> in_queue_order(const PriorityEngine& engine, Instant now,
                                                   std::span<const double> factors) {
    std::vector<std::pair<QueueKey, PriorityEngine::Slot>> keys;
    keys.reserve(engine.size());
    for (std::uint32_t i = 0; i < engine.slots(); i++) {
        if (engine.is_live({i})) {
            keys.emplace_back(key_of(engine, {i}, now, factors), PriorityEngine::Slot{i});
        }
    }
    std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<PriorityEngine::Change> out;
    out.reserve(keys.size());
    for (const auto& [key, slot] : keys) {
        out.push_back({key.id, slot, key.priority});
    }
    return out;
}

}  // namespace weir
