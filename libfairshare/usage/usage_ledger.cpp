// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_ledger.hpp.
#include "libfairshare/usage/usage_ledger.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {

namespace {

constexpr std::int64_t frame_max = std::int64_t{1} << 41;  // beyond any Instant

std::int64_t micros(Instant at) {
    return at.time_since_epoch().count();
}

}  // namespace

UsageLedger::UsageLedger(ShareTreePtr tree, Duration half_life)
    : tree_(std::move(tree)), decay_(half_life), cells_(tree_->size()) {}

void UsageLedger::Cell::add(const Cell& other) {
    weighted += other.weighted;
    charged += other.charged;
    rate += other.rate;
}

void UsageLedger::Cell::subtract(const Cell& other) {
    weighted -= other.weighted;
    charged -= other.charged;
    rate -= other.rate;
}

void UsageLedger::post(NodeId payer, const Cell& delta) {
    if (payer == unassociated) {
        outside_.add(delta);
        ++touches_;
        return;
    }
    WEIR_CHECK(payer.value < tree_->size() && tree_->is_association(payer));
    // The whole way is found, and its cells asked for, before the first is needed: of a large tree few are in a cache.
    std::array<Cell*, ShareTree::depth_max + 1> way;  // filled up to `length`
    std::size_t length = 0;
    for (NodeId at = payer;; at = tree_->parent(at)) {
        way[length] = &cells_[at.value];
        __builtin_prefetch(way[length++], 1);
        if (at == root_node) {
            break;
        }
    }
    touches_ += length;
    while (length > 0) {
        way[--length]->add(delta);
    }
}

void UsageLedger::start(NodeId payer, std::int64_t rate, Instant at) {
    advance_frame(at);
    post(payer, {-rate * weight(at), -static_cast<__int128>(rate) * micros(at), rate});
}

void UsageLedger::end(NodeId payer, std::int64_t rate, Instant at) {
    start(payer, -rate, at);
}

void UsageLedger::charge(NodeId payer, std::int64_t rate, Instant from, Instant to) {
    advance_frame(std::max(from, to));
    const __int128 wide_rate = rate;
    post(payer, {wide_rate * (weight(to) - weight(from)), wide_rate * (micros(to) - micros(from)), 0});
}

void UsageLedger::add(NodeId payer, SignedCoreMicros amount, Instant at) {
    advance_frame(at);
    const __int128 worth =
        at < since_ ? 0 : decay_.weights_worth(static_cast<CoreMicros>(amount < 0 ? -amount : amount), at);
    post(payer, {amount < 0 ? -worth : worth, amount, 0});
}

void UsageLedger::transfer(NodeId from, NodeId to, std::int64_t rate, Instant at) {
    end(from, rate, at);
    start(to, rate, at);
}

CoreMicros UsageLedger::read(const Cell& cell, const DecayFrame::Reading& reading) {
    const __int128 weights = DecayFrame::shifted(cell.weighted, reading.frame_shift) + cell.rate * reading.weight;
    return std::min(DecayFrame::scaled(weights, reading), usage_max);
}

CoreMicros UsageLedger::usage(NodeId node, Instant now) const {
    return read(cell(node), decay_.reading(now));
}

SignedCoreMicros UsageLedger::charged(NodeId node, Instant now) const {
    return cell(node).charged + static_cast<__int128>(cell(node).rate) * micros(now);
}

std::int64_t UsageLedger::rate(NodeId node) const {
    return cell(node).rate;
}

UsageSnapshot UsageLedger::snapshot(Instant now) const {
    UsageSnapshot made;
    snapshot(now, made);
    return made;
}

void UsageLedger::snapshot(Instant now, UsageSnapshot& into) const {
    const DecayFrame::Reading reading = decay_.reading(now);
    into.at = now;
    into.unassociated = read(outside_, reading);
    into.usage.assign(cells_.size(), 0);
    for (std::uint32_t i = tree_->size() - 1; i > 0; --i) {
        const NodeId id{i};
        if (tree_->is_association(id)) {
            into.usage[i] = read(cells_[i], reading);
        }
        CoreMicros& above = into.usage[tree_->parent(id).value];
        above = std::min(above + into.usage[i], usage_max);
    }
}

/// Old charges lose eight bits a step; accounts are summed anew, so that conservation holds to the last bit.
void UsageLedger::advance_frame(Instant at) {
    const std::int64_t frame = decay_.frame_for(at);
    if (frame <= decay_.frame()) {
        return;
    }
    const auto shift =
        static_cast<unsigned>(std::min<std::int64_t>(frame - decay_.frame(), 16) * DecayFrame::frame_half_lives);
    Cell own = outside_;
    outside_ = {};
    for (auto& [path, departed] : departed_) {
        own.subtract(departed);
        departed.weighted = DecayFrame::shifted(departed.weighted, shift);
        outside_.add(departed);
    }
    own.weighted = DecayFrame::shifted(own.weighted, shift);
    outside_.add(own);
    for (Cell& cell : cells_) {
        cell.weighted = DecayFrame::shifted(cell.weighted, shift);
    }
    sum_accounts();
    decay_.set_frame(frame);
}

void UsageLedger::sum_accounts() {
    for (std::uint32_t i = 0; i < tree_->size(); ++i) {
        if (!tree_->is_association(NodeId{i})) {
            cells_[i] = {};
        }
    }
    for (std::uint32_t i = tree_->size() - 1; i > 0; --i) {
        cells_[tree_->parent(NodeId{i}).value].add(cells_[i]);
    }
}

void UsageLedger::take_back_departed(NodeId first) {
    for (auto at = departed_.begin(); at != departed_.end();) {
        const auto leaf = tree_->find(at->first);
        if (leaf && leaf->value >= first.value && tree_->is_association(*leaf)) {
            outside_.subtract(at->second);
            post(*leaf, at->second);
            at = departed_.erase(at);
        } else {
            ++at;
        }
    }
}

std::vector<NodeId> UsageLedger::rebind(ShareTreePtr tree, Instant at) {
    advance_frame(at);
    std::vector<NodeId> places = match_nodes(*tree_, *tree);
    std::vector<Cell> cells(tree->size());
    for (std::uint32_t i = 1; i < tree_->size(); ++i) {
        Cell& cell = cells_[i];
        if (!tree_->is_association(NodeId{i})) {
            continue;
        }
        if (places[i] != unassociated && !tree->is_association(places[i])) {
            places[i] = unassociated;  // a leaf no longer
        }
        if (cell.is_empty()) {
            continue;
        }
        if (places[i] != unassociated) {
            cells[places[i].value].add(cell);
            continue;
        }
        outside_.add(cell);
        // What runs on is the bucket's own; what ran until now waits for its path to come back.
        const __int128 rate = cell.rate;
        departed_[tree_->path(NodeId{i})].add(
            {cell.weighted + rate * decay_.weight(at), cell.charged + rate * micros(at), 0});
    }
    tree_ = std::move(tree);
    cells_ = std::move(cells);
    sum_accounts();
    take_back_departed(root_node);
    return places;
}

void UsageLedger::extend(ShareTreePtr tree) {
    WEIR_CHECK(tree->extends(*tree_));
    const NodeId first{tree_->size()};
    tree_ = std::move(tree);
    cells_.resize(tree_->size());
    take_back_departed(first);
}

void UsageLedger::set_half_life(Duration half_life, Instant at) {
    advance_frame(at);
    DecayFrame next{half_life};
    next.set_frame(next.frame_for(at));
    const DecayFrame::Reading reading = decay_.reading(at);
    const __int128 weight = next.weight(at);
    const auto convert = [&](Cell& cell) {
        cell.weighted = next.weights_worth(read(cell, reading), at) - cell.rate * weight;
    };
    Cell own = outside_;
    outside_ = {};
    for (auto& [path, departed] : departed_) {
        own.subtract(departed);
        convert(departed);
        outside_.add(departed);
    }
    convert(own);
    outside_.add(own);
    for (Cell& cell : cells_) {
        convert(cell);
    }
    sum_accounts();
    decay_ = next;
}

void UsageLedger::reset(Instant at) {
    advance_frame(at);
    since_ = std::max(since_, at);
    const __int128 worth = decay_.weight(since_);
    const auto forget = [&](Cell& cell) { cell.weighted = -cell.rate * worth; };
    forget(outside_);
    for (auto& [path, departed] : departed_) {
        forget(departed);
    }
    for (Cell& cell : cells_) {
        forget(cell);
    }
}

LedgerState UsageLedger::save() const {
    LedgerState state{decay_.half_life(), decay_.frame(), {}, since_};
    const auto put = [&](std::string path, const Cell& cell) {
        if (!cell.is_empty()) {
            state.payers.push_back({std::move(path), to_wide(cell.weighted), to_wide(cell.charged), cell.rate});
        }
    };
    Cell own = outside_;
    for (const auto& [path, departed] : departed_) {
        own.subtract(departed);
        put(path, departed);
    }
    put({}, own);
    for (std::uint32_t i = 1; i < tree_->size(); ++i) {
        if (tree_->is_association(NodeId{i})) {
            put(cells_[i].is_empty() ? std::string{} : tree_->path(NodeId{i}), cells_[i]);
        }
    }
    return state;
}

Result<UsageLedger> UsageLedger::restore(ShareTreePtr tree, const LedgerState& state) {
    if (!DecayFrame::accepts(state.half_life)) {
        return Error{std::errc::invalid_argument, "usage ledger: half-life " + std::to_string(state.half_life.count()) +
                                                      " us is neither 0 nor from 1 s to 100 years"};
    }
    if (state.frame > frame_max || state.frame < -frame_max) {
        return Error{std::errc::result_out_of_range,
                     "usage ledger: frame " + std::to_string(state.frame) + " is out of range"};
    }
    UsageLedger ledger{std::move(tree), state.half_life};
    ledger.decay_.set_frame(state.frame);
    ledger.since_ = state.since;
    std::set<std::string_view> seen;
    Cell magnitude;  // of all payers together: bounds every sum
    for (const PayerState& payer : state.payers) {
        if (!seen.insert(payer.path).second) {
            return Error{std::errc::invalid_argument, "usage ledger: payer \"" + payer.path + "\" occurs twice"};
        }
        const Cell cell{from_wide(payer.weighted), from_wide(payer.charged), payer.rate};
        if (is_in_range(cell)) {
            magnitude.add({cell.weighted < 0 ? -cell.weighted : cell.weighted,
                           cell.charged < 0 ? -cell.charged : cell.charged, cell.rate < 0 ? -cell.rate : cell.rate});
        }
        if (!is_in_range(cell) || !is_in_range(magnitude)) {
            return Error{std::errc::result_out_of_range,
                         "usage ledger: the numbers of payer \"" + payer.path + "\" are out of range"};
        }
        const auto leaf = payer.path.empty() ? std::nullopt : ledger.tree_->find(payer.path);
        if (leaf && ledger.tree_->is_association(*leaf)) {
            ledger.cells_[leaf->value] = cell;
            continue;
        }
        ledger.outside_.add(cell);
        if (!payer.path.empty() && cell.rate == 0) {
            ledger.departed_[payer.path] = cell;
        }
    }
    ledger.sum_accounts();
    return ledger;
}

bool UsageLedger::is_in_range(const Cell& cell) {
    const __int128 limit = __int128{1} << 126;
    const std::int64_t rate_limit = std::int64_t{1} << 50;
    return cell.weighted > -limit && cell.weighted < limit && cell.charged > -limit && cell.charged < limit &&
           cell.rate > -rate_limit && cell.rate < rate_limit;
}

std::size_t UsageLedger::memory_bytes() const {
    return sizeof *this + cells_.capacity() * sizeof(Cell);
}

}  // namespace weir
