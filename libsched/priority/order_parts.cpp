// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's own part and its group. See order_parts.hpp.
#include "libsched/priority/order_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "libfairshare/base/check.hpp"

namespace weir {
namespace {

/// What an ageing job gains in so long a time; fine units.
std::int64_t gain(const PriorityEngine& engine, Duration time) {
    const PrioritySettings& s = engine.settings();
    const double per_us = weight_of(s, Factor::wait) / static_cast<double>(s.wait_max.count());
    return std::llround(per_us * static_cast<double>(time.count()) * (1 << PriorityEngine::fine_bits));
}

}  // namespace

int order_bits(const PrioritySettings& settings) {
    double sum = 1.;
    bool is_bounded = settings.resources.empty();
    for (std::size_t i = 0; i < factor_count; i++) {
        const double weight = weight_of(settings, static_cast<Factor>(i));
        sum += weight;
        is_bounded = is_bounded && (weight <= 0. || !settings.is_raw[i]);
    }
    const auto ceiling = static_cast<double>(settings.ceiling);
    const double most = (is_bounded ? std::min(sum, ceiling) : ceiling) + weight_of(settings, Factor::fairshare);
    return std::clamp(30 - std::ilogb(most), 0, PriorityEngine::fine_bits);
}

std::int64_t OrderParts::gained(const PriorityEngine& engine, Instant now) const {
    return has_origin_ ? gain(engine, now - origin_) : 0;
}

OrderParts::Place OrderParts::described(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue,
                                        Instant now) const {
    const JobInputs job = engine.inputs(slot);
    const bool is_given = job.extras.given.has_value();
    const Duration waited = job.eligible == never ? Duration{} : now - job.eligible;
    Place place;
    place.is_in = job.urgency != 0 && job.urgency < 31;
    place.group = {is_given ? no_factor : job.association, queue,
                   !is_given && job.eligible != never && waited >= Duration{} && waited < engine.settings().wait_max &&
                       weight_of(engine.settings(), Factor::wait) > 0};
    // Of an ageing job from the moment when it began: at `now` two that began one after the other may be rounded apart.
    place.terms = place.group.is_ageing
                      ? engine.fine_priority(slot, job.eligible, {}) - gain(engine, job.eligible - origin_)
                      : engine.fine_priority(slot, now, {});
    place.submit = job.submit;
    place.id = job.id;
    return place;
}

/// `never`: the job's terms do not change with time any more, or not yet.
Instant OrderParts::next_turn(const PriorityEngine& engine, const JobInputs& job, Instant now) {
    const PrioritySettings& s = engine.settings();
    if (job.extras.given || job.eligible == never || weight_of(s, Factor::wait) <= 0) {
        return never;
    }
    const Instant end = job.eligible + s.wait_max;
    return now < job.eligible ? job.eligible : now < end ? end : never;
}

void OrderParts::take_turns(const PriorityEngine& engine, Instant now) {
    while (!turns_.empty() && turns_.front().at <= now) {
        const PriorityEngine::Slot slot = turns_.front().slot;
        std::pop_heap(turns_.begin(), turns_.end());
        turns_.pop_back();
        if (const Place& place = places_[slot.value]; place.is_in) {
            put(engine, slot, place.group.queue, now);
        }
    }
}

void OrderParts::take_out(PriorityEngine::Slot slot) {
    Place& place = places_[slot.value];
    if (place.is_in) {
        const auto group = groups_.find(place.group);
        WEIR_CHECK(group != groups_.end() && group->second.erase(entry_of(place, slot)));
        if (group->second.empty()) {
            groups_.erase(group);
        }
        place.is_in = false;
    }
}

void OrderParts::put(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue, Instant now) {
    if (!has_origin_) {
        has_origin_ = true;
        origin_ = now;
    }
    places_.resize(std::max(places_.size(), engine.slots()));
    const Place next = described(engine, slot, queue, now);
    Place& place = places_[slot.value];
    const bool is_same =
        place.is_in == next.is_in && place.id == next.id && place.terms == next.terms && place.group == next.group;
    take_out(slot);
    if (!are_all_changed_ && !is_same) {
        changed_.push_back(slot);
    }
    place = next;
    if (place.is_in) {
        WEIR_CHECK(groups_[place.group].insert(entry_of(place, slot)));
        add_turn(engine, slot, now);
    }
}

void OrderParts::add_turn(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now) {
    if (const Instant at = next_turn(engine, engine.inputs(slot), now); at != never) {
        turns_.push_back({at, slot});
        std::push_heap(turns_.begin(), turns_.end());
    }
}

void OrderParts::remove(PriorityEngine::Slot slot) {
    if (slot.value < places_.size()) {
        take_out(slot);
    }
}

void OrderParts::refresh(const PriorityEngine& engine, Instant now) {
    turns_.clear();
    for (std::uint32_t i = 0; i < places_.size(); i++) {
        if (!places_[i].is_in) {
            continue;
        }
        const std::uint16_t queue = places_[i].group.queue;
        const Place next = described(engine, {i}, queue, now);
        const bool is_same = next.group == places_[i].group && std::abs(next.terms - places_[i].terms) <= 1;
        if (is_same) {
            add_turn(engine, {i}, now);
        } else {
            put(engine, {i}, queue, now);
        }
    }
}

std::vector<PriorityEngine::Slot> OrderParts::take_changed() {
    if (!std::exchange(are_all_changed_, false)) {
        return std::exchange(changed_, {});
    }
    std::vector<PriorityEngine::Slot> all;
    for (std::uint32_t i = 0; i < places_.size(); i++) {
        if (places_[i].is_in) {
            all.push_back({i});
        }
    }
    return all;
}

}  // namespace weir
