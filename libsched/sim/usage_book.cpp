// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_book.hpp.
#include "libsched/sim/usage_book.hpp"

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {
namespace {

std::variant<UsageLedger, WindowLedger> ledger_for(const PolicySettings& settings, const ShareTreePtr& tree) {
    if (settings.decay == DecayKind::window) {
        return WindowLedger(tree->size(), settings.window);
    }
    return UsageLedger(tree, settings.decay == DecayKind::half_life ? settings.half_life : Duration{});
}

}  // namespace

UsageBook::UsageBook(const PolicySettings& settings, ShareTreePtr tree)
    : tree_(std::move(tree)), kept_(ledger_for(settings, tree_)), reset_(settings.usage_reset) {}

void UsageBook::start(NodeId payer, std::int64_t rate, Instant at) {
    reset_if_due(at);
    if (auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        ledger->start(payer, rate, at);
    } else if (payer != unassociated) {
        std::get<WindowLedger>(kept_).start(payer, rate, at);
    }
}

/// Resets lie before whatever comes at or after them: the calendar is asked before each event and each reading.
void UsageBook::reset_if_due(Instant now) {
    auto* ledger = std::get_if<UsageLedger>(&kept_);
    if (ledger == nullptr || reset_ == ResetPeriod::none) {
        return;
    }
    if (!next_reset_) {
        next_reset_ = next_reset(reset_, now).value_or(never);
    }
    if (now >= *next_reset_) {
        ledger->reset(*period_start(reset_, now));
        next_reset_ = next_reset(reset_, now);
    }
}

void UsageBook::snapshot(Instant now, std::vector<CoreMicros>& into) {
    reset_if_due(now);
    if (const auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        UsageSnapshot made{{}, std::move(into)};
        ledger->snapshot(now, made);
        into = std::move(made.usage);
    } else {
        std::get<WindowLedger>(kept_).snapshot(*tree_, now, into);
    }
}

const UsageLedger* UsageBook::ledger(Instant now) {
    reset_if_due(now);
    return std::get_if<UsageLedger>(&kept_);
}

void UsageBook::follow(ShareTreePtr tree, Instant at) {
    const bool is_longer = tree->extends(*tree_);
    if (auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        if (is_longer) {
            ledger->extend(tree);
        } else {
            ledger->rebind(tree, at);
        }
    } else {
        const std::vector<NodeId> places = match_nodes(*tree_, *tree);
        std::get<WindowLedger>(kept_).rebind(places, tree->size());
    }
    tree_ = std::move(tree);
}

}  // namespace weir
