// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see window.hpp.
#include "libfairshare/usage/window.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "libfairshare/base/check.hpp"

namespace weir {

namespace {

constexpr int window_weight_bits = 40;  // 64 windows of at most usage_max times a weight stay below 2^127
constexpr std::int64_t window_max = std::int64_t{1} << 44;  // beyond any Instant
// A window may hold more than usage_max, which is what counts of it. Sums of two such numbers stay below 2^127.
constexpr __int128 held_max = __int128{1} << 120;
constexpr std::int64_t window_rate_max = std::int64_t{1} << 50;  // as UsageLedger's

/// What a window used up to `at` of its time, as if evenly: adds up to `amount` over any cuts.
__int128 part_until(__int128 amount, __int128 begin, __int128 length, __int128 at) {
    const __int128 elapsed = std::clamp<__int128>(at - begin, 0, length);
    // In two steps, so that 80 bits of usage times 50 of time do not meet.
    return amount / length * elapsed + amount % length * elapsed / length;
}

__int128 in_range(__int128 amount) {
    const auto most = static_cast<__int128>(usage_max);
    return std::clamp(amount, -most, most);
}

}  // namespace

Status WindowPolicy::validate() const {
    if (interval < std::chrono::seconds{1}) {
        return Error{std::errc::invalid_argument, "window: the interval must be at least one second"};
    }
    if (depth < 1 || depth > depth_max) {
        return Error{std::errc::invalid_argument, "window: the depth must be from 1 to " + std::to_string(depth_max)};
    }
    if (!(factor >= 0 && factor <= 1)) {
        return Error{std::errc::invalid_argument, "window: the factor must be from 0 to 1"};
    }
    return Done{};
}

double WindowPolicy::weight(unsigned window) const {
    return std::pow(factor, window);
}

WindowLedger::WindowLedger(std::uint32_t nodes, const WindowPolicy& policy)
    : policy_(policy), rates_(nodes + outside_rows), closed_(nodes + outside_rows) {
    WEIR_CHECK(policy.validate().has_value());
    windows_.resize(rates_.size() * policy.depth);
    for (unsigned i = 0; i < policy.depth; ++i) {
        weights_.push_back(std::llround(std::ldexp(policy.weight(i), window_weight_bits)));
    }
}

std::int64_t WindowLedger::number_of(Instant at) const {
    return floor_divide(micros(at), policy_.interval.count());
}

__int128 WindowLedger::begin_of(std::int64_t window) const {
    return static_cast<__int128>(window) * policy_.interval.count();
}

__int128& WindowLedger::held(std::uint32_t row, std::int64_t window) {
    const std::int64_t depth = policy_.depth;
    return windows_[static_cast<std::size_t>(row * depth + ((window % depth) + depth) % depth)];
}

/// Closes windows until the current one holds `at`.
void WindowLedger::advance(Instant at) {
    const std::int64_t target = number_of(at);
    if (target <= current_) {
        return;
    }
    const std::int64_t steps = std::min<std::int64_t>(target - current_, policy_.depth);
    for (std::uint32_t row = 0; row < rates_.size(); ++row) {
        const __int128 full = static_cast<__int128>(rates_[row]) * policy_.interval.count();
        held(row, current_) += full;
        for (std::int64_t window = target - steps + 1; window <= target; ++window) {
            held(row, window) = window == target ? 0 : full;
        }
    }
    current_ = target;
    sum_closed();
}

void WindowLedger::sum_closed(std::uint32_t row) {
    closed_[row] = 0;
    for (unsigned i = 1; i < policy_.depth; ++i) {
        closed_[row] += in_range(held(row, current_ - i)) * weights_[i];
    }
}

void WindowLedger::sum_closed() {
    for (std::uint32_t row = 0; row < closed_.size(); ++row) {
        sum_closed(row);
    }
}

/// The rate from `at` on: its part of every closed window, and what the current one must not count.
void WindowLedger::post(NodeId payer, std::int64_t rate, Instant at) {
    const std::int64_t oldest = current_ - policy_.depth + 1;
    const std::uint32_t row = row_of(payer);
    for (std::int64_t window = std::max(number_of(at), oldest); window < current_; ++window) {
        held(row, window) += rate * (begin_of(window + 1) - std::max<__int128>(begin_of(window), micros(at)));
    }
    held(row, current_) -= rate * std::max<__int128>(micros(at) - begin_of(current_), 0);
    rates_[row] += rate;
    if (number_of(at) < current_) {
        sum_closed(row);
    }
}

void WindowLedger::start(NodeId payer, std::int64_t rate, Instant at) {
    advance(at);
    post(payer, rate, at);
}

void WindowLedger::end(NodeId payer, std::int64_t rate, Instant at) {
    start(payer, -rate, at);
}

void WindowLedger::charge(NodeId payer, std::int64_t rate, Instant from, Instant to) {
    advance(std::max(from, to));
    post(payer, rate, from);
    post(payer, -rate, to);
}

void WindowLedger::add(NodeId payer, SignedCoreMicros amount, Instant at) {
    advance(at);
    const std::int64_t window = number_of(at);
    const std::uint32_t row = row_of(payer);
    if (window > current_ - static_cast<std::int64_t>(policy_.depth)) {
        held(row, window) += amount;
        sum_closed(row);
    }
}

/// REQUIRES: now_window >= current_.
__int128 WindowLedger::content(std::uint32_t row, std::int64_t window, std::int64_t now_window, Instant now) const {
    const std::int64_t depth = policy_.depth;
    if (window <= current_ - depth) {
        return 0;
    }
    const __int128 end = window == now_window ? static_cast<__int128>(micros(now)) : begin_of(window + 1);
    const __int128 running = window < current_ ? 0 : rates_[row] * std::max<__int128>(end - begin_of(window), 0);
    if (window > current_) {
        return running;
    }
    return windows_[static_cast<std::size_t>(row * depth + ((window % depth) + depth) % depth)] + running;
}

CoreMicros WindowLedger::usage(NodeId payer, Instant now) const {
    const std::uint32_t row = row_of(payer);
    const std::int64_t latest = std::max(number_of(now), current_);
    __int128 sum = latest == current_ ? closed_[row] : 0;
    for (unsigned i = 0; i < (latest == current_ ? 1 : policy_.depth); ++i) {
        sum += in_range(content(row, latest - i, latest, now)) * weights_[i];
    }
    const __int128 rounded = (sum + (__int128{1} << (window_weight_bits - 1))) >> window_weight_bits;
    return rounded <= 0 ? 0 : std::min(static_cast<CoreMicros>(rounded), usage_max);
}

void WindowLedger::snapshot(const ShareTree& tree, Instant now, std::vector<CoreMicros>& into) const {
    WEIR_CHECK(tree.size() + outside_rows == rates_.size());
    into.assign(tree.size(), 0);
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        if (tree.is_association(NodeId{i})) {
            into[i] = usage(NodeId{i}, now);
        }
        CoreMicros& above = into[tree.parent(NodeId{i}).value];
        above = std::min(above + into[i], usage_max);
    }
}

void WindowLedger::set_policy(const WindowPolicy& policy, Instant at) {
    advance(at);
    WindowLedger next{static_cast<std::uint32_t>(rates_.size()) - outside_rows, policy};
    next.advance(at);
    const std::int64_t oldest = next.current_ - policy.depth + 1;
    for (std::uint32_t row = 0; row < rates_.size(); ++row) {
        for (std::int64_t window = current_ - policy_.depth + 1; window <= current_; ++window) {
            const __int128 amount = content(row, window, current_, at);
            const __int128 begin = begin_of(window);
            const __int128 end = window == current_ ? static_cast<__int128>(micros(at)) : begin_of(window + 1);
            if (amount == 0) {
                continue;
            }
            if (end <= begin) {  // nothing has elapsed: what is there was added at this very instant
                next.held(row, next.current_) += amount;
                continue;
            }
            for (std::int64_t into = oldest; into <= next.current_; ++into) {
                next.held(row, into) += part_until(amount, begin, end - begin, next.begin_of(into + 1)) -
                                        part_until(amount, begin, end - begin, next.begin_of(into));
            }
        }
        next.post(payer_of(row), rates_[row], at);
    }
    next.sum_closed();
    *this = std::move(next);
}

void WindowLedger::rebind(std::span<const NodeId> places, std::uint32_t nodes) {
    WEIR_CHECK(places.size() + outside_rows == rates_.size());
    WindowLedger next{nodes, policy_};
    next.current_ = current_;
    for (std::uint32_t row = 0; row < rates_.size(); ++row) {
        const NodeId had = payer_of(row);
        const NodeId payer = is_in_tree(had) ? places[had.value] : had;
        const std::uint32_t to = row_of(is_in_tree(payer) && payer.value >= nodes ? unassociated : payer);
        next.rates_[to] += rates_[row];
        for (unsigned i = 0; i < policy_.depth; ++i) {
            next.held(to, current_ - i) += held(row, current_ - i);
        }
    }
    next.sum_closed();
    *this = std::move(next);
}

void WindowLedger::extend(std::uint32_t nodes) {
    WEIR_CHECK(nodes + outside_rows >= rates_.size());
    rates_.resize(nodes + outside_rows);
    closed_.resize(rates_.size());
    windows_.resize(rates_.size() * policy_.depth);
}

WindowState WindowLedger::save() const {
    WindowState state{policy_, current_, {}};
    const std::int64_t depth = policy_.depth;
    for (std::uint32_t place_of_row = 0; place_of_row < rates_.size(); ++place_of_row) {
        WindowRow row{payer_of(place_of_row), rates_[place_of_row], {}};
        bool is_empty = row.rate == 0;
        for (std::int64_t i = 0; i < depth; ++i) {
            const std::int64_t place = (((current_ - i) % depth) + depth) % depth;
            const __int128 value = windows_[static_cast<std::size_t>(place_of_row * depth + place)];
            is_empty = is_empty && value == 0;
            row.windows.push_back(to_wide(value));
        }
        if (!is_empty) {
            state.rows.push_back(std::move(row));
        }
    }
    return state;
}

Result<WindowLedger> WindowLedger::restore(std::uint32_t nodes, const WindowState& state) {
    if (const Status valid = state.policy.validate(); !valid) {
        return valid.error();
    }
    if (state.current > window_max || state.current < -window_max) {
        return Error{std::errc::result_out_of_range,
                     "window: window " + std::to_string(state.current) + " is out of range"};
    }
    WindowLedger ledger{nodes, state.policy};
    ledger.current_ = state.current;
    for (const WindowRow& row : state.rows) {
        const auto is_held = [](const WideInteger& amount) {
            return from_wide(amount) > -held_max && from_wide(amount) < held_max;
        };
        const bool fits = (row.payer.value < nodes || !is_in_tree(row.payer)) &&
                          row.windows.size() == state.policy.depth && row.rate > -window_rate_max &&
                          row.rate < window_rate_max && std::all_of(row.windows.begin(), row.windows.end(), is_held);
        if (!fits) {
            return Error{std::errc::result_out_of_range,
                         "window: the row of node " + std::to_string(row.payer.value) + " does not fit the ledger"};
        }
        ledger.rates_[row_of(row.payer)] = row.rate;
        for (unsigned i = 0; i < state.policy.depth; ++i) {
            ledger.held(row_of(row.payer), state.current - i) = from_wide(row.windows[i]);
        }
    }
    ledger.sum_closed();
    return ledger;
}

std::size_t WindowLedger::memory_bytes() const {
    return sizeof *this + (windows_.capacity() + closed_.capacity()) * sizeof(__int128) +
           rates_.capacity() * sizeof(std::int64_t);
}

}  // namespace weir
