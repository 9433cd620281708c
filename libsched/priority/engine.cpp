// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the arrays and the pass. The pass reads 25 bytes of five arrays a job and one fair-share factor; rounding is
// floor(x + 0.5), which equals round-half-away for every sum in [0.5, 2^32] and cannot matter below, where 1 is least.
#include "libsched/priority/engine.hpp"

#include <algorithm>
#include <array>

#include "libfairshare/base/check.hpp"
#include "libsched/priority/pass_block.hpp"

namespace weir {
namespace {

PassValues pass_values(const PrioritySettings& settings) {
    return {weight_of(settings, Factor::wait), settings.wait_max.count(), weight_of(settings, Factor::fairshare),
            settings.rounding == Rounding::nearest ? 0.5 : 0x1p-30, static_cast<double>(settings.ceiling)};
}

}  // namespace

PriorityEngine::PriorityEngine(PrioritySettings settings) {
    configure(std::move(settings));
}

double PriorityEngine::static_part(const JobInputs& job) const {
    if (job.extras.given) {
        return static_cast<double>(*job.extras.given);
    }
    double sum = 0.;
    for (std::size_t f = index_of(Factor::qos); f < factor_count; f++) {
        sum += settings_.weights[f] * fixed_factor(static_cast<Factor>(f), settings_, classes_, job);
    }
    return sum;
}

void PriorityEngine::configure(PrioritySettings settings) {
    WEIR_CHECK(validate(settings).has_value());
    settings_ = std::move(settings);
    classes_ = ClassFactors(settings_);
    floor_.resize(settings_.only_raises ? slots() : 0);
    for (std::size_t i = 0; i < slots(); i++) {
        static_[i] = static_part(inputs(Slot{static_cast<std::uint32_t>(i)}));
    }
}

void PriorityEngine::store(std::size_t i, const JobInputs& job) {
    WEIR_CHECK(job.association < index_mask);
    const bool is_given = job.extras.given.has_value();
    if (!(job.extras == JobExtras{}) || !extras_.empty()) {
        extras_.resize(slots());
        extras_[i] = Extra{job.extras, job.eligible, job.association};
    }
    id_[i] = job.id;
    submit_us_[i] = micros(job.submit);
    eligible_us_[i] = micros(is_given ? never : job.eligible);
    association_[i] = (association_[i] & unpushed_bit) | (is_given ? index_mask : job.association);
    cores_[i] = job.cores;
    queue_[i] = job.queue;
    qos_[i] = job.qos;
    urgency_[i] = job.urgency;
    static_[i] = static_part(job);
}

void PriorityEngine::drop_floor(std::size_t i) {
    if (settings_.only_raises) {
        floor_.resize(slots());
        floor_[i] = 0;
    }
}

template <typename Apply>
void PriorityEngine::each_column(Apply apply) {
    apply(eligible_us_);
    apply(static_);
    apply(association_);
    apply(pushed_);
    apply(urgency_);
    apply(id_);
    apply(submit_us_);
    apply(cores_);
    apply(queue_);
    apply(qos_);
}

void PriorityEngine::reserve(std::size_t jobs) {
    each_column([jobs](auto& column) { column.reserve(jobs); });
}

PriorityEngine::Slot PriorityEngine::insert(const JobInputs& inputs) {
    std::size_t i = slots();
    if (!free_.empty()) {
        i = free_.back();
        free_.pop_back();
    } else {
        WEIR_CHECK(i < index_mask);
        each_column([i](auto& column) { column.resize(i + 1); });
    }
    association_[i] = unpushed_bit;
    pushed_[i] = 0;
    store(i, inputs);
    drop_floor(i);
    live_++;
    return Slot{static_cast<std::uint32_t>(i)};
}

void PriorityEngine::update(Slot slot, const JobInputs& inputs) {
    WEIR_CHECK(is_live(slot));
    store(slot.value, inputs);
    drop_floor(slot.value);
}

void PriorityEngine::renew(Slot slot, const JobInputs& inputs) {
    WEIR_CHECK(is_live(slot));
    if (this->inputs(slot).extras.given != inputs.extras.given) {
        drop_floor(slot.value);
    }
    store(slot.value, inputs);
}

void PriorityEngine::remove(Slot slot) {
    WEIR_CHECK(is_live(slot));
    association_[slot.value] = free_bit;
    free_.push_back(slot.value);
    live_--;
}

double PriorityEngine::fairshare_of(std::size_t i, std::span<const double> factors) const {
    const std::uint32_t a = association_[i] & index_mask;
    return a < factors.size() ? factors[a] : 0.;
}

std::uint32_t PriorityEngine::compute_afresh(std::size_t i, std::int64_t now_us, double factor) const {
    const double sum = combine(pass_values(settings_), now_us - eligible_us_[i], factor, static_[i]);
    return bypass_or(urgency_[i], whole(sum));
}

std::uint32_t PriorityEngine::compute(std::size_t i, std::int64_t now_us, double factor) const {
    const std::uint32_t priority = compute_afresh(i, now_us, factor);
    return settings_.only_raises ? std::max(priority, floor_[i]) : priority;
}

void PriorityEngine::pass(Instant now, std::span<const double> factors, std::vector<Change>& changed) {
    const PassValues values = pass_values(settings_);
    const std::int64_t now_us = micros(now);
    padded_.assign(factors.begin(), factors.end());
    padded_.push_back(0.);
    // In blocks: compute, then pick what changed without a branch a job, then append. Mispredicted branches would cost
    // more than the arithmetic. Blocks where nothing changed are only read.
    std::array<std::uint32_t, pass_block> priorities;
    for (std::size_t from = 0; from < slots(); from += pass_block) {
        const std::size_t count = std::min(pass_block, slots() - from);
        compute_block(values,
                      {eligible_us_.data() + from, static_.data() + from, association_.data() + from,
                       urgency_.data() + from, index_mask, padded_.data(), static_cast<std::uint32_t>(factors.size())},
                      now_us, count, priorities.data());
        if (settings_.only_raises) {
            for (std::size_t i = 0; i < count; i++) {
                priorities[i] = floor_[from + i] = std::max(priorities[i], floor_[from + i]);
            }
        }
        take_changes(from, std::span(priorities).first(count), changed);
    }
}

void PriorityEngine::take_changes(std::size_t from, std::span<const std::uint32_t> priorities,
                                  std::vector<Change>& changed) {
    const std::uint32_t* pushed = pushed_.data() + from;
    const std::uint32_t* association = association_.data() + from;
    std::uint32_t differences = 0;
    std::uint32_t flags = 0;
    for (std::size_t i = 0; i < priorities.size(); i++) {
        differences |= priorities[i] ^ pushed[i];
        flags |= association[i];
    }
    if (differences == 0 && (flags & unpushed_bit) == 0) {
        return;
    }
    std::array<std::uint32_t, pass_block> picked;
    std::size_t picks = 0;
    for (std::size_t i = 0; i < priorities.size(); i++) {
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
        out[k] = Change{id_[i], Slot{static_cast<std::uint32_t>(i)}, priorities[picked[k]]};
    }
    for (std::size_t k = 0; (flags & unpushed_bit) != 0 && k < picks; k++) {
        association_[from + picked[k]] &= index_mask;
    }
}

void PriorityEngine::pass_one(Slot slot, Instant now, std::span<const double> factors, std::vector<Change>& changed) {
    WEIR_CHECK(is_live(slot));
    const std::size_t i = slot.value;
    const std::uint32_t priority = compute(i, micros(now), fairshare_of(i, factors));
    if (settings_.only_raises) {
        floor_[i] = priority;
    }
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
    JobInputs job{id_[i],
                  Instant{Duration{submit_us_[i]}},
                  Instant{Duration{eligible_us_[i]}},
                  association_[i] & index_mask,
                  cores_[i],
                  queue_[i],
                  qos_[i],
                  urgency_[i],
                  {}};
    if (!extras_.empty()) {
        job.extras = extras_[i].given;
    }
    if (job.extras.given) {
        job.eligible = extras_[i].eligible;
        job.association = extras_[i].association;
    }
    return job;
}

std::uint32_t PriorityEngine::priority(Slot slot, Instant now, std::span<const double> factors) const {
    WEIR_CHECK(is_live(slot));
    return compute(slot.value, micros(now), fairshare_of(slot.value, factors));
}

std::uint32_t PriorityEngine::priority(Slot slot, Instant now, double factor) const {
    WEIR_CHECK(is_live(slot));
    const bool is_given = !extras_.empty() && extras_[slot.value].given.given.has_value();
    return compute(slot.value, micros(now), is_given ? 0. : factor);
}

bool PriorityEngine::is_kept_up(Slot slot, Instant now, std::span<const double> factors) const {
    WEIR_CHECK(is_live(slot));
    return settings_.only_raises &&
           floor_[slot.value] > compute_afresh(slot.value, micros(now), fairshare_of(slot.value, factors));
}

std::int64_t PriorityEngine::fine_priority(Slot slot, Instant now, std::span<const double> factors) const {
    const std::uint32_t priority = this->priority(slot, now, factors);
    const std::size_t i = slot.value;
    const double sum =
        combine(pass_values(settings_), micros(now) - eligible_us_[i], fairshare_of(i, factors), static_[i]);
    const auto fine = static_cast<std::int64_t>(sum * static_cast<double>(1 << fine_bits));
    // Held, expedited or kept up by an earlier pass: the sum does not count.
    return fine >> fine_bits == priority ? fine : std::int64_t{priority} << fine_bits;
}

std::int64_t PriorityEngine::fine_fairshare(std::uint32_t association, std::span<const double> factors) const {
    const double factor = association < factors.size() ? factors[association] : 0.;
    return static_cast<std::int64_t>(weight_of(settings_, Factor::fairshare) * factor * (1 << fine_bits));
}

}  // namespace weir
