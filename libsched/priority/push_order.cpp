// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the choice of what is sent. See push_order.hpp.
#include "libsched/priority/push_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir {
namespace {

constexpr std::int64_t value_min = priority_min;
constexpr std::int64_t value_max = priority_max;
constexpr std::int64_t middle = (value_min + value_max) / 2;
/// A priority unit gets as many values as leave this many units of room for what jobs gain.
constexpr double gap_units = 0x1p16;
constexpr std::int64_t spread_max = 1 << 12;
constexpr double one_unit = 1 << PriorityEngine::fine_bits;

}  // namespace

PushOrder::PushOrder(double error) : slack_fine_(std::llround(std::min(error, 0x1p40) / 2 * one_unit)) {}

void PushOrder::forget() {
    for (Sent& sent : sent_) {
        sent.value = 0;
        sent.has_aged = false;
    }
    has_origin_ = false;
}

double PushOrder::gained(const PriorityEngine& engine, Instant now) const {
    const PrioritySettings& s = engine.settings();
    const double per_us = weight_of(s, Factor::wait) / static_cast<double>(s.wait_max.count());
    return per_us * static_cast<double>((now - origin_).count());
}

void PushOrder::set_gained(double units) {
    gained_ = std::llround(units * static_cast<double>(spread_));
    gained_fine_ = std::llround(units * one_unit);
}

void PushOrder::set_origin(const PriorityEngine& engine, Instant now) {
    const PrioritySettings& s = engine.settings();
    if (has_origin_) {
        const double units = gained(engine, now);
        if (units * static_cast<double>(spread_) < static_cast<double>(middle) / 2) {
            set_gained(units);
            return;
        }
        forget();
        crowded_++;
    }
    has_origin_ = true;
    origin_ = now;
    set_gained(0.);
    double sum = gap_units;
    for (const double weight : s.weights) {
        sum += weight;
    }
    const double spread = static_cast<double>(middle) / 2 / sum;
    spread_ = std::clamp(static_cast<std::int64_t>(spread), std::int64_t{1}, spread_max);
}

PushOrder::Sent& PushOrder::sent_of(const PriorityEngine& engine, PriorityEngine::Slot slot) {
    sent_.resize(std::max(sent_.size(), engine.slots()));
    Sent& sent = sent_[slot.value];
    if (const JobId id = engine.inputs(slot).id; !(sent.id == id)) {
        sent = Sent{};
        sent.id = id;
    }
    return sent;
}

std::int64_t PushOrder::key_of(Sent& sent, std::int64_t fine) const {
    const std::int64_t aged = fine - gained_fine_;
    if (!sent.has_aged || std::abs(aged - sent.aged) > slack_fine_) {
        sent.has_aged = true;
        sent.aged = aged;
    }
    return sent.aged + gained_fine_;
}

PriorityEngine::Change PushOrder::place(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now,
                                        std::span<const double> factors) {
    if (has_origin_) {
        set_gained(gained(engine, now));
    } else {
        set_origin(engine, now);
    }
    Sent& sent = sent_of(engine, slot);
    const std::int64_t key = key_of(sent, engine.fine_priority(slot, now, factors));
    sent.value = static_cast<std::uint32_t>(std::clamp(wanted(key), value_min, value_max));
    return {sent.id, slot, sent.value};
}

void PushOrder::collect(const PriorityEngine& engine, Instant now, std::span<const double> factors) {
    places_.clear();
    sent_.resize(engine.slots());
    const auto take = [&](PriorityEngine::Slot slot) {
        const JobInputs in = engine.inputs(slot);
        Sent& sent = sent_of(engine, slot);
        sent.is_listed = in.urgency != 0 && in.urgency < 31;
        if (sent.is_listed) {
            const std::int64_t key = key_of(sent, engine.fine_priority(slot, now, factors));
            places_.push_back({{key, in.submit, in.id}, slot, sent.value});
        } else {
            sent.value = 0;
            sent.has_aged = false;
        }
    };
    for (const PriorityEngine::Slot slot : order_) {
        sent_[slot.value].is_listed = false;
        if (engine.is_live(slot)) {
            take(slot);
        }
    }
    for (std::uint32_t i = 0; i < engine.slots(); i++) {
        if (!sent_[i].is_listed && engine.is_live({i})) {
            take({i});
        }
    }
    const auto is_before = [](const Place& a, const Place& b) { return a.key < b.key; };
    if (!std::is_sorted(places_.begin(), places_.end(), is_before)) {
        std::sort(places_.begin(), places_.end(), is_before);
    }
}

void PushOrder::drop_misplaced() {
    const auto sent_key = [&](std::size_t i) {
        return QueueKey{places_[i].value, places_[i].key.submit, places_[i].key.id};
    };
    // Patience: ends[k] is the place that ends the best run of k + 1; back[i] the one before i in its run.
    std::vector<std::uint32_t> ends;
    std::vector<std::uint32_t> back(places_.size());
    constexpr std::uint32_t none = 0xFFFFFFFFU;
    for (std::size_t i = 0; i < places_.size(); i++) {
        if (places_[i].value == 0) {
            continue;
        }
        const QueueKey key = sent_key(i);
        auto end = ends.end();
        if (!ends.empty() && !(sent_key(ends.back()) < key)) {
            end = std::lower_bound(ends.begin(), ends.end(), key,
                                   [&](std::uint32_t e, const QueueKey& k) { return sent_key(e) < k; });
        }
        back[i] = end == ends.begin() ? none : *(end - 1);
        const auto here = static_cast<std::uint32_t>(i);
        if (end == ends.end()) {
            ends.push_back(here);
        } else {
            *end = here;
        }
    }
    std::size_t kept = places_.size();
    for (std::uint32_t at = ends.empty() ? none : ends.back(); at != none; at = back[at]) {
        for (std::size_t i = at + std::size_t{1}; i < kept; i++) {
            places_[i].value = 0;
        }
        kept = at;
    }
    for (std::size_t i = 0; i < kept; i++) {
        places_[i].value = 0;
    }
}

std::int64_t PushOrder::wanted(std::int64_t fine) const {
    return middle + ((spread_ * fine) >> PriorityEngine::fine_bits) - gained_;
}

/// At equal values the other queue sorts by submission and id.
bool PushOrder::is_before_at_equal_values(std::size_t a, std::size_t b) const {
    const FineKey& first = places_[a].key;
    const FineKey& second = places_[b].key;
    return QueueKey{0, first.submit, first.id} < QueueKey{0, second.submit, second.id};
}

bool PushOrder::fill(std::size_t from, std::size_t to) {
    // What each may have at least, from the last upwards.
    least_.resize(to - from);
    std::int64_t least = value_min;
    for (std::size_t i = to; i-- > from;) {
        if (i + 1 < places_.size()) {
            const bool is_last = i + 1 == to;
            const std::int64_t next = is_last ? std::int64_t{places_[to].value} : least_[i + 1 - from];
            least = next + (is_before_at_equal_values(i, i + 1) ? 0 : 1);
        }
        least_[i - from] = least;
    }
    std::int64_t most = value_max;
    for (std::size_t i = from; i < to; i++) {
        if (i > 0) {
            most = std::int64_t{places_[i - 1].value} - (is_before_at_equal_values(i - 1, i) ? 0 : 1);
        }
        least = least_[i - from];
        if (least > most) {
            return false;  // only ever at the first: the others' least follows from its
        }
        // Where it wants to be, or as near as leaves room for the next to come between.
        const auto others = static_cast<std::int64_t>(to - i);
        const std::int64_t step = std::min((most - least) / (others + 1), spread_ / 2);
        places_[i].value =
            static_cast<std::uint32_t>(std::clamp(wanted(places_[i].key.priority), least + step, most - step));
    }
    return true;
}

void PushOrder::fill_all() {
    for (std::size_t from = 0; from < places_.size(); from++) {
        if (places_[from].value != 0) {
            continue;
        }
        std::size_t to = from + 1;
        while (to < places_.size() && places_[to].value == 0) {
            to++;
        }
        std::size_t begin = from;
        for (std::size_t wider = 1; !fill(begin, to); wider *= 2) {
            // No room: neighbours on both sides move as well, twice as many each time.
            crowded_++;
            begin -= std::min(begin, wider);
            to = std::min(places_.size(), to + wider);
            while (to < places_.size() && places_[to].value == 0) {
                to++;
            }
            for (std::size_t i = begin; i < to; i++) {
                places_[i].value = 0;
            }
        }
        from = to - 1;
    }
}

std::span<const PriorityEngine::Change> PushOrder::pass(const PriorityEngine& engine, Instant now,
                                                        std::span<const double> factors) {
    set_origin(engine, now);
    collect(engine, now, factors);
    drop_misplaced();
    fill_all();
    sends_.clear();
    order_.clear();
    for (const Place& place : places_) {
        order_.push_back(place.slot);
        Sent& sent = sent_[place.slot.value];
        if (sent.value != place.value) {
            sent.value = place.value;
            sends_.push_back({place.key.id, place.slot, place.value});
        }
    }
    return sends_;
}

}  // namespace weir
