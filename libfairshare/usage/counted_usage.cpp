// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see counted_usage.hpp.
#include "libfairshare/usage/counted_usage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {

namespace {

constexpr std::int64_t unit_max = 1'000'000;
constexpr double hour_us = 3.6e9;

Duration half_life_of(const UsageRules& rules) {
    return rules.decay == DecayKind::half_life ? rules.half_life : Duration{};
}

Error no_such_rules() {
    return {std::errc::invalid_argument, "counted usage: the stored rules cannot be"};
}

/// The rules, then what the ledgers say of themselves: the latest frame or window, the last reset, LSF's frame.
struct Header {
    UsageRules rules;
    std::int64_t place = 0;
    std::int64_t since = 0;
    std::int64_t history_frame = 0;
};
constexpr std::size_t header_size = 16;

std::vector<std::int64_t> numbers_of(const Header& header) {
    const UsageRules& rules = header.rules;
    const LsfHistorySettings history = rules.history.value_or(LsfHistorySettings{});
    return {static_cast<std::int64_t>(rules.decay),
            rules.half_life.count(),
            rules.window.interval.count(),
            rules.window.depth,
            std::bit_cast<std::int64_t>(rules.window.factor),
            rules.unit,
            rules.history.has_value(),
            std::bit_cast<std::int64_t>(history.hist_hours),
            history.enable_hist_run_time,
            history.enable_gpu_hist_run_time,
            history.run_time_decay,
            (history.counts_cpus ? 1 : 0) + (history.counts_jobs ? 2 : 0),
            history.measures_cpu,
            header.place,
            header.since,
            header.history_frame};
}

Result<Header> header_of(std::span<const std::int64_t> n) {
    if (n.size() != header_size || n[0] < 0 || n[0] > 2 || n[3] < 0 || n[3] > WindowPolicy::depth_max) {
        return no_such_rules();
    }
    Header header;
    UsageRules& rules = header.rules;
    rules.decay = static_cast<DecayKind>(n[0]);
    rules.half_life = Duration{n[1]};
    rules.window = {Duration{n[2]}, static_cast<unsigned>(n[3]), std::bit_cast<double>(n[4])};
    rules.unit = n[5];
    if (n[6] != 0) {
        rules.history = LsfHistorySettings{std::bit_cast<double>(n[7]),
                                           n[8] != 0,
                                           n[9] != 0,
                                           n[10] != 0,
                                           (n[11] & 1) != 0,
                                           (n[11] & 2) != 0,
                                           n[12] != 0};
    }
    header.place = n[13];
    header.since = n[14];
    header.history_frame = n[15];
    if (const Status valid = rules.validate(); !valid) {
        return valid.error();
    }
    return header;
}

Result<std::variant<UsageLedger, WindowLedger>> restored(const ShareTreePtr& tree, const Header& header,
                                                         std::span<const PayerNumbers> payers) {
    if (header.rules.decay == DecayKind::window) {
        WindowState state{header.rules.window, header.place, {}};
        for (const PayerNumbers& payer : payers) {
            if (payer.numbers.empty()) {
                return no_such_rules();
            }
            const NodeId who = payer_at(*tree, payer.path);
            if (who == unassociated && !payer.path.empty()) {
                continue;  // it is no leaf any more
            }
            state.rows.push_back({who,
                                  static_cast<std::int64_t>(from_wide(payer.numbers.front())),
                                  {payer.numbers.begin() + 1, payer.numbers.end()}});
        }
        Result<WindowLedger> ledger = WindowLedger::restore(tree->size(), state);
        if (!ledger) {
            return ledger.error();
        }
        return std::variant<UsageLedger, WindowLedger>(std::move(*ledger));
    }
    LedgerState state{half_life_of(header.rules), header.place, {}, Instant{Duration{header.since}}};
    for (const PayerNumbers& payer : payers) {
        if (payer.numbers.size() != 3) {
            return no_such_rules();
        }
        state.payers.push_back(
            {payer.path, payer.numbers[0], payer.numbers[1], static_cast<std::int64_t>(from_wide(payer.numbers[2]))});
    }
    Result<UsageLedger> ledger = UsageLedger::restore(tree, state);
    if (!ledger) {
        return ledger.error();
    }
    return std::variant<UsageLedger, WindowLedger>(std::move(*ledger));
}

constexpr std::array outside_payers{unassociated, idle};

}  // namespace

Status UsageRules::validate() const {
    if (decay == DecayKind::half_life && (half_life == Duration{} || !DecayFrame::accepts(half_life))) {
        return Error{std::errc::invalid_argument, "the half-life must be from one second to a hundred years"};
    }
    if (decay == DecayKind::window) {
        if (const Status valid = window.validate(); !valid) {
            return valid.error();
        }
    }
    if (unit < 1 || unit > unit_max) {
        return Error{std::errc::invalid_argument, "the unit of rates must be from 1 to 1000000 to the core"};
    }
    return history ? history->validate() : Status(Done{});
}

CountedUsage::Kept CountedUsage::made(const ShareTreePtr& tree, const UsageRules& rules) {
    if (rules.decay == DecayKind::window) {
        return WindowLedger(tree->size(), rules.window);
    }
    return UsageLedger(tree, half_life_of(rules));
}

CountedUsage::CountedUsage(ShareTreePtr tree, const UsageRules& rules)
    : tree_(std::move(tree)), rules_(rules), kept_(made(tree_, rules)) {
    WEIR_CHECK(rules.validate().has_value());
    if (rules.history) {
        history_.emplace(tree_->size(), *rules.history);
    }
}

void CountedUsage::start(const CountedJob& job) {
    std::visit([&](auto& kept) { charge_start(kept, Charging::at_dispatch, job.charge); }, kept_);
    if (history_ && is_in_tree(job.charge.payer)) {
        history_->start(job.charge.payer, job.holds, job.charge.started);
    }
}

void CountedUsage::end(const CountedJob& job, Instant ended) {
    std::visit([&](auto& kept) { charge_end(kept, Charging::at_dispatch, job.charge, ended); }, kept_);
    if (history_ && is_in_tree(job.charge.payer)) {
        history_->end(job.charge.payer, job.holds, job.charge.started, ended);
    }
}

void CountedUsage::snapshot(Instant now, UsageSnapshot& into) const {
    if (const auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        ledger->snapshot(now, into);
    } else {
        const auto& windows = std::get<WindowLedger>(kept_);
        into.at = now;
        into.unassociated = windows.usage(unassociated, now);
        into.idle = windows.usage(idle, now);
        windows.snapshot(*tree_, now, into.usage);
    }
    if (rules_.unit == 1) {
        return;
    }
    const auto unit = static_cast<CoreMicros>(rules_.unit);
    into.unassociated = (into.unassociated + unit / 2) / unit;
    into.idle = (into.idle + unit / 2) / unit;
    for (std::uint32_t i = tree_->size() - 1; i > 0; --i) {
        CoreMicros& own = into.usage[i];
        if (tree_->is_association(NodeId{i}) && own != 0) {
            own = (own + unit / 2) / unit;
        } else if (!tree_->is_association(NodeId{i})) {
            own = 0;
        }
    }
    into.usage[root_node.value] = 0;
    for (std::uint32_t i = tree_->size() - 1; i > 0; --i) {
        into.usage[tree_->parent(NodeId{i}).value] += into.usage[i];
    }
}

void CountedUsage::use(Instant now, std::vector<DynamicUse>& into) const {
    WEIR_CHECK(history_.has_value());
    history_->snapshot(*tree_, now, into);
}

/// Adds, or with sign -1 takes back, what a running job was charged at dispatch.
void CountedUsage::prepay(const CountedJob& job, int sign) {
    const SignedCoreMicros amount =
        sign * static_cast<SignedCoreMicros>(job.charge.rate) * job.charge.requested.count();
    std::visit([&](auto& kept) { kept.add(job.charge.payer, amount, job.charge.started); }, kept_);
}

/// What is kept, by other rules; nothing of it was charged at dispatch.
void CountedUsage::convert(const UsageRules& rules, Instant at) {
    auto* ledger = std::get_if<UsageLedger>(&kept_);
    auto* windows = std::get_if<WindowLedger>(&kept_);
    if (ledger != nullptr && rules.decay != DecayKind::window) {
        if (ledger->half_life() != half_life_of(rules)) {
            ledger->set_half_life(half_life_of(rules), at);
        }
    } else if (windows != nullptr && rules.decay == DecayKind::window) {
        if (windows->policy() != rules.window) {
            windows->set_policy(rules.window, at);
        }
    } else {
        Kept next = made(tree_, rules);
        const auto move = [&](NodeId payer) {
            const CoreMicros usage = ledger != nullptr ? ledger->usage(payer, at) : windows->usage(payer, at);
            const std::int64_t rate = ledger != nullptr ? ledger->rate(payer) : windows->rate(payer);
            std::visit(
                [&](auto& to) {
                    to.add(payer, static_cast<SignedCoreMicros>(usage), at);
                    to.start(payer, rate, at);
                },
                next);
        };
        for (std::uint32_t i = 1; i < tree_->size(); ++i) {
            if (tree_->is_association(NodeId{i})) {
                move(NodeId{i});
            }
        }
        std::for_each(outside_payers.begin(), outside_payers.end(), move);
        kept_ = std::move(next);
    }
}

/// The usage of a leaf as what ended in the past, less what its running jobs give in the history by themselves.
void CountedUsage::remember(NodeId leaf, CoreMicros usage, Instant at) {
    const auto running_so_far = static_cast<CoreMicros>(history_->use(leaf, at).cpu_time_h * hour_us);
    history_->remember(leaf, usage - std::min(usage, running_so_far), at);
}

/// REQUIRES: nothing of what is kept was charged at dispatch.
void CountedUsage::begin_history(const LsfHistorySettings& settings, std::span<const CountedJob> running, Instant at) {
    history_.emplace(tree_->size(), settings);
    const auto start_those = [&](bool is_prepaid) {
        for (const CountedJob& job : running) {
            if (is_in_tree(job.charge.payer) && (job.charge.requested != Duration{}) == is_prepaid) {
                history_->start(job.charge.payer, job.holds, job.charge.started);
            }
        }
    };
    start_those(false);
    const auto unit = static_cast<CoreMicros>(rules_.unit);
    for (std::uint32_t i = 1; i < tree_->size(); ++i) {
        if (const NodeId leaf{i}; tree_->is_association(leaf)) {
            const CoreMicros usage = std::visit([&](const auto& kept) { return kept.usage(leaf, at); }, kept_);
            remember(leaf, (usage + unit / 2) / unit, at);
        }
    }
    start_those(true);
}

void CountedUsage::set_rules(const UsageRules& rules, std::span<const CountedJob> running, Instant at) {
    WEIR_CHECK(rules.validate().has_value() && rules.unit == rules_.unit);
    for (const CountedJob& job : running) {
        prepay(job, -1);
    }
    convert(rules, at);
    const bool is_first_history = rules.history && !history_;
    if (is_first_history) {
        begin_history(*rules.history, running, at);
    }
    for (const CountedJob& job : running) {
        prepay(job, 1);
    }
    if (rules.history != rules_.history && !is_first_history) {
        const auto for_all = [&](auto what) {
            for (const CountedJob& job : running) {
                if (is_in_tree(job.charge.payer)) {
                    what(job);
                }
            }
        };
        if (history_ && rules.history) {
            for_all([&](const CountedJob& job) { history_->forget(job.charge.payer, job.holds, job.charge.started); });
            history_->set_settings(*rules.history, at);
            for_all([&](const CountedJob& job) { history_->start(job.charge.payer, job.holds, job.charge.started); });
        } else {
            history_.reset();
        }
    }
    rules_ = rules;
}

void CountedUsage::take_over(const UsageLedger& cores, std::span<const CountedJob> running, Instant at) {
    for (const CountedJob& job : running) {
        const NodeId payer = job.charge.payer;
        std::visit([&](auto& kept) { kept.start(payer, job.charge.rate, at); }, kept_);
        if (history_ && is_in_tree(payer)) {
            history_->start(payer, job.holds, job.charge.started);
        }
    }
    const auto add = [&](NodeId leaf) {
        const CoreMicros usage = cores.usage(leaf, at);
        const auto amount = static_cast<SignedCoreMicros>(usage) * rules_.unit;
        if (usage == 0) {
            return;
        }
        std::visit([&](auto& kept) { kept.add(leaf, amount, at); }, kept_);
        if (history_ && is_in_tree(leaf)) {
            remember(leaf, usage, at);
        }
    };
    for (std::uint32_t i = 1; i < tree_->size(); ++i) {
        if (tree_->is_association(NodeId{i})) {
            add(NodeId{i});
        }
    }
    std::for_each(outside_payers.begin(), outside_payers.end(), add);
}

bool CountedUsage::settle_outside(std::span<const CountedJob> running, Instant at) {
    auto* windows = std::get_if<WindowLedger>(&kept_);
    bool is_other = false;
    for (const NodeId payer : outside_payers) {
        std::int64_t rate = 0;
        for (const CountedJob& job : running) {
            rate += job.charge.payer == payer && job.charge.requested == Duration{} ? job.charge.rate : 0;
        }
        if (windows != nullptr && windows->rate(payer) != rate) {
            windows->start(payer, rate - windows->rate(payer), at);
            is_other = true;
        }
    }
    return is_other;
}

void CountedUsage::reset(Instant at) {
    if (auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        ledger->reset(at);
    }
}

void CountedUsage::rebind(ShareTreePtr tree, Instant at) {
    const std::vector<NodeId> places = match_nodes(*tree_, *tree);
    if (auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        ledger->rebind(tree, at);
    } else {
        std::get<WindowLedger>(kept_).rebind(places, tree->size());
    }
    if (history_) {
        history_->rebind(places, tree->size());
    }
    tree_ = std::move(tree);
}

void CountedUsage::take_back(const CountedJob& job, Instant at) {
    const ChargedJob& charge = job.charge;
    if (charge.requested == Duration{}) {
        std::visit(
            [&](auto& kept) {
                kept.end(unassociated, charge.rate, at);
                kept.start(charge.payer, charge.rate, at);
            },
            kept_);
    } else if (std::holds_alternative<WindowLedger>(kept_)) {
        CountedJob nobodys = job;
        nobodys.charge.payer = unassociated;
        prepay(nobodys, -1);
        prepay(job, 1);
    }
    if (history_) {
        history_->start(charge.payer, job.holds, charge.started);
    }
}

void CountedUsage::extend(ShareTreePtr tree) {
    if (auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        ledger->extend(tree);
    } else {
        std::get<WindowLedger>(kept_).extend(tree->size());
    }
    if (history_) {
        history_->extend(tree->size());
    }
    tree_ = std::move(tree);
}

CountedUsageState CountedUsage::save() const {
    Header header{rules_};
    CountedUsageState state;
    if (const auto* ledger = std::get_if<UsageLedger>(&kept_)) {
        LedgerState kept = ledger->save();
        header.place = kept.frame;
        header.since = kept.since.time_since_epoch().count();
        for (PayerState& payer : kept.payers) {
            state.usage.push_back({std::move(payer.path), {payer.weighted, payer.charged, to_wide(payer.rate)}});
        }
    } else {
        WindowState kept = std::get<WindowLedger>(kept_).save();
        header.place = kept.current;
        for (WindowRow& row : kept.rows) {
            row.windows.insert(row.windows.begin(), to_wide(row.rate));
            state.usage.push_back({payer_path(*tree_, row.payer), std::move(row.windows)});
        }
    }
    if (history_) {
        LsfHistoryState kept = history_->save(*tree_);
        header.history_frame = kept.frame;
        state.history = std::move(kept.payers);
    }
    state.rules = numbers_of(header);
    return state;
}

Result<CountedUsage> CountedUsage::restore(ShareTreePtr tree, const CountedUsageState& state) {
    const Result<Header> header = header_of(state.rules);
    if (!header) {
        return header.error();
    }
    Result<Kept> kept = restored(tree, *header, state.usage);
    if (!kept) {
        return kept.error();
    }
    CountedUsage usage(tree, header->rules);
    usage.kept_ = std::move(*kept);
    if (header->rules.history) {
        LsfHistoryState stored{*header->rules.history, header->history_frame, state.history};
        std::erase_if(stored.payers, [&](const PayerNumbers& payer) {
            const auto leaf = tree->find(payer.path);
            return !leaf || !tree->is_association(*leaf);
        });
        Result<LsfHistory> history = LsfHistory::restore(*tree, stored);
        if (!history) {
            return history.error();
        }
        usage.history_ = std::move(*history);
    }
    return usage;
}

}  // namespace weir
