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

constexpr const char* idle_path = "/idle";  // no path of a tree begins so

}  // namespace

std::string payer_path(const ShareTree& tree, NodeId payer) {
    return payer == unassociated ? std::string() : payer == idle ? idle_path : tree.path(payer);
}

NodeId payer_at(const ShareTree& tree, const std::string& path) {
    if (path == idle_path) {
        return idle;
    }
    const auto node = path.empty() ? std::nullopt : tree.find(path);
    return node && tree.is_association(*node) ? *node : unassociated;
}

UsageLedger::UsageLedger(ShareTreePtr tree, Duration half_life) : tree_(std::move(tree)), decay_(half_life) {
    append_nodes();
}

/// For what the tree has and `nodes_` has not yet.
void UsageLedger::append_nodes() {
    static_assert(sizeof(Node) == sizeof(Cell));
    nodes_.reserve(tree_->size());
    while (nodes_.size() < tree_->size()) {
        const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
        nodes_.push_back(Node{{}, tree_->parent(id).value, tree_->is_association(id)});
    }
}

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
    if (!is_in_tree(payer)) {
        if (payer == idle) {
            idle_.add(delta);
        } else {
            outside_.add(delta);
        }
        ++touches_;
        return;
    }
    WEIR_CHECK(payer.value < nodes_.size());
    // The whole way is found, and its cells asked for, before the first is needed: of a large tree few are in a cache.
    std::array<Node*, ShareTree::depth_max + 1> way;  // filled up to `length`
    std::size_t length = 0;
    for (NodeId at = payer;; at = tree_->parent(at)) {
        way[length] = &nodes_[at.value];
        __builtin_prefetch(way[length++], 1);
        if (at == root_node) {
            break;
        }
    }
    touches_ += length;
    while (length > 0) {
        way[--length]->Cell::add(delta);
    }
    WEIR_CHECK(way[0]->is_payer);
}

void UsageLedger::start(NodeId payer, std::int64_t rate, Instant at) {
    advance_frame(at);
    post(payer, {-rate * weight(at), -static_cast<__int128>(rate) * micros(at), rate});
}

void UsageLedger::end(NodeId payer, std::int64_t rate, Instant at) {
    start(payer, -rate, at);
}

void UsageLedger::move(NodeId from, NodeId to, std::int64_t rate, Instant at) {
    advance_frame(at);
    const Cell delta{-rate * weight(at), -static_cast<__int128>(rate) * micros(at), rate};
    post(to, delta);
    post(from, {-delta.weighted, -delta.charged, -delta.rate});
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
    into.idle = read(idle_, reading);
    into.usage.resize(nodes_.size());
    std::fill_n(into.usage.begin(), tree_->parents_end(), 0);
    for (std::size_t i = nodes_.size() - 1; i > 0; --i) {
        const Node& node = nodes_[i];
        CoreMicros& own = into.usage[i];
        own = node.is_payer ? read(node, reading) : i < tree_->parents_end() ? own : 0;
        CoreMicros& above = into.usage[node.parent];
        above = std::min(above + own, usage_max);
    }
}

/// Old charges lose eight bits a step; accounts are summed anew, so that conservation holds to the last bit.
void UsageLedger::advance_frame(Instant at) {
    if (!decay_.is_before(at)) {
        return;
    }
    const std::int64_t frame = decay_.frame_for(at);
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
    idle_.weighted = DecayFrame::shifted(idle_.weighted, shift);
    for (Node& node : nodes_) {
        node.weighted = DecayFrame::shifted(node.weighted, shift);
    }
    sum_accounts();
    decay_.set_frame(frame);
}

void UsageLedger::sum_accounts() {
    for (Node& node : nodes_) {
        if (!node.is_payer) {
            static_cast<Cell&>(node) = {};
        }
    }
    for (std::size_t i = nodes_.size() - 1; i > 0; --i) {
        nodes_[nodes_[i].parent].add(nodes_[i]);
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
    const ShareTreePtr old_tree = std::exchange(tree_, std::move(tree));
    const std::vector<Node> old_nodes = std::exchange(nodes_, {});
    append_nodes();
    for (std::uint32_t i = 1; i < old_nodes.size(); ++i) {
        const Cell& cell = old_nodes[i];
        if (!old_nodes[i].is_payer) {
            continue;
        }
        if (places[i] != unassociated && !nodes_[places[i].value].is_payer) {
            places[i] = unassociated;  // a leaf no longer
        }
        if (cell.is_empty()) {
            continue;
        }
        if (places[i] != unassociated) {
            nodes_[places[i].value].add(cell);
            continue;
        }
        outside_.add(cell);
        // What runs on is the bucket's own; what ran until now waits for its path to come back.
        const __int128 rate = cell.rate;
        departed_[old_tree->path(NodeId{i})].add(
            {cell.weighted + rate * decay_.weight(at), cell.charged + rate * micros(at), 0});
    }
    sum_accounts();
    take_back_departed(root_node);
    return places;
}

void UsageLedger::extend(ShareTreePtr tree) {
    WEIR_CHECK(tree->extends(*tree_));
    const NodeId first{tree_->size()};
    tree_ = std::move(tree);
    append_nodes();
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
    convert(idle_);
    for (Node& node : nodes_) {
        convert(node);
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
    forget(idle_);
    for (auto& [path, departed] : departed_) {
        forget(departed);
    }
    for (Node& node : nodes_) {
        forget(node);
    }
}

/// What `unassociated` has of its own.
UsageLedger::Cell UsageLedger::nobodys() const {
    Cell own = outside_;
    for (const auto& [path, departed] : departed_) {
        own.subtract(departed);
    }
    return own;
}

PayerState UsageLedger::Cell::saved_as(std::string path) const {
    return {std::move(path), to_wide(weighted), to_wide(charged), rate};
}

std::optional<PayerState> UsageLedger::saved(NodeId payer) const {
    const Cell own = payer == unassociated ? nobodys() : cell(payer);
    return own.is_empty() ? std::nullopt : std::optional(own.saved_as(payer_path(*tree_, payer)));
}

LedgerState UsageLedger::save() const {
    LedgerState state{decay_.half_life(), decay_.frame(), {}, since_};
    const auto put = [&state](std::optional<PayerState> payer) {
        if (payer) {
            state.payers.push_back(std::move(*payer));
        }
    };
    for (const auto& [path, departed] : departed_) {
        put(departed.is_empty() ? std::nullopt : std::optional(departed.saved_as(path)));
    }
    put(saved(unassociated));
    put(saved(idle));
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        if (nodes_[i].is_payer) {
            put(saved(NodeId{i}));
        }
    }
    return state;
}

Result<UsageLedger> UsageLedger::restore(ShareTreePtr tree, const LedgerState& state) {
    if (!DecayFrame::accepts(state.half_life)) {
        return Error{std::errc::invalid_argument, "usage ledger: half-life " + std::to_string(state.half_life.count()) +
                                                      " us is neither 0 nor from 1 s to 100 years"};
    }
    if (state.frame > DecayFrame::frame_max || state.frame < -DecayFrame::frame_max) {
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
        const NodeId payer_id = payer_at(*ledger.tree_, payer.path);
        if (payer_id == idle) {
            ledger.idle_ = cell;
            continue;
        }
        if (payer_id != unassociated) {
            static_cast<Cell&>(ledger.nodes_[payer_id.value]) = cell;
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
    return sizeof *this + nodes_.capacity() * sizeof(Node);
}

}  // namespace weir
