// SPDX-License-Identifier: LGPL-3.0-only
// What windows, LSF's history, charging and resets promise.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "libfairshare/usage/charging.hpp"
#include "libfairshare/usage/lsf_history.hpp"
#include "libfairshare/usage/reset.hpp"
#include "libfairshare/usage/resource_usage.hpp"
#include "libfairshare/usage/window.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;
using namespace std::chrono_literals;

namespace {

constexpr NodeId leaf{1};

WindowPolicy random_policy() {
    return {std::chrono::seconds{draw::element_of(std::vector<int>{60, 3600, 43200, 86400})}, draw::in_range(1U, 12U),
            draw::element_of(std::vector<double>{1.0, 0.9, 0.5, 0.1})};
}

struct Run {
    std::int64_t rate;
    Instant from;
    Instant to;
};

std::vector<Run> random_runs(Duration span) {
    std::vector<Run> made;
    const int count = draw::in_range(1, 12);
    for (int i = 0; i < count; ++i) {
        const std::int64_t from = draw::in_range<std::int64_t>(0, span.count());
        const std::int64_t to = draw::in_range<std::int64_t>(from, span.count() + 1);
        made.push_back({draw::in_range<std::int64_t>(1, 10000), second(0) + Duration{from}, second(0) + Duration{to}});
    }
    return made;
}

/// The definition: overlap with each window, times factor^i.
long double by_definition(const WindowPolicy& policy, const std::vector<Run>& runs, Instant now) {
    const auto micros = [](Instant at) { return at.time_since_epoch().count(); };
    const std::int64_t interval = policy.interval.count();
    const std::int64_t current = micros(now) / interval;
    long double sum = 0;
    for (unsigned i = 0; i < policy.depth; ++i) {
        for (const Run& run : runs) {
            const std::int64_t begin = std::max((current - i) * interval, micros(run.from));
            const std::int64_t end = std::min({(current - i + 1) * interval, micros(run.to), micros(now)});
            sum += std::pow(static_cast<long double>(policy.factor), i) * run.rate *
                   std::max<std::int64_t>(end - begin, 0);
        }
    }
    return sum;
}

}  // namespace

// Kills: a depth that leaves the current window out; factor^(i+1); closing a window without its running jobs.
TEST_CASE("window: usage is the definition's, at any time") {
    draw::property("closed formula", [] {
        const WindowPolicy policy = random_policy();
        const Duration span = policy.interval * static_cast<std::int64_t>(draw::in_range(1, 30));
        const auto runs = random_runs(span);
        WindowLedger ledger{2, policy};
        for (const Run& run : runs) {
            ledger.charge(leaf, run.rate, run.from, run.to);
        }
        const Instant now = second(0) + span * draw::in_range<std::int64_t>(1, 3);
        const long double expected = by_definition(policy, runs, now);
        long double unweighted = 0;  // weights are rounded to 2^-40
        for (const Run& run : runs) {
            unweighted += static_cast<long double>(run.rate) * (run.to - run.from).count();
        }
        RC_ASSERT(std::abs(static_cast<long double>(ledger.usage(leaf, now)) - expected) <= 1 + unweighted * 0x1p-40L);
    });
}

// Kills: dating a late event to the current window; a running job that is read but not closed.
TEST_CASE("window: order, splits and when it is read change no bit") {
    draw::property("split and order", [] {
        const WindowPolicy policy = random_policy();
        const Duration span = policy.interval * static_cast<std::int64_t>(draw::in_range(1, 30));
        auto runs = random_runs(span);
        WindowLedger whole{2, policy};
        for (const Run& run : runs) {
            whole.charge(leaf, run.rate, run.from, run.to);
        }
        std::reverse(runs.begin(), runs.end());
        WindowLedger split{2, policy};
        for (const Run& run : runs) {
            const Instant middle =
                run.from + Duration{draw::in_range<std::int64_t>(0, (run.to - run.from).count() + 1)};
            split.start(leaf, run.rate, run.from);
            RC_ASSERT(split.usage(leaf, second(0) + 2 * span) < usage_max);
            split.end(leaf, run.rate, middle);
            split.charge(leaf, run.rate, middle, run.to);
        }
        whole.start(root_node, 1, second(0) + span);
        split.start(root_node, 1, second(0) + span);
        RC_ASSERT(whole.save() == split.save());
    });
}

// Kills: a saved state without the current window's number or the rates.
TEST_CASE("window: save, load and go on equals going on") {
    draw::property("restart", [] {
        const WindowPolicy policy = random_policy();
        const Duration span = policy.interval * static_cast<std::int64_t>(draw::in_range(1, 10));
        WindowLedger ledger{2, policy};
        const auto runs = random_runs(span);
        for (const Run& run : runs) {
            ledger.start(leaf, run.rate, run.from);
        }
        WindowLedger loaded = WindowLedger::restore(2, ledger.save()).value();
        for (const Run& run : runs) {
            ledger.end(leaf, run.rate, run.to);
            loaded.end(leaf, run.rate, run.to);
        }
        RC_ASSERT(ledger.save() == loaded.save());
    });
}

// Kills: a conversion that rounds each part by itself, or leaves out what is still running.
TEST_CASE("window: a new interval keeps every core-microsecond that the new span holds") {
    draw::property("conversion", [] {
        WindowPolicy policy = random_policy();
        policy.factor = 1.0;
        const Duration span = policy.span();
        WindowLedger ledger{2, policy};
        for (const Run& run : random_runs(span)) {
            ledger.charge(leaf, run.rate, run.from, run.to);
        }
        ledger.start(leaf, 3, second(0) + span);
        const Instant now = second(0) + span + policy.interval / 3;
        const CoreMicros before = ledger.usage(leaf, now);
        const Duration interval{draw::in_range<std::int64_t>(policy.interval.count() / 2, policy.interval.count() * 5)};
        const auto depth = static_cast<unsigned>(span / interval + 3);
        ledger.set_policy({std::max<Duration>(interval, 1s), depth, 1.0}, now);
        RC_ASSERT(ledger.usage(leaf, now) == before);
    });
}

// Kills: a saved state that leaves a resource's ledger or its weight out; a resource of which running jobs alone count
// loaded as one that never decays.
TEST_CASE("resource usage: save, load and go on equals going on") {
    draw::property("restart", [] {
        const ShareTreePtr tree = tree_ptr_of({{"g", 1}, {"g/@a", 1}, {"@b", 2}});
        ResourceUsage usage =
            ResourceUsage::make(tree, {{"cpu", Duration{1h}, 1.0}, {"gpu", Duration{0}, 4.5}, {"energy", {}, 2.0}})
                .value();
        const NodeId payer = at(*tree, draw::element<std::string>("g/@a", "@b"));
        const auto runs = random_runs(Duration{10h});
        const auto amounts = [](const Run& run) { return std::array<std::int64_t, 3>{run.rate, run.rate % 3, 7}; };
        for (const Run& run : runs) {
            usage.start(payer, amounts(run), run.from);
        }
        ResourceUsage loaded = ResourceUsage::restore(tree, usage.save()).value();
        for (const Run& run : runs) {
            usage.end(payer, amounts(run), run.from, run.to);
            loaded.end(payer, amounts(run), run.from, run.to);
        }
        RC_ASSERT(usage.save() == loaded.save());
        std::vector<CoreMicros> bill, loaded_bill;
        usage.snapshot(second(0) + 11h, bill);
        loaded.snapshot(second(0) + 11h, loaded_bill);
        RC_ASSERT(bill == loaded_bill);
    });
}

// Kills: decay before use (an amount that decays from the start of its span); a missing factor ln 10.
TEST_CASE("LSF history: CPU time decays from when it was used, however it is reported") {
    draw::property("split", [] {
        LsfHistorySettings settings;
        settings.hist_hours = draw::element_of(std::vector<double>{0.5, 5, 168});
        const Duration tenth{std::llround(settings.hist_hours * 3.6e9)};
        const auto runs = random_runs(3 * tenth);
        LsfHistory whole{2, settings};
        LsfHistory split{2, settings};
        long double expected = 0;
        const Instant now = second(0) + 3 * tenth;
        for (const Run& run : runs) {
            const Duration ran = run.to - run.from;
            const Instant middle = run.from + Duration{draw::in_range<std::int64_t>(0, ran.count() + 1)};
            const auto amount = [&](Duration part) {
                return static_cast<CoreMicros>(run.rate) * static_cast<CoreMicros>(part.count());
            };
            whole.cpu_used(leaf, amount(ran), run.from, run.to);
            split.cpu_used(leaf, amount(middle - run.from), run.from, middle);
            split.cpu_used(leaf, amount(run.to - middle), middle, run.to);
            const auto worth = [&](Instant at) {
                return std::pow(10.0L, -static_cast<long double>((now - at).count()) / tenth.count());
            };
            expected += run.rate * settings.hist_hours / std::log(10.0L) * (worth(run.to) - worth(run.from));
        }
        const double got = whole.use(leaf, now).cpu_time_h;
        RC_ASSERT(std::abs(got - static_cast<double>(expected)) <= 1e-9 + 1e-8 * static_cast<double>(expected));
        RC_ASSERT(std::abs(split.use(leaf, now).cpu_time_h - got) <= 1e-9 + 1e-9 * got);
    });
}

// Kills: end() that forgets one of the terms; a saved state that leaves one out.
TEST_CASE("LSF history: ended jobs leave history alone, and a restart changes nothing") {
    draw::property("restart", [] {
        const ShareTree tree = tree_of({{"@a", 1}});
        LsfHistorySettings settings;
        settings.enable_hist_run_time = true;
        settings.run_time_decay = draw::arbitrary<bool>();
        const auto runs = random_runs(20h);
        LsfHistory history{tree.size(), settings};
        for (const Run& run : runs) {
            history.start(leaf, {run.rate, run.rate / 2, 3h}, run.from);
        }
        LsfHistory loaded = LsfHistory::restore(tree, history.save(tree)).value();
        const Instant meanwhile = second(30 * 3600);
        const DynamicUse saved = history.use(leaf, meanwhile);
        const DynamicUse restored = loaded.use(leaf, meanwhile);
        RC_ASSERT(saved.run_time_h == restored.run_time_h);
        RC_ASSERT(saved.gpu_run_time_h == restored.gpu_run_time_h);
        RC_ASSERT(saved.committed_run_time_h == restored.committed_run_time_h);
        RC_ASSERT(saved.job_slots == restored.job_slots);
        for (const Run& run : runs) {
            history.end(leaf, {run.rate, run.rate / 2, 3h}, run.from, run.to);
            loaded.end(leaf, {run.rate, run.rate / 2, 3h}, run.from, run.to);
        }
        RC_ASSERT(history.save(tree) == loaded.save(tree));
        const DynamicUse use = history.use(leaf, second(20 * 3600));
        RC_ASSERT(use.job_slots == 0);
        RC_ASSERT(use.committed_run_time_h == 0);
        RC_ASSERT(use.run_time_h < 1e-6);
        RC_ASSERT(use.gpu_run_time_h < 1e-6);
        LsfHistory fresh{tree.size(), settings};  // the next job counts its own time alone
        for (LsfHistory* one : {&history, &fresh}) {
            one->start(leaf, {2, 3, {}}, second(20 * 3600));
        }
        const Instant later = second(21 * 3600);
        RC_ASSERT(relative_error(history.use(leaf, later).run_time_h, fresh.use(leaf, later).run_time_h) < 1e-6);
        RC_ASSERT(relative_error(history.use(leaf, later).gpu_run_time_h, fresh.use(leaf, later).gpu_run_time_h) <
                  1e-6);
    });
}

// Kills: a history that shifts a frame twice, or lets weights overflow; ten years of steady use neither drift nor fade.
TEST_CASE("decays: ten years of steady use come to the closed formula") {
    draw::property("no drift", [] {
        LsfHistorySettings settings;
        settings.hist_hours = draw::element_of(std::vector<double>{1, 5, 168});
        LsfHistory history{2, settings};
        WindowLedger windows{2, {24h, 7, 0.5}};
        const std::int64_t cores = draw::in_range<std::int64_t>(1, 100000);
        const Duration step{draw::in_range<std::int64_t>(Duration{24h}.count(), Duration{720h}.count())};
        Instant at = Instant{} + 20000 * 24h;
        const Instant end = at + 3650 * 24h;
        for (; at < end; at += step) {
            history.cpu_used(leaf, static_cast<CoreMicros>(cores) * static_cast<CoreMicros>(step.count()), at,
                             at + step);
            windows.charge(leaf, cores, at, at + step);
        }
        const double steady = static_cast<double>(cores) * settings.hist_hours / std::log(10.0);
        RC_ASSERT(relative_error(history.use(leaf, at).cpu_time_h, steady) < 1e-7);
        const WindowPolicy& policy = windows.policy();
        auto of_a_core = static_cast<double>(at.time_since_epoch().count() % policy.interval.count());
        for (unsigned i = 1; i < policy.depth; ++i) {
            of_a_core += policy.weight(i) * static_cast<double>(policy.interval.count());
        }
        RC_ASSERT(relative_error(static_cast<double>(windows.usage(leaf, at)), static_cast<double>(cores) * of_a_core) <
                  1e-9);
    });
}

// Kills: a true-up that charges the difference at the end's date; one that forgets what was prepaid.
TEST_CASE("charging: once all jobs have ended both kinds of charging agree") {
    draw::property("true-up", [] {
        UsageLedger prepaid{tree_ptr_of({{"@a", 1}}), Duration{1h}};
        UsageLedger running = prepaid;
        const auto runs = random_runs(12h);
        std::vector<ChargedJob> jobs;
        for (const Run& run : runs) {
            jobs.push_back(
                {leaf, run.rate, run.from, Duration{draw::in_range<std::int64_t>(1, Duration{48h}.count())}});
            charge_start(prepaid, Charging::at_dispatch, jobs.back());
            charge_start(running, Charging::as_it_runs, jobs.back());
        }
        for (std::size_t i = 0; i < runs.size(); ++i) {
            charge_end(prepaid, Charging::at_dispatch, jobs[i], runs[i].to);
            charge_end(running, Charging::as_it_runs, jobs[i], runs[i].to);
        }
        const double a = core_seconds(prepaid.usage(leaf, second(12 * 3600)));
        const double b = core_seconds(running.usage(leaf, second(12 * 3600)));
        RC_ASSERT(std::abs(a - b) < 1e-3);
        RC_ASSERT(prepaid.charged(leaf, second(12 * 3600)) == running.charged(leaf, second(12 * 3600)));
    });
}

// Kills: a month of 30 days; a boundary that is not its own period's start; an offset added where it is taken.
TEST_CASE("reset: periods follow each other without gap or overlap") {
    draw::property("calendar", [] {
        const auto period =
            draw::element_of(std::vector<ResetPeriod>{ResetPeriod::daily, ResetPeriod::weekly, ResetPeriod::monthly,
                                                      ResetPeriod::quarterly, ResetPeriod::yearly});
        const Duration offset = std::chrono::minutes{draw::in_range(-14 * 60, 14 * 60)};
        const Instant at{Duration{draw::in_range<std::int64_t>(-1000000000000000, 9000000000000000)}};
        const Instant begin = *period_start(period, at, offset);
        const Instant end = *next_reset(period, at, offset);
        RC_ASSERT(begin <= at);
        RC_ASSERT(at < end);
        RC_ASSERT(*period_start(period, end, offset) == end);
        RC_ASSERT(*period_start(period, end - Duration{1}, offset) == begin);
        RC_ASSERT((begin + offset).time_since_epoch() % std::chrono::hours{24} == Duration{0});
        RC_ASSERT(due_reset(period, begin, end, offset) == end);
        RC_ASSERT(!due_reset(period, begin, end - Duration{1}, offset));
    });
}
