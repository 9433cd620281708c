// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the threads. They share the jobs, which nobody changes, and four numbers; each writes its own result.
#include "cmd/sim/replays.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <thread>

#include "libsched/sim/simulate.hpp"

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t instants_between_checks = 256;

/// Rises once, when all threads are done.
class AllDone {
  public:
    AllDone() : fd_(eventfd(0, EFD_CLOEXEC)) { WEIR_CHECK(fd_ >= 0); }
    ~AllDone() { close(fd_); }
    AllDone(const AllDone&) = delete;
    AllDone& operator=(const AllDone&) = delete;
    void raise() const {
        const std::uint64_t one = 1;
        WEIR_CHECK(write(fd_, &one, sizeof one) == sizeof one);
    }
    int fd() const { return fd_; }

  private:
    int fd_;
};

struct Shared {
    std::atomic<bool> is_stopping{false};
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> at_work{0};
    std::atomic<std::uint64_t> started{0};
};

struct One {
    Replayed replayed;
    Measured measured;
    std::optional<Error> error;
};

class Worker {
  public:
    Worker(const Yardstick& yardstick, const std::vector<SimJob>& jobs, std::uint32_t sample, Shared& shared)
        : yardstick_(yardstick), jobs_(jobs), sample_(sample), shared_(shared) {}

    void run(const PlannedReplay& plan, One& one) {
        one.replayed.name = plan.name;
        one.replayed.scheduler = std::string(name_of(plan.scheduler));
        one.replayed.order = plan.order_name;
        Status done = replay(plan, one.replayed);
        if (done && one.replayed.is_complete && sample_ > 0) {
            done = fair_start(plan, one.replayed);
        }
        if (!done) {
            one.error = done.error();
            return;
        }
        one.measured = measured(yardstick_, one.replayed);
    }

  private:
    Result<SimCounters> simulate_one(const PlannedReplay& plan, std::span<const SimJob> jobs, const OutcomeSink& sink,
                                     bool is_counted) {
        std::unique_ptr<QueueOrder> order;
        if (plan.order) {
            auto made = plan.order();
            if (!made) {
                return made.error();
            }
            order = std::move(*made);
        }
        std::size_t next = 0;
        std::uint64_t told = 0;
        SimControl control;
        control.every = instants_between_checks;
        control.progress = [&](const SimCounters& counters) {
            if (is_counted) {
                shared_.started += counters.started - told;
                told = counters.started;
            }
            return !shared_.is_stopping;
        };
        const auto source = [&]() -> Result<std::optional<SimJob>> {
            return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
        };
        return simulate(yardstick_.cores, plan.scheduler, order.get(), source, sink, &control);
    }

    Status replay(const PlannedReplay& plan, Replayed& replayed) {
        replayed.outcomes.reserve(jobs_.size());
        const auto counters = simulate_one(
            plan, jobs_, [&](const Outcome& outcome) { replayed.outcomes.push_back(outcome); }, true);
        if (!counters) {
            return Error{counters.error().code, plan.name + ": " + counters.error().message};
        }
        replayed.is_complete = !counters->interrupted;
        std::sort(replayed.outcomes.begin(), replayed.outcomes.end(),
                  [](const Outcome& a, const Outcome& b) { return a.place < b.place; });
        return Done{};
    }

    /// Exact where that is possible; else a sample. Left out when stopped on the way.
    Status fair_start(const PlannedReplay& plan, Replayed& replayed) {
        const auto every = static_cast<std::uint32_t>(std::max<std::size_t>(jobs_.size() / sample_, 1));
        const bool is_exact = !plan.order && has_exact_fair_starts(plan.scheduler);
        auto fair = is_exact ? fair_starts(replayed.outcomes, yardstick_.cores, plan.scheduler)
                             : fair_starts_sampled(replayed.outcomes, every, [&](std::span<const SimJob> jobs) {
                                   return last_start(plan, jobs);
                               });
        if (!fair) {
            return shared_.is_stopping ? Status(Done{}) : fair.error();
        }
        const std::uint64_t looked_at = is_exact ? replayed.outcomes.size() : fair->size();
        replayed.fair_start = fair_start_metrics(replayed.outcomes, *fair, looked_at);
        replayed.is_fair_start_sampled = !is_exact;
        return Done{};
    }

    Result<Instant> last_start(const PlannedReplay& plan, std::span<const SimJob> jobs) {
        Instant start = never;
        const auto counters = simulate_one(
            plan, jobs,
            [&](const Outcome& outcome) { start = outcome.place + 1 == jobs.size() ? outcome.start : start; }, false);
        if (!counters) {
            return counters.error();
        }
        return counters->interrupted ? Result<Instant>(Error{std::errc::interrupted, "interrupted"}) : start;
    }

    const Yardstick& yardstick_;
    const std::vector<SimJob>& jobs_;
    std::uint32_t sample_;
    Shared& shared_;
};

Result<ReplayResults> collected(std::vector<One>& all, bool is_interrupted) {
    ReplayResults results;
    results.is_interrupted = is_interrupted;
    for (One& one : all) {
        if (one.error) {
            return *one.error;
        }
        if (!one.replayed.outcomes.empty()) {
            results.replays.push_back(std::move(one.replayed));
            results.measures.push_back(std::move(one.measured));
        }
    }
    return results;
}

}  // namespace

Result<ReplayResults> replay_all(const std::vector<PlannedReplay>& plan, const Yardstick& yardstick,
                                 const std::vector<SimJob>& jobs, Signals& signals, const ReplayWatch& watch) {
    Shared shared;
    AllDone done;
    std::vector<One> all(plan.size());
    const std::size_t count = std::min<std::size_t>(std::max(std::thread::hardware_concurrency(), 1U), plan.size());
    shared.at_work = count;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            for (std::size_t at = shared.next++; at < plan.size() && !shared.is_stopping; at = shared.next++) {
                Worker(yardstick, jobs, watch.fair_start_sample, shared).run(plan[at], all[at]);
            }
            if (--shared.at_work == 0) {
                done.raise();
            }
        });
    }
    const auto whole = static_cast<double>(std::max<std::size_t>(plan.size() * jobs.size(), 1));
    while (wait_readable({done.fd(), shared.is_stopping ? -1 : signals.fd()}, 100ms) != 0) {
        shared.is_stopping = signals.is_stop_asked();
        if (watch.progress) {
            const std::uint64_t started = shared.started;
            watch.progress(static_cast<double>(started) / whole, started);
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return collected(all, shared.is_stopping);
}

}  // namespace weir::cmd
