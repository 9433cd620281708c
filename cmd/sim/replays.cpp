// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the threads. They share the jobs, which do not change, and the members of Shared; each writes its own result.
#include "cmd/sim/replays.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <span>
#include <thread>

#include "cmd/sim/site_partitions.hpp"
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
    std::atomic<std::uint64_t> replayed{0};  ///< jobs
    std::atomic<std::uint64_t> planned{0};   ///< jobs, as far as it is known
    std::atomic<std::uint64_t> fair_starts{0};
    std::atomic<std::uint64_t> fair_starts_of{0};

    ReplayProgress progress() const {
        const std::uint64_t jobs = replayed;
        const double part = static_cast<double>(jobs) / static_cast<double>(std::max<std::uint64_t>(planned, 1));
        return {std::min(part, 1.), jobs, fair_starts, fair_starts_of};
    }
};

struct One {
    Replayed replayed;
    Measured measured;
    std::optional<Error> error;
    std::exception_ptr thrown;  ///< as std::bad_alloc; it must not leave its thread
};

/// Of the jobs whose fair starts are looked for.
using Places = std::span<const std::uint32_t>;

bool has_exact_fair_starts(const PlannedReplay& plan) {
    return !plan.order && !plan.tree && weir::has_exact_fair_starts(plan.scheduler);
}

class ReplayWorker {
  public:
    ReplayWorker(const Yardstick& yardstick, const std::vector<SimJob>& jobs, Places fair_start_places, Shared& shared)
        : yardstick_(yardstick), jobs_(jobs), fair_start_places_(fair_start_places), shared_(shared) {}

    void run(const PlannedReplay& plan, One& one) {
        one.replayed.name = plan.name;
        one.replayed.scheduler = plan.tree ? scheduler_text(*plan.tree) : std::string(name_of(plan.scheduler));
        one.replayed.order = plan.order_name;
        one.replayed.without_shares = plan.without_shares;
        Status done = replay(plan, one.replayed);
        if (done && one.replayed.is_complete && !fair_start_places_.empty()) {
            done = fair_start(plan, one.replayed);
        }
        if (!done) {
            one.error = done.error();
            return;
        }
        one.measured = measured(yardstick_, one.replayed);
    }

  private:
    bool goes_on(std::uint64_t jobs) {
        shared_.replayed += jobs;
        return !shared_.is_stopping;
    }

    /// `refused` may be null.
    Result<SimCounters> simulate_one(const PlannedReplay& plan, std::span<const SimJob> jobs, const OutcomeSink& sink,
                                     Skipped* refused) {
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
            const std::uint64_t more = counters.started - told;
            told = counters.started;
            return goes_on(more);
        };
        const auto source = [&]() -> Result<std::optional<SimJob>> {
            return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
        };
        const SimHooks hooks{.order = order.get(), .control = &control};
        const auto refuse = [&](const SimJob& job, const Refusal& why) {
            if (refused != nullptr) {
                add_refused(*refused, job, why);
            }
        };
        auto counters = plan.tree ? simulate_tree(*plan.tree, source, sink, {hooks, refuse})
                                  : simulate(yardstick_.cores, plan.scheduler, source, sink, hooks);
        if (counters && !counters->interrupted) {
            goes_on(jobs.size() - told);
        }
        return counters;
    }

    Status replay(const PlannedReplay& plan, Replayed& replayed) {
        replayed.outcomes.reserve(jobs_.size());
        replayed.partitions = plan.tree ? no_figures(*plan.tree) : std::vector<PartitionFigures>{};
        const auto counters = simulate_one(
            plan, jobs_, [&](const Outcome& outcome) { replayed.outcomes.push_back(outcome); }, &replayed.refused);
        if (!counters) {
            return Error{counters.error().code, plan.name + ": " + counters.error().message};
        }
        replayed.is_complete = !counters->interrupted;
        replayed.never_started = counters->never_started;
        std::sort(replayed.outcomes.begin(), replayed.outcomes.end(),
                  [](const Outcome& a, const Outcome& b) { return a.place < b.place; });
        return Done{};
    }

    /// Keeps the fair starts found until a stop. Not for a policy that refuses jobs, which have no start to compare.
    Status fair_start(const PlannedReplay& plan, Replayed& replayed) {
        if (replayed.outcomes.size() != jobs_.size()) {
            return Done{};
        }
        const bool is_exact = has_exact_fair_starts(plan);
        if (is_exact) {
            shared_.planned += fair_start_work(replayed.outcomes, fair_start_places_);
        }
        shared_.fair_starts_of += fair_start_places_.size();
        auto fair = is_exact
                        ? fair_starts(replayed.outcomes, yardstick_.cores, plan.scheduler, fair_start_places_,
                                      [&](std::uint64_t jobs, std::uint64_t found) {
                                          shared_.fair_starts += found;
                                          return goes_on(jobs);
                                      })
                        : fair_starts_replayed(replayed.outcomes, fair_start_places_,
                                               [&](std::span<const SimJob> jobs) { return last_start(plan, jobs); });
        if (!fair) {
            return fair.error();
        }
        replayed.fair = std::move(*fair);
        return Done{};
    }

    Result<std::optional<Instant>> last_start(const PlannedReplay& plan, std::span<const SimJob> jobs) {
        Instant start = never;
        const auto counters = simulate_one(
            plan, jobs,
            [&](const Outcome& outcome) { start = outcome.place + 1 == jobs.size() ? outcome.start : start; }, nullptr);
        if (!counters) {
            return counters.error();
        }
        shared_.fair_starts += counters->interrupted ? 0 : 1;
        return counters->interrupted ? std::nullopt : std::optional(start);
    }

    const Yardstick& yardstick_;
    const std::vector<SimJob>& jobs_;
    Places fair_start_places_;
    Shared& shared_;
};

Result<ReplayResults> collected(std::vector<One>& all, bool is_interrupted) {
    ReplayResults results;
    results.is_interrupted = is_interrupted;
    for (One& one : all) {
        if (one.error) {
            return *one.error;
        }
        if (one.replayed.outcomes.empty()) {
            results.without_starts.push_back(std::move(one.replayed));
        } else {
            results.replays.push_back(std::move(one.replayed));
            results.measures.push_back(std::move(one.measured));
        }
    }
    measure_fair_starts(results.measures, results.replays);
    return results;
}

/// The same jobs for every policy: all, where each policy lets fair starts be found from the state at a submission.
std::vector<std::uint32_t> places_wanted(const std::vector<PlannedReplay>& plan, const std::vector<SimJob>& jobs,
                                         const ReplayWatch& watch) {
    const bool can_be_all =
        std::all_of(plan.begin(), plan.end(), [](const PlannedReplay& one) { return has_exact_fair_starts(one); });
    const std::size_t count = watch.fair_start_sample == 0 ? 0 : can_be_all ? jobs.size() : watch.fair_start_sample;
    return fair_start_places(jobs.size(), count, watch.seed);
}

/// Jobs of the replays and of those fair starts whose cost is known before.
std::uint64_t planned_jobs(const std::vector<PlannedReplay>& plan, const std::vector<SimJob>& jobs, Places wanted) {
    std::uint64_t again = 0;
    for (const std::uint32_t place : wanted) {
        again += std::uint64_t{place} + 1;
    }
    std::uint64_t planned = 0;
    for (const PlannedReplay& one : plan) {
        planned += jobs.size() + (has_exact_fair_starts(one) ? 0 : again);
    }
    return planned;
}

/// Whether one more thread works; not where the system refuses it, and others do the work. Throws for the first.
template <typename Work>
bool begun(std::vector<std::thread>& threads, const Work& work) {
    try {
        threads.emplace_back(work);
    } catch (const std::exception&) {
        if (threads.empty()) {
            throw;
        }
        return false;
    }
    return true;
}

/// Throws what a replay has thrown.
void rethrow(const std::vector<One>& all) {
    for (const One& one : all) {
        if (one.thrown) {
            std::rethrow_exception(one.thrown);
        }
    }
}

}  // namespace

Result<ReplayResults> replay_all(const std::vector<PlannedReplay>& plan, const Yardstick& yardstick,
                                 const std::vector<SimJob>& jobs, Signals& signals, const ReplayWatch& watch) {
    Shared shared;
    AllDone done;
    std::vector<One> all(plan.size());
    const std::size_t count = std::min<std::size_t>(std::max(std::thread::hardware_concurrency(), 1U), plan.size());
    shared.at_work = count;
    const std::vector<std::uint32_t> wanted = places_wanted(plan, jobs, watch);
    shared.planned = planned_jobs(plan, jobs, wanted);
    std::vector<std::thread> threads;
    const auto work = [&] {
        for (std::size_t at = shared.next++; at < plan.size() && !shared.is_stopping; at = shared.next++) {
            try {
                ReplayWorker(yardstick, jobs, wanted, shared).run(plan[at], all[at]);
            } catch (...) {
                all[at].thrown = std::current_exception();
                shared.is_stopping = true;
            }
        }
        if (--shared.at_work == 0) {
            done.raise();
        }
    };
    threads.reserve(count);
    while (threads.size() < count && begun(threads, work)) {
    }
    if (const std::size_t missing = count - threads.size(); missing > 0 && (shared.at_work -= missing) == 0) {
        done.raise();
    }
    while (wait_readable({done.fd(), shared.is_stopping ? -1 : signals.fd()}, 100ms) != 0) {
        if (!shared.is_stopping && signals.is_stop_asked()) {
            shared.is_stopping = true;
            signals.let_next_end();
        }
        if (watch.progress) {
            watch.progress(shared.progress());
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    rethrow(all);
    auto results = collected(all, shared.is_stopping);
    if (results) {
        results->fair_starts_planned = wanted.size();
    }
    return results;
}

}  // namespace weir::cmd
