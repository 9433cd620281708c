// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the merge of the groups, and the choice of values. See head_order.hpp.
#include "libsched/priority/head_order.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libfairshare/base/check.hpp"

namespace weir {
namespace {

constexpr std::int64_t head_value_min = std::int64_t{behind_head_max} + 1;
constexpr std::int64_t head_value_max = priority_max;
/// Between two jobs, where there is room: so many places at either end of the head before all values are used up.
constexpr std::int64_t step = 1 << 12;
constexpr std::uint32_t no_factor = UINT32_MAX;

}  // namespace

// ---- the jobs ----

std::int64_t HeadOrder::gained(const PriorityEngine& engine, Instant now) const {
    const PrioritySettings& s = engine.settings();
    const double per_us = weight_of(s, Factor::wait) / static_cast<double>(s.wait_max.count());
    return std::llround(per_us * static_cast<double>((now - origin_).count()) * (1 << PriorityEngine::fine_bits));
}

HeadOrder::Place HeadOrder::described(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue,
                                      Instant now) const {
    const JobInputs job = engine.inputs(slot);
    const bool is_given = job.extras.given.has_value();
    const Duration waited = job.eligible == never ? Duration{} : now - job.eligible;
    Place place;
    place.is_in = job.urgency != 0 && job.urgency < 31;
    place.group = {queue, is_given ? no_factor : job.association,
                   !is_given && job.eligible != never && waited >= Duration{} && waited < engine.settings().wait_max &&
                       weight_of(engine.settings(), Factor::wait) > 0};
    place.entry = {engine.fine_priority(slot, now, {}), job.submit, job.id, slot};
    if (place.group.is_ageing) {
        place.entry.terms -= gained(engine, now);
    }
    return place;
}

/// `never`: the job's terms do not change with time any more, or not yet.
Instant HeadOrder::next_turn(const PriorityEngine& engine, const JobInputs& job, Instant now) {
    const PrioritySettings& s = engine.settings();
    if (job.extras.given || job.eligible == never || weight_of(s, Factor::wait) <= 0) {
        return never;
    }
    const Instant end = job.eligible + s.wait_max;
    return now < job.eligible ? job.eligible : now < end ? end : never;
}

void HeadOrder::take_turns(const PriorityEngine& engine, Instant now) {
    while (!turns_.empty() && turns_.front().at <= now) {
        const PriorityEngine::Slot slot = turns_.front().slot;
        std::pop_heap(turns_.begin(), turns_.end());
        turns_.pop_back();
        if (const Place& place = places_[slot.value]; place.is_in) {
            put(engine, slot, place.group.queue, now);
        }
    }
}

void HeadOrder::take_out(Place& place) {
    if (place.is_in) {
        const auto group = groups_.find(place.group);
        WEIR_CHECK(group != groups_.end() && group->second.erase(place.entry));
        if (group->second.empty()) {
            groups_.erase(group);
        }
        place.is_in = false;
    }
}

void HeadOrder::put(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue, Instant now) {
    if (!has_origin_) {
        has_origin_ = true;
        origin_ = now;
    }
    places_.resize(std::max(places_.size(), engine.slots()));
    Place next = described(engine, slot, queue, now);
    Place& place = places_[slot.value];
    take_out(place);
    next.value = place.entry.id == next.entry.id ? place.value : 0;
    next.has_valued = place.has_valued;
    place = next;
    if (place.is_in) {
        WEIR_CHECK(groups_[place.group].insert(place.entry));
        add_turn(engine, slot, now);
    }
}

void HeadOrder::add_turn(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now) {
    if (const Instant at = next_turn(engine, engine.inputs(slot), now); at != never) {
        turns_.push_back({at, slot});
        std::push_heap(turns_.begin(), turns_.end());
    }
}

void HeadOrder::remove(PriorityEngine::Slot slot) {
    if (slot.value < places_.size()) {
        take_out(places_[slot.value]);
    }
}

void HeadOrder::refresh(const PriorityEngine& engine, Instant now) {
    turns_.clear();
    for (std::uint32_t i = 0; i < places_.size(); i++) {
        if (!places_[i].is_in) {
            continue;
        }
        const std::uint16_t queue = places_[i].group.queue;
        const Place next = described(engine, {i}, queue, now);
        const bool is_same = next.group == places_[i].group && std::abs(next.entry.terms - places_[i].entry.terms) <= 1;
        if (is_same) {
            add_turn(engine, {i}, now);
        } else {
            put(engine, {i}, queue, now);
        }
    }
}

void HeadOrder::clear() {
    *this = HeadOrder(depth_);
}

void HeadOrder::forget_values() {
    for (const PriorityEngine::Slot slot : valued_) {
        places_[slot.value].value = 0;
        places_[slot.value].has_valued = false;
    }
    valued_.clear();
}

// ---- the head ----

bool HeadOrder::advance(Cursor& cursor) {
    const auto& chunks = cursor.entries->chunks();
    cursor.at.index++;
    if (cursor.at.index == chunks[cursor.at.chunk].items.size()) {
        cursor.at = {cursor.at.chunk + 1, 0};
    }
    if (cursor.at.chunk == chunks.size()) {
        return false;
    }
    cursor.entry = &chunks[cursor.at.chunk].items[cursor.at.index];
    cursor.priority = cursor.entry->terms + cursor.added;
    return true;
}

void HeadOrder::choose_of(std::vector<Cursor>& cursors) {
    std::make_heap(cursors.begin(), cursors.end());
    for (std::size_t taken = 0; taken < depth_ && !cursors.empty(); taken++) {
        std::pop_heap(cursors.begin(), cursors.end());
        head_.push_back(cursors.back());
        if (advance(cursors.back())) {
            std::push_heap(cursors.begin(), cursors.end());
        } else {
            cursors.pop_back();
        }
    }
}

void HeadOrder::choose(const PriorityEngine& engine, Instant now, std::span<const double> factors) {
    head_.clear();
    const std::int64_t aged = has_origin_ ? gained(engine, now) : 0;
    std::vector<Cursor> cursors;
    bool is_one_queue = true;
    for (auto group = groups_.begin(); group != groups_.end();) {
        const std::uint16_t queue = group->first.queue;
        cursors.clear();
        for (; group != groups_.end() && group->first.queue == queue; ++group) {
            const Entry& first = group->second.front();
            const std::int64_t added =
                engine.fine_fairshare(group->first.factor, factors) + (group->first.is_ageing ? aged : 0);
            cursors.push_back({first.terms + added, &first, &group->second, {}, added});
        }
        is_one_queue = is_one_queue && head_.empty();
        choose_of(cursors);
    }
    if (!is_one_queue) {
        std::sort(head_.begin(), head_.end(), [](const Cursor& a, const Cursor& b) { return b < a; });
    }
}

// ---- the values ----

void HeadOrder::drop_misplaced() {
    // Patience: ends[k] is the place that ends the best run of k + 1; back[i] the one before i in its run.
    std::vector<std::size_t> ends;
    std::vector<std::size_t> back(wanted_.size());
    constexpr std::size_t none = SIZE_MAX;
    for (std::size_t i = 0; i < wanted_.size(); i++) {
        if (wanted_[i] == 0) {
            continue;
        }
        const auto end = std::lower_bound(ends.begin(), ends.end(), i,
                                          [&](std::size_t e, std::size_t k) { return wanted_[e] > wanted_[k]; });
        back[i] = end == ends.begin() ? none : *(end - 1);
        if (end == ends.end()) {
            ends.push_back(i);
        } else {
            *end = i;
        }
    }
    std::vector<std::uint32_t> kept(wanted_.size(), 0);
    for (std::size_t at = ends.empty() ? none : ends.back(); at != none; at = back[at]) {
        kept[at] = wanted_[at];
    }
    wanted_ = std::move(kept);
}

bool HeadOrder::fill(std::size_t from, std::size_t to) {
    const auto count = static_cast<std::int64_t>(to - from);
    const bool has_above = from > 0;
    const bool has_below = to < wanted_.size();
    std::int64_t above = has_above ? std::int64_t{wanted_[from - 1]} : 0;
    std::int64_t apart = step;
    if (has_above && has_below) {
        apart = std::min(step, (above - std::int64_t{wanted_[to]}) / (count + 1));
    } else if (has_below) {
        above = std::int64_t{wanted_[to]} + step * (count + 1);
    } else if (!has_above) {
        above = (head_value_min + head_value_max) / 2 + step * count / 2;
    }
    if (apart == 0 || above - apart > head_value_max || above - apart * count < head_value_min) {
        return false;
    }
    for (std::size_t i = from; i < to; i++) {
        above -= apart;
        wanted_[i] = static_cast<std::uint32_t>(above);
    }
    return true;
}

bool HeadOrder::fill() {
    for (std::size_t from = 0; from < wanted_.size(); from++) {
        if (wanted_[from] != 0) {
            continue;
        }
        std::size_t to = from;
        while (to < wanted_.size() && wanted_[to] == 0) {
            to++;
        }
        if (!fill(from, to)) {
            return false;
        }
        from = to - 1;
    }
    return true;
}

void HeadOrder::spread() {
    const auto count = static_cast<std::int64_t>(wanted_.size());
    const std::int64_t apart = std::min(step, (head_value_max - head_value_min) / (count + 1));
    std::int64_t next = (head_value_min + head_value_max) / 2 + apart * count / 2;
    for (std::uint32_t& value : wanted_) {
        value = static_cast<std::uint32_t>(next);
        next -= apart;
    }
}

void HeadOrder::send_new() {
    for (std::size_t i = 0; i < head_.size(); i++) {
        Place& place = places_[head_[i].entry->slot.value];
        if (place.value != wanted_[i]) {
            if (!std::exchange(place.has_valued, true)) {
                valued_.push_back(place.entry.slot);
            }
            place.value = wanted_[i];
            sends_.push_back({place.entry.id, place.entry.slot, wanted_[i]});
        }
    }
}

void HeadOrder::send_back_leavers() {
    // Who left the head keeps his value as long as it is below all of the head: he may come back.
    const std::uint32_t least = wanted_.empty() ? UINT32_MAX : wanted_.back();
    const std::size_t leavers_max = 4 * depth_;
    std::size_t leavers = 0;
    std::erase_if(valued_, [&](PriorityEngine::Slot slot) {
        Place& place = places_[slot.value];
        if (place.value != 0 && place.is_in && (place.is_listed || (place.value < least && ++leavers <= leavers_max))) {
            return false;
        }
        place.has_valued = false;
        if (std::exchange(place.value, 0) != 0) {
            sends_.push_back({place.entry.id, slot, 0});
        }
        return true;
    });
}

std::span<const HeadOrder::Send> HeadOrder::pass(const PriorityEngine& engine, Instant now,
                                                 std::span<const double> factors) {
    sends_.clear();
    take_turns(engine, now);
    choose(engine, now, factors);
    wanted_.clear();
    for (const Cursor& place : head_) {
        places_[place.entry->slot.value].is_listed = true;
        wanted_.push_back(places_[place.entry->slot.value].value);
    }
    drop_misplaced();
    if (!fill()) {
        spread();
    }
    send_new();
    send_back_leavers();
    for (const Cursor& place : head_) {
        places_[place.entry->slot.value].is_listed = false;
    }
    return sends_;
}

}  // namespace weir
