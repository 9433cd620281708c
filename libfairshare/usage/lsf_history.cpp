// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf_history.hpp.
#include "libfairshare/usage/lsf_history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "libfairshare/base/check.hpp"

namespace weir {

namespace {

constexpr double lsf_hour_us = 3.6e9;
constexpr double hist_hours_max = 24 * 36525;

double hours(CoreMicros amount) {
    return static_cast<double>(amount) / lsf_hour_us;
}

}  // namespace

Duration half_life_of_hist_hours(double hist_hours) {
    return Duration{std::llround(hist_hours * lsf_hour_us * std::log10(2.0))};
}

Status LsfHistorySettings::validate() const {
    if (hist_hours >= 0 && hist_hours <= hist_hours_max && DecayFrame::accepts(half_life_of_hist_hours(hist_hours))) {
        return Done{};
    }
    return Error{std::errc::invalid_argument, "HIST_HOURS must be 0 (no decay) or from 0.001 to 876600 hours"};
}

void LsfHistory::Cell::add(const Cell& other) {
    cpu += other.cpu;
    finished += other.finished;
    gpu_finished += other.gpu_finished;
    running += other.running;
    gpu_running += other.gpu_running;
    committed += other.committed;
    rate += other.rate;
    gpus += other.gpus;
    slots += other.slots;
    cpus += other.cpus;
}

void LsfHistory::Cell::subtract(const Cell& other) {
    cpu -= other.cpu;
    finished -= other.finished;
    gpu_finished -= other.gpu_finished;
    running -= other.running;
    gpu_running -= other.gpu_running;
    committed -= other.committed;
    rate -= other.rate;
    gpus -= other.gpus;
    slots -= other.slots;
    cpus -= other.cpus;
}

bool LsfHistory::Cell::is_empty() const {
    return cpu == 0 && finished == 0 && gpu_finished == 0 && running == 0 && gpu_running == 0 && committed == 0 &&
           rate == 0 && gpus == 0 && slots == 0 && cpus == 0;
}

LsfHistory::LsfHistory(std::uint32_t nodes, const LsfHistorySettings& settings)
    : settings_(settings), decay_(half_life_of_hist_hours(settings.hist_hours)), cells_(nodes) {
    WEIR_CHECK(settings.validate().has_value());
}

/// Old charges lose eight bits a frame, as in the ledger.
void LsfHistory::advance(Instant at) {
    const std::int64_t frame = decay_.frame_for(at);
    if (frame <= decay_.frame()) {
        return;
    }
    const auto shift =
        static_cast<unsigned>(std::min<std::int64_t>(frame - decay_.frame(), 16) * DecayFrame::frame_half_lives);
    for (Cell& cell : cells_) {
        cell.cpu = DecayFrame::shifted(cell.cpu, shift);
        cell.finished = DecayFrame::shifted(cell.finished, shift);
        cell.gpu_finished = DecayFrame::shifted(cell.gpu_finished, shift);
        if (settings_.run_time_decay) {
            cell.running = DecayFrame::shifted(cell.running, shift);
            cell.gpu_running = DecayFrame::shifted(cell.gpu_running, shift);
        }
    }
    decay_.set_frame(frame);
}

__int128 LsfHistory::running_weight(Instant at) const {
    return settings_.run_time_decay ? decay_.weight(at) : micros(at);
}

/// What a job that began at `at` adds.
LsfHistory::Cell LsfHistory::begun(const LsfJob& job, Instant at) const {
    const std::int64_t jobs = job.slots > 0 ? 1 : 0;
    Cell cell;
    cell.rate = settings_.counts_cpus ? job.slots : jobs;
    cell.gpus = job.gpus;
    cell.slots = settings_.counts_jobs ? jobs : job.slots;
    cell.cpus = settings_.measures_cpu ? 0 : job.slots;
    cell.cpu = -cell.cpus * decay_.weight(at);
    cell.running = cell.rate * running_weight(at);
    cell.gpu_running = job.gpus * running_weight(at);
    cell.committed = static_cast<__int128>(cell.rate) * job.committed.count();
    return cell;
}

void LsfHistory::start(NodeId payer, const LsfJob& job, Instant at) {
    advance(at);
    cells_[payer.value].add(begun(job, at));
}

void LsfHistory::forget(NodeId payer, const LsfJob& job, Instant started) {
    cells_[payer.value].subtract(begun(job, started));
}

void LsfHistory::end(NodeId payer, const LsfJob& job, Instant started, Instant ended) {
    advance(ended);
    const Cell begun_then = begun(job, started);
    const std::int64_t ran = std::max<std::int64_t>((ended - started).count(), 0);
    const auto worth = [&](std::int64_t rate) {
        if (settings_.run_time_decay) {  // it has decayed while it ran
            return rate * (decay_.weight(ended) - decay_.weight(started));
        }
        const __int128 plain = decay_.weights_worth(static_cast<CoreMicros>(std::abs(rate)) * ran, ended);
        return rate < 0 ? -plain : plain;
    };
    Cell& cell = cells_[payer.value];
    cell.subtract(begun_then);
    cell.cpu += begun_then.cpu + begun_then.cpus * decay_.weight(ended);
    cell.finished += worth(begun_then.rate);
    cell.gpu_finished += worth(job.gpus);
}

void LsfHistory::remember(NodeId payer, CoreMicros worth, Instant at) {
    advance(at);
    cells_[payer.value].cpu += decay_.weights_worth(worth, at);
    cells_[payer.value].finished += decay_.weights_worth(worth, at);
}

void LsfHistory::cpu_used(NodeId payer, CoreMicros amount, Instant from, Instant to) {
    advance(std::max(from, to));
    const auto span = static_cast<CoreMicros>(std::max<std::int64_t>((to - from).count(), 0));
    const CoreMicros rate = span == 0 ? 0 : amount / span;
    cells_[payer.value].cpu += static_cast<__int128>(rate) * (decay_.weight(to) - decay_.weight(from)) +
                               decay_.weights_worth(amount - rate * span, to);
}

DynamicUse LsfHistory::read(const Cell& cell, Instant now, const DecayFrame::Reading& reading) const {
    const auto history = [&](__int128 weights) {
        return hours(DecayFrame::scaled(DecayFrame::shifted(weights, reading.frame_shift), reading));
    };
    const auto running = [&](std::int64_t rate, __int128 begun) {
        if (settings_.run_time_decay) {
            return hours(
                DecayFrame::scaled(rate * reading.weight - DecayFrame::shifted(begun, reading.frame_shift), reading));
        }
        return hours(static_cast<CoreMicros>(std::max<__int128>(static_cast<__int128>(rate) * micros(now) - begun, 0)));
    };
    DynamicUse use;
    const __int128 cpu = DecayFrame::shifted(cell.cpu, reading.frame_shift) + cell.cpus * reading.weight;
    use.cpu_time_h = hours(DecayFrame::scaled(cpu, reading));
    use.run_time_h = running(cell.rate, cell.running);
    use.hist_run_time_h = settings_.enable_hist_run_time ? history(cell.finished) : 0.0;
    use.committed_run_time_h = hours(static_cast<CoreMicros>(std::max<__int128>(cell.committed, 0)));
    use.gpu_run_time_h =
        running(cell.gpus, cell.gpu_running) + (settings_.enable_gpu_hist_run_time ? history(cell.gpu_finished) : 0.0);
    use.job_slots = static_cast<double>(cell.slots);
    return use;
}

DynamicUse LsfHistory::use(NodeId leaf, Instant now) const {
    return read(cells_[leaf.value], now, decay_.reading(now));
}

void LsfHistory::snapshot(const ShareTree& tree, Instant now, std::vector<DynamicUse>& into) const {
    WEIR_CHECK(tree.size() == cells_.size());
    const DecayFrame::Reading reading = decay_.reading(now);
    into.assign(tree.size(), {});
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        if (tree.is_association(NodeId{i}) && !cells_[i].is_empty()) {
            into[i] = read(cells_[i], now, reading);
        }
        DynamicUse& above = into[tree.parent(NodeId{i}).value];
        const DynamicUse& own = into[i];
        above.cpu_time_h += own.cpu_time_h;
        above.run_time_h += own.run_time_h;
        above.hist_run_time_h += own.hist_run_time_h;
        above.committed_run_time_h += own.committed_run_time_h;
        above.gpu_run_time_h += own.gpu_run_time_h;
        above.job_slots += own.job_slots;
        above.adjustment += own.adjustment;
    }
}

void LsfHistory::set_settings(const LsfHistorySettings& settings, Instant at) {
    advance(at);
    LsfHistory next{static_cast<std::uint32_t>(cells_.size()), settings};
    next.advance(at);
    const DecayFrame::Reading reading = decay_.reading(at);
    const auto convert = [&](__int128 weights) {
        return next.decay_.weights_worth(DecayFrame::scaled(weights, reading), at);
    };
    // What running jobs are worth is kept, too: begun = rate * weight(at) - worth.
    const auto convert_running = [&](std::int64_t rate, __int128 begun) {
        const __int128 plain = static_cast<__int128>(rate) * running_weight(at) - begun;
        const CoreMicros worth = settings_.run_time_decay ? DecayFrame::scaled(plain, reading)
                                                          : static_cast<CoreMicros>(std::max<__int128>(plain, 0));
        const __int128 kept =
            settings.run_time_decay ? next.decay_.weights_worth(worth, at) : static_cast<__int128>(worth);
        return rate * next.running_weight(at) - kept;
    };
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        next.cells_[i] = cells_[i];
        next.cells_[i].cpu =
            convert(cells_[i].cpu + cells_[i].cpus * decay_.weight(at)) - cells_[i].cpus * next.decay_.weight(at);
        next.cells_[i].finished = convert(cells_[i].finished);
        next.cells_[i].gpu_finished = convert(cells_[i].gpu_finished);
        next.cells_[i].running = convert_running(cells_[i].rate, cells_[i].running);
        next.cells_[i].gpu_running = convert_running(cells_[i].gpus, cells_[i].gpu_running);
    }
    *this = std::move(next);
}

void LsfHistory::rebind(std::span<const NodeId> places, std::uint32_t nodes) {
    WEIR_CHECK(places.size() == cells_.size());
    std::vector<Cell> cells(nodes);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].value < nodes) {
            cells[places[i].value].add(cells_[i]);
        }
    }
    cells_ = std::move(cells);
}

LsfHistoryState LsfHistory::save(const ShareTree& tree) const {
    LsfHistoryState state{settings_, decay_.frame(), {}};
    for (std::uint32_t i = 0; i < cells_.size(); ++i) {
        const Cell& cell = cells_[i];
        if (!cell.is_empty()) {
            state.payers.push_back({tree.path(NodeId{i}),
                                    {to_wide(cell.cpu), to_wide(cell.finished), to_wide(cell.gpu_finished),
                                     to_wide(cell.running), to_wide(cell.gpu_running), to_wide(cell.committed),
                                     to_wide(cell.rate), to_wide(cell.gpus), to_wide(cell.slots), to_wide(cell.cpus)}});
        }
    }
    return state;
}

Result<LsfHistory> LsfHistory::restore(const ShareTree& tree, const LsfHistoryState& state) {
    if (const Status valid = state.settings.validate(); !valid) {
        return valid.error();
    }
    if (state.frame > DecayFrame::frame_max || state.frame < -DecayFrame::frame_max) {
        return Error{std::errc::result_out_of_range, "LSF history: the frame is out of range"};
    }
    LsfHistory history{tree.size(), state.settings};
    history.decay_.set_frame(state.frame);
    for (const PayerNumbers& payer : state.payers) {
        const auto leaf = tree.find(payer.path);
        if (!leaf || !tree.is_association(*leaf)) {
            return Error{std::errc::invalid_argument, "LSF history: \"" + payer.path + "\" is no leaf of the tree"};
        }
        std::array<__int128, 10> numbers{};
        bool is_good = payer.numbers.size() == numbers.size();
        for (std::size_t i = 0; is_good && i < numbers.size(); ++i) {
            const __int128 limit = __int128{1} << (i < 6 ? 120 : 50);
            numbers[i] = from_wide(payer.numbers[i]);
            is_good = numbers[i] > -limit && numbers[i] < limit;
        }
        if (!is_good) {
            return Error{std::errc::result_out_of_range,
                         "LSF history: the numbers of \"" + payer.path + "\" are out of range"};
        }
        history.cells_[leaf->value] = {numbers[0],
                                       numbers[1],
                                       numbers[2],
                                       numbers[3],
                                       numbers[4],
                                       numbers[5],
                                       static_cast<std::int64_t>(numbers[6]),
                                       static_cast<std::int64_t>(numbers[7]),
                                       static_cast<std::int64_t>(numbers[8]),
                                       static_cast<std::int64_t>(numbers[9])};
    }
    return history;
}

}  // namespace weir
