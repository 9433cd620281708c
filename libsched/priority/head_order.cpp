// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the merge of the groups, and the choice of values. See head_order.hpp.
#include "libsched/priority/head_order.hpp"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

constexpr std::int64_t head_value_min = std::int64_t{behind_head_max} + 1;
constexpr std::int64_t head_value_max = priority_max;
/// Between two jobs, where there is room: so many places at either end of the head before all values are used up.
constexpr std::int64_t step = 1 << 12;

}  // namespace

void HeadOrder::put(const PriorityEngine& engine, PriorityEngine::Slot slot, std::uint16_t queue, Instant now) {
    parts_.put(engine, slot, queue, now);
    values_.resize(std::max(values_.size(), engine.slots()));
    list_number(slot);
}

void HeadOrder::remove(PriorityEngine::Slot slot) {
    parts_.remove(slot);
    if (slot.value < values_.size()) {
        list_number(slot);
    }
}

void HeadOrder::forget(PriorityEngine::Slot slot) {
    remove(slot);
    if (slot.value < values_.size()) {
        values_[slot.value].value = 0;
        values_[slot.value].number = 0;
    }
}

void HeadOrder::set_number(PriorityEngine::Slot slot, std::uint32_t number) {
    values_.resize(std::max<std::size_t>(values_.size(), slot.value + 1));
    if (values_[slot.value].number != number) {
        take_number(slot);
        values_[slot.value].number = number;
        list_number(slot);
    }
}

void HeadOrder::take_number(PriorityEngine::Slot slot) {
    if (std::exchange(values_[slot.value].is_numbered, false)) {
        numbers_.erase(Numbered{values_[slot.value].number, parts_.at(slot).id, slot});
    }
}

void HeadOrder::list_number(PriorityEngine::Slot slot) {
    Value& value = values_[slot.value];
    if (!parts_.is_known(slot) || !parts_.at(slot).is_in) {
        take_number(slot);
    } else if (value.number != 0 && !value.is_numbered) {
        value.is_numbered = numbers_.insert(Numbered{value.number, parts_.at(slot).id, slot});
    }
}

void HeadOrder::clear() {
    *this = HeadOrder(depth_);
}

void HeadOrder::forget_values() {
    for (const PriorityEngine::Slot slot : valued_) {
        values_[slot.value].value = 0;
        values_[slot.value].has_valued = false;
    }
    valued_.clear();
    parts_.mark_all();
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
    const std::int64_t aged = parts_.gained(engine, now);
    const auto& groups = parts_.groups();
    std::vector<Cursor> cursors;
    bool is_one_queue = true;
    for (auto group = groups.begin(); group != groups.end();) {
        const std::uint16_t queue = group->first.queue;
        cursors.clear();
        for (; group != groups.end() && group->first.queue == queue; ++group) {
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

std::size_t HeadOrder::first_in_order() const {
    constexpr std::size_t none = SIZE_MAX;
    std::vector<std::size_t> rank(head_.size(), none);  // by number, as long as there is nobody but the head's jobs
    std::size_t ranked = 0;
    numbers_.walk([&](const Numbered& numbered) {
        const std::uint32_t listed = values_[numbered.slot.value].listed;
        if (listed != 0) {
            rank[listed - 1] = ranked++;
        }
        return listed != 0;
    });
    std::size_t first = head_.size();
    for (std::size_t next = none; first > 0 && rank[first - 1] < next; first--) {
        next = rank[first - 1];
    }
    return first;
}

std::size_t HeadOrder::count_of_values() const {
    std::size_t count = first_in_order();
    // Jobs that left the head would stand above those without a value, and lose theirs: too much for a few.
    if (2 * count > head_.size()) {
        return head_.size();
    }
    for (std::size_t i = count; i < head_.size(); i++) {
        count = wanted_[i] != 0 ? i + 1 : count;  // a job that has a value keeps it
    }
    return count;
}

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
    for (std::size_t i = 0; i < wanted_.size(); i++) {
        const PriorityEngine::Slot slot = head_[i].entry->slot;
        Value& value = values_[slot.value];
        if (value.value != wanted_[i]) {
            if (!std::exchange(value.has_valued, true)) {
                valued_.push_back(slot);
            }
            value.value = wanted_[i];
            sends_.push_back({head_[i].entry->id, slot, wanted_[i]});
        }
    }
}

void HeadOrder::send_back_leavers() {
    // Who left the head keeps his value as long as it is below all of the head: he may come back.
    const bool have_all = wanted_.size() == head_.size();
    const std::uint32_t least = !have_all ? 0 : wanted_.empty() ? UINT32_MAX : wanted_.back();
    const std::size_t leavers_max = 4 * depth_;
    std::size_t leavers = 0;
    std::erase_if(valued_, [&](PriorityEngine::Slot slot) {
        Value& value = values_[slot.value];
        if (value.value != 0 && parts_.at(slot).is_in &&
            ((value.listed != 0 && value.listed <= wanted_.size()) ||
             (value.listed == 0 && value.value < least && ++leavers <= leavers_max))) {
            return false;
        }
        value.has_valued = false;
        if (std::exchange(value.value, 0) != 0) {
            sends_.push_back({parts_.at(slot).id, slot, 0});
        }
        return true;
    });
}

std::span<const HeadOrder::Send> HeadOrder::pass(const PriorityEngine& engine, Instant now,
                                                 std::span<const double> factors) {
    sends_.clear();
    parts_.take_turns(engine, now);
    choose(engine, now, factors);
    wanted_.clear();
    for (const Cursor& place : head_) {
        Value& value = values_[place.entry->slot.value];
        wanted_.push_back(value.value);
        value.listed = static_cast<std::uint32_t>(wanted_.size());
    }
    drop_misplaced();
    wanted_.resize(count_of_values());
    if (!fill()) {
        spread();
    }
    send_new();
    send_back_leavers();
    for (const Cursor& place : head_) {
        values_[place.entry->slot.value].listed = 0;
    }
    return sends_;
}

}  // namespace weir
