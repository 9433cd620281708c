// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a pass recomputes and sends: values, numbers for display, and the head in order. See pending_queue.hpp.
#include <algorithm>
#include <utility>

#include "modules/job-priority/ranking/pending_queue.hpp"

namespace weir::priority {
namespace {

/// A point of priority.
constexpr std::int64_t aged_step = std::int64_t{1} << PriorityEngine::fine_bits;

}  // namespace

std::size_t PendingQueue::hand_over(Pusher& pusher) {
    std::size_t count = 0;
    for (const PriorityEngine::Change& change : changes_) {
        if (change.priority != priority_held && change.priority != priority_expedited) {
            const bool is_urgent = (has_order() && !is_routed_) || is_all_news_ || is_marked(change.id.value) ||
                                   !pusher.has_wanted(change.id.value);
            if (is_urgent) {
                pusher.want(change.id.value, change.priority);
            } else {
                pusher.want_shown(change.id.value, change.priority);
            }
            count += 1;
        }
    }
    return count;
}

/// A first value that the plugin gave costs nothing when it is sent again. Any other number is sent for display.
void PendingQueue::hand_over_first(const PriorityEngine::Change& change, Pusher& pusher) {
    const std::uint32_t number = behind_head(change.priority);
    const std::uint32_t expected = std::exchange(places_.at(change.id.value).expected, 0);
    pusher.want(change.id.value, expected == 0 ? number : expected);
    if (expected != 0 && expected != number) {
        engine_.forget_pushed(change.slot);
    }
}

void PendingQueue::hand_over_shown(const PriorityEngine::Change& change, Pusher& pusher) {
    const FluxJobId id = change.id.value;
    if (!pusher.has_wanted(id)) {
        hand_over_first(change, pusher);
    } else if (is_all_news_ || is_marked(id)) {
        pusher.want(id, behind_head(change.priority));
    } else {
        pusher.want_shown(id, behind_head(change.priority));
    }
}

std::size_t PendingQueue::hand_over_numbers(const Moment& at, Pusher& pusher) {
    if (scheduler_.takes_order) {
        for (const PriorityEngine::Change& change : changes_) {
            if (change.priority != priority_held && change.priority != priority_expedited) {
                hand_over_shown(change, pusher);
            }
        }
    } else if (is_all_news_) {
        for (const auto& [id, place] : places_) {
            hand_over_number(id, place.slot, at, pusher);
        }
    } else {
        for (const FluxJobId id : marked_) {
            hand_over_number(id, places_.at(id).slot, at, pusher);
        }
    }
    return changes_.size();
}

void PendingQueue::hand_over_number(FluxJobId id, PriorityEngine::Slot slot, const Moment& at, Pusher& pusher) {
    const std::uint32_t priority = engine_.priority(slot, at.now, at.factors);
    if (priority == priority_held || priority == priority_expedited) {
        return;
    }
    head_.set_number(slot, number_of(engine_, slot, at));
    if (head_.value(slot) == 0) {
        pusher.want(id, head_.number(slot));
    }
}

std::uint32_t PendingQueue::number_of(const PriorityEngine& engine, PriorityEngine::Slot slot, const Moment& at) {
    const NumberBases::Basis basis = bases_.of(engine.inputs(slot).association, at.now, at.factors);
    return behind_head(engine.priority(slot, basis.at, basis.factor));
}

void PendingQueue::put_marked_into_head(Instant now) {
    for (const FluxJobId id : marked_) {
        const Place& place = places_.at(id);
        if (place.is_held_back) {
            head_.remove(place.slot);
        } else {
            head_.put(engine_, place.slot, place.head_queue, now);
        }
    }
}

/// In the order of the ids, once each. None has left unless there are more marks than marked jobs.
void PendingQueue::sort_marks() {
    if (marked_.size() != marked_now_) {
        std::erase_if(marked_, [this](FluxJobId id) {
            const auto known = places_.find(id);
            return known == places_.end() || known->second.marked_for != round_;
        });
    }
    std::sort(marked_.begin(), marked_.end());
    marked_.erase(std::unique(marked_.begin(), marked_.end()), marked_.end());
}

void PendingQueue::forget_marks() {
    marked_.clear();
    marked_now_ = 0;
    round_ += 1;
    marked_factors_.clear();
}

std::size_t PendingQueue::pass(Instant now, std::span<const double> factors, Pusher& pusher) {
    changes_.clear();
    sort_marks();
    engine_.pass(now, factors, changes_);
    std::size_t changed = changes_.size();
    if (has_head()) {
        put_marked_into_head(now);
        head_.refresh(engine_, now);
        bases_.keep_if([this](std::uint32_t factor) { return count_of(factor) != 0; });
        changed = hand_over_numbers({now, factors}, pusher);
    } else if (!has_order()) {
        changed = hand_over(pusher);
    } else {
        for (const PriorityEngine::Change& send : order_.pass(engine_, now, factors)) {
            pusher.want(send.id.value, send.priority);
        }
    }
    is_all_news_ = false;
    forget_marks();
    return changed;
}

void PendingQueue::evaluate_marked_factors(Instant now, std::span<const double> factors) {
    for (const std::uint32_t factor : marked_factors_) {
        for (std::size_t index = 0; index < count_of(factor); ++index) {
            engine_.pass_one(by_factor_[factor][index], now, factors, changes_);
        }
    }
}

std::size_t PendingQueue::pass_marked(Instant now, std::span<const double> factors, Pusher& pusher) {
    changes_.clear();
    sort_marks();
    for (const FluxJobId id : marked_) {
        engine_.pass_one(places_.at(id).slot, now, factors, changes_);
    }
    std::size_t changed = 0;
    if (has_head()) {
        put_marked_into_head(now);
        changed = hand_over_numbers({now, factors}, pusher);
    } else {
        evaluate_marked_factors(now, factors);
        for (PriorityEngine::Change& change : changes_) {
            const bool is_ordered = change.priority != priority_held && change.priority != priority_expedited;
            if (has_order() && is_ordered) {
                change = order_.place(engine_, change.slot, now, factors);
            }
        }
        changed = hand_over(pusher);
    }
    forget_marks();
    return changed;
}

// ---- the head ----

void PendingQueue::put_admitted_into_head(Instant now) {
    for (const FluxJobId id : std::exchange(admitted_, {})) {
        if (const auto known = places_.find(id); known != places_.end() && !known->second.is_held_back) {
            head_.put(engine_, known->second.slot, known->second.head_queue, now);
        }
    }
}

void PendingQueue::push_head(Moment at, bool is_full, Pusher& job_manager, OrderFeed& scheduler) {
    if (!has_head()) {
        return;
    }
    put_admitted_into_head(at.now);
    if (scheduler_.takes_order) {
        push_parts(at, is_full, scheduler);
    } else {
        push_values(at, job_manager);
    }
}

void PendingQueue::push_values(const Moment& at, Pusher& job_manager) {
    for (const HeadOrder::Send& send : head_.pass(engine_, at.now, at.factors)) {
        const auto known = places_.find(send.id.value);
        if (known == places_.end()) {
            continue;
        }
        // A job that has been held or expedited ever since gets its number when it is released.
        const std::uint32_t number = std::max(head_.number(known->second.slot), priority_min);
        job_manager.want(send.id.value, send.value != 0 ? send.value : number);
    }
}

void PendingQueue::push_parts(const Moment& at, bool is_full, OrderFeed& scheduler) {
    OrderParts& parts = head_.parts();
    // The numbers of another policy are whole, and may take all 32 bits.
    const int bits = given_first() ? 0 : order_bits(engine_.settings());
    if (scheduler.set_bits(bits)) {
        parts.mark_all();
    }
    const int dropped = PriorityEngine::fine_bits - bits;
    const auto group_of = [](const OrderParts::Group& group) {
        return group.factor << 1 | static_cast<std::uint32_t>(group.is_ageing);  // indices are small
    };
    parts.take_turns(engine_, at.now);
    for (const PriorityEngine::Slot slot : parts.take_changed()) {
        if (const OrderParts::Place& place = parts.at(slot); place.is_in) {
            scheduler.want(place.id.value, {group_of(place.group), place.terms >> dropped});
        }
    }
    // All ageing jobs gain the same, so their mutual order does not change. A new job without a part is sorted by its
    // priority until it gets one, so the sums must not lag far behind.
    const bool has_others = std::any_of(parts.groups().begin(), parts.groups().end(),
                                        [](const auto& group) { return !group.first.is_ageing; });
    const std::int64_t aged = parts.gained(engine_, at.now);
    if (is_full && (has_others || aged - aged_ >= aged_step)) {
        aged_ = aged;
    }
    for (const auto& [group, entries] : parts.groups()) {
        const std::int64_t added = engine_.fine_fairshare(group.factor, at.factors) + (group.is_ageing ? aged_ : 0);
        scheduler.want_group(group_of(group), added >> dropped);
    }
}

}  // namespace weir::priority
