// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the arrays and the pass. The pass reads 25 bytes of five arrays a job and one fair-share factor; rounding is
// floor(x + 0.5), which equals round-half-away for every sum in [0.5, 2^32] and cannot matter below, where 1 is least.
#include "libsched/priority/engine.hpp"

#include <algorithm>
#include <array>

#include "libfairshare/base/check.hpp"

namespace weir {
namespace {

std::int64_t micros(Instant t) {
    return t.time_since_epoch().count();
}

struct PassValues {
    double wait_weight;
    double wait_max_us;
    double fairshare_weight;
};

/// The one formula. Every caller adds in this order, so a breakdown's sum and the pass agree to the last bit.
inline std::uint32_t combine(const PassValues& v, std::int64_t waited_us, double fairshare, double fixed) {
    double wait = static_cast<double>(waited_us) / v.wait_max_us;
    wait = wait < 0. ? 0. : (wait > 1. ? 1. : wait);
    double sum = (v.wait_weight * wait + v.fairshare_weight * fairshare) + fixed;
    sum = sum + 0.5;
    constexpr auto highest = static_cast<double>(priority_max);
    sum = sum > highest ? highest : sum;
    sum = sum < 1. ? 1. : sum;
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
}

PassValues pass_values(const PrioritySettings& settings) {
    return {weight_of(settings, Factor::wait), static_cast<double>(settings.wait_max.count()),
            weight_of(settings, Factor::fairshare)};
}

double class_table_value(const std::vector<double>& table, std::size_t index) {
    return index < table.size() ? table[index] : 0.;
}

inline std::uint32_t bypass_or(std::uint8_t urgency, std::uint32_t computed) {
    const std::uint32_t unless_expedited = urgency >= 31 ? priority_expedited : computed;
    return urgency == 0 ? priority_held : unless_expedited;
}

}  // namespace

PriorityEngine::PriorityEngine(PrioritySettings settings) {
    configure(std::move(settings));
}

double PriorityEngine::static_part(std::size_t i) const {
    double sum = weight_of(settings_, Factor::qos) * class_table_value(qos_factors_, qos_[i]);
    sum += weight_of(settings_, Factor::queue) * class_table_value(queue_factors_, queue_[i]);
    sum += weight_of(settings_, Factor::size) * size_factor(settings_, cores_[i]);
    sum += weight_of(settings_, Factor::user) * user_factor(urgency_[i]);
    return sum;
}

void PriorityEngine::configure(PrioritySettings settings) {
    WEIR_CHECK(validate(settings).has_value());
    settings_ = std::move(settings);
    qos_factors_ = class_factors(settings_.qos_priority);
    queue_factors_ = class_factors(settings_.queue_priority);
    for (std::size_t i = 0; i < slots(); i++) {
        static_[i] = static_part(i);
    }
}

void PriorityEngine::store(std::size_t i, const JobInputs& inputs) {
    WEIR_CHECK(inputs.association <= index_mask);
    id_[i] = inputs.id;
    submit_us_[i] = micros(inputs.submit);
    eligible_us_[i] = micros(inputs.eligible);
    association_[i] = (association_[i] & unpushed_bit) | inputs.association;
    cores_[i] = inputs.cores;
    queue_[i] = inputs.queue;
    qos_[i] = inputs.qos;
    urgency_[i] = inputs.urgency;
    static_[i] = static_part(i);
}

PriorityEngine::Slot PriorityEngine::insert(const JobInputs& inputs) {
    std::size_t i = slots();
    if (!free_.empty()) {
        i = free_.back();
        free_.pop_back();
    } else {
        WEIR_CHECK(i < index_mask);
        const auto grow = [i](auto& array) { array.resize(i + 1); };
        grow(eligible_us_), grow(static_), grow(association_), grow(pushed_), grow(urgency_);
        grow(id_), grow(submit_us_), grow(cores_), grow(queue_), grow(qos_);
    }
    association_[i] = unpushed_bit;
    pushed_[i] = 0;
    store(i, inputs);
    live_++;
    return Slot{static_cast<std::uint32_t>(i)};
}

void PriorityEngine::update(Slot slot, const JobInputs& inputs) {
    WEIR_CHECK(is_live(slot));
    store(slot.value, inputs);
}

void PriorityEngine::remove(Slot slot) {
    WEIR_CHECK(is_live(slot));
    association_[slot.value] = free_bit;
    free_.push_back(slot.value);
    live_--;
}

std::uint32_t PriorityEngine::compute(std::size_t i, std::int64_t now_us, std::span<const double> factors) const {
    const std::uint32_t a = association_[i] & index_mask;
    const double fairshare = a < factors.size() ? factors[a] : 0.;
    return bypass_or(urgency_[i], combine(pass_values(settings_), now_us - eligible_us_[i], fairshare, static_[i]));
}

void PriorityEngine::pass(Instant now, std::span<const double> factors, std::vector<Change>& changed) {
    const PassValues values = pass_values(settings_);
    const std::int64_t now_us = micros(now);
    // In blocks: compute, then pick what changed without a branch a job, then append. Mispredicted branches would cost
    // more than the arithmetic.
    constexpr std::size_t block = 512;
    std::array<std::uint32_t, block> priorities;
    std::array<std::uint32_t, block> picked;
    for (std::size_t from = 0; from < slots(); from += block) {
        const std::size_t count = std::min(block, slots() - from);
        const std::int64_t* eligible = eligible_us_.data() + from;
        const double* fixed = static_.data() + from;
        const std::uint32_t* association = association_.data() + from;
        const std::uint32_t* pushed = pushed_.data() + from;
        const std::uint8_t* urgency = urgency_.data() + from;
        for (std::size_t i = 0; i < count; i++) {
            const std::uint32_t a = association[i] & index_mask;
            const double fairshare = a < factors.size() ? factors[a] : 0.;
            priorities[i] = bypass_or(urgency[i], combine(values, now_us - eligible[i], fairshare, fixed[i]));
        }
        std::size_t picks = 0;
        for (std::size_t i = 0; i < count; i++) {
            picked[picks] = static_cast<std::uint32_t>(i);
            const bool is_news = priorities[i] != pushed[i] || (association[i] & unpushed_bit) != 0;
            picks += static_cast<std::size_t>(is_news && (association[i] & free_bit) == 0);
        }
        const std::size_t before = changed.size();
        changed.resize(before + picks);
        Change* out = changed.data() + before;
        for (std::size_t k = 0; k < picks; k++) {
            const std::size_t i = from + picked[k];
            pushed_[i] = priorities[picked[k]];
            association_[i] &= index_mask;
            out[k] = Change{id_[i], Slot{static_cast<std::uint32_t>(i)}, priorities[picked[k]]};
        }
    }
}

void PriorityEngine::pass_one(Slot slot, Instant now, std::span<const double> factors, std::vector<Change>& changed) {
    WEIR_CHECK(is_live(slot));
    const std::size_t i = slot.value;
    const std::uint32_t priority = compute(i, micros(now), factors);
    if (priority != pushed_[i] || !was_pushed(slot)) {
        pushed_[i] = priority;
        association_[i] &= index_mask;
        changed.push_back(Change{id_[i], slot, priority});
    }
}

void PriorityEngine::forget_pushed(Slot slot) {
    WEIR_CHECK(is_live(slot));
    association_[slot.value] |= unpushed_bit;
}

void PriorityEngine::forget_pushed() {
    for (std::uint32_t& word : association_) {
        word |= (word & free_bit) == 0 ? unpushed_bit : 0;
    }
}

bool PriorityEngine::is_live(Slot slot) const {
    return slot.value < slots() && (association_[slot.value] & free_bit) == 0;
}

bool PriorityEngine::was_pushed(Slot slot) const {
    return (association_[slot.value] & unpushed_bit) == 0;
}

JobInputs PriorityEngine::inputs(Slot slot) const {
    const std::size_t i = slot.value;
    return JobInputs{id_[i],
                     Instant{Duration{submit_us_[i]}},
                     Instant{Duration{eligible_us_[i]}},
                     association_[i] & index_mask,
                     cores_[i],
                     queue_[i],
                     qos_[i],
                     urgency_[i]};
}

std::uint32_t PriorityEngine::priority(Slot slot, Instant now, std::span<const double> factors) const {
    WEIR_CHECK(is_live(slot));
    return compute(slot.value, micros(now), factors);
}

}  // namespace weir
