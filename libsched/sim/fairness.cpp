// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the integrals over a timeline, party by party and level by level.
#include "libsched/sim/fairness.hpp"

#include <algorithm>
#include <cmath>

#include "libsched/sim/fair_division.hpp"

namespace weir {
namespace {

constexpr double served_enough = 0.8;

/// Parties of a level: places in the tree, and the level's own integrals.
struct Level {
    std::uint32_t depth;
    std::vector<bool> holds;  ///< by party
    double deviation = 0;     ///< core-seconds
    double time = 0;          ///< with at least two active parties

    void add(const FairDivision& division, double held) {
        double apart = 0;
        std::size_t count = 0;
        for (const std::uint32_t at : division.active()) {
            if (holds[at]) {
                apart += std::abs(static_cast<double>(division.running(at)) - division.entitled(at));
                count++;
            }
        }
        if (count >= 2) {
            deviation += apart / 2 * held;
            time += held;
        }
    }
};

std::vector<Level> levels_of(const PartyTree& tree) {
    const std::vector<std::uint32_t> depths = tree.depths();
    std::vector<bool> is_leaf(depths.size(), true);
    for (std::size_t i = 1; i < depths.size(); ++i) {
        is_leaf[tree.parties[i].parent] = false;
    }
    std::vector<Level> levels;
    for (std::uint32_t depth = 1; depth <= *std::max_element(depths.begin(), depths.end()); ++depth) {
        Level level{depth, std::vector<bool>(depths.size())};
        for (std::size_t i = 1; i < depths.size(); ++i) {
            level.holds[i] = depths[i] == depth || (depths[i] < depth && is_leaf[i]);
        }
        levels.push_back(std::move(level));
    }
    return levels;
}

class Accrual {
  public:
    Accrual(const Timeline& timeline, const PartyTree& tree, std::int64_t cores)
        : timeline_(timeline),
          tree_(tree),
          division_(tree, cores),
          parties_(tree.parties.size()),
          starving_since_(tree.parties.size(), never),
          starved_in_(tree.parties.size()),
          levels_(levels_of(tree)) {}

    void change(Change change, std::uint32_t at) {
        const std::int64_t cores = timeline_.outcome(at).job.cores;
        const std::uint32_t payer = tree_.payer[at];
        switch (change) {
            case Change::submitted:
                division_.ask(payer, cores);
                break;
            case Change::started:
                division_.run(payer, cores);
                break;
            case Change::ended:
                division_.run(payer, -cores);
                division_.ask(payer, -cores);
                break;
        }
    }

    void hold(Instant from, Instant to) {
        division_.divide();
        stretch_++;
        const double held = to_seconds(to - from);
        for (const std::uint32_t at : division_.active()) {
            add(parties_[at], at, held, from);
        }
        for (Level& level : levels_) {
            level.add(division_, held);
        }
        end_starving(from);
        std::swap(starving_, starving_before_);
        starving_.clear();
        last_ = to;
    }

    FairnessMetrics finish(std::int64_t cores) {
        stretch_++;
        end_starving(last_);
        add_jobs();
        FairnessMetrics metrics;
        for (const Level& level : levels_) {
            metrics.levels.push_back(level_metrics(level, cores));
        }
        metrics.parties = std::move(parties_);
        return metrics;
    }

  private:
    void add(PartyMetrics& party, std::uint32_t at, double held, Instant from) {
        const auto running = static_cast<double>(division_.running(at));
        const double entitled = division_.entitled(at);
        party.delivered_core_s += running * held;
        party.allotted_core_s += entitled * held;
        party.short_core_s += std::max(0., entitled - running) * held;
        if (running < served_enough * entitled) {
            party.starving_core_s += entitled * held;
            starving_since_[at] = std::min(starving_since_[at], from);
            starving_.push_back(at);
            starved_in_[at] = stretch_;
        }
    }

    /// Who starved in the stretch before and does not in the one that begins at `now`.
    void end_starving(Instant now) {
        for (const std::uint32_t at : starving_before_) {
            if (starved_in_[at] != stretch_) {
                parties_[at].starving_longest = std::max(parties_[at].starving_longest, now - starving_since_[at]);
                starving_since_[at] = never;
            }
        }
    }

    void add_jobs() {
        for (std::uint32_t i = 0; i < tree_.payer.size(); ++i) {
            const Outcome& outcome = timeline_.outcome(i);
            for (std::uint32_t at = tree_.payer[i];; at = tree_.parties[at].parent) {
                parties_[at].jobs++;
                parties_[at].wait_s += to_seconds(outcome.wait());
                parties_[at].slowdown += bounded_slowdown(outcome);
                if (at == 0) {
                    break;
                }
            }
        }
        for (PartyMetrics& party : parties_) {
            party.wait_s /= static_cast<double>(std::max<std::uint64_t>(party.jobs, 1));
            party.slowdown /= static_cast<double>(std::max<std::uint64_t>(party.jobs, 1));
        }
    }

    LevelMetrics level_metrics(const Level& level, std::int64_t cores) const {
        LevelMetrics metrics;
        metrics.depth = level.depth;
        metrics.deviation = level.time > 0 ? level.deviation / (static_cast<double>(cores) * level.time) : 0;
        std::vector<double> slowdowns, waits, short_of, served;
        double due = 0, starving = 0;
        for (std::size_t i = 1; i < parties_.size(); ++i) {
            const PartyMetrics& party = parties_[i];
            if (!level.holds[i] || party.jobs == 0) {
                continue;
            }
            slowdowns.push_back(party.slowdown);
            waits.push_back(party.wait_s);
            due += party.allotted_core_s;
            starving += party.starving_core_s;
            metrics.starving_longest = std::max(metrics.starving_longest, party.starving_longest);
            if (party.allotted_core_s > 0) {
                short_of.push_back(party.under_service());
                served.push_back(party.delivered_core_s / party.allotted_core_s);
            }
        }
        metrics.parties = slowdowns.size();
        metrics.jain_slowdown = jain_index(slowdowns);
        metrics.jain_wait = jain_index(waits);
        metrics.slowdown = spread_of(std::move(slowdowns));
        metrics.wait_s = spread_of(std::move(waits));
        metrics.under_service = spread_of(std::move(short_of));
        metrics.gini = gini_index(std::move(served));
        metrics.starving = due > 0 ? starving / due : 0;
        return metrics;
    }

    const Timeline& timeline_;
    const PartyTree& tree_;
    FairDivision division_;
    std::vector<PartyMetrics> parties_;
    std::vector<Instant> starving_since_;  ///< `never`: does not starve
    std::vector<std::uint32_t> starving_, starving_before_;
    std::vector<std::uint64_t> starved_in_;  ///< the last stretch
    std::uint64_t stretch_ = 0;
    std::vector<Level> levels_;
    Instant last_{};
};

}  // namespace

FairnessMetrics fairness_metrics(const Timeline& timeline, const PartyTree& tree, std::int64_t machine_cores) {
    Accrual accrual(timeline, tree, machine_cores);
    timeline.walk([&](Change change, std::uint32_t at) { accrual.change(change, at); },
                  [&](Instant from, Instant to) { accrual.hold(from, to); });
    return accrual.finish(machine_cores);
}

EqualityMetrics equality_metrics(const Timeline& timeline, std::int64_t machine_cores) {
    EqualityMetrics metrics;
    // What a job that was there from the beginning has deserved so far: a job's is the difference over its stay.
    double deserved = 0;
    std::int64_t jobs = 0;
    std::uint64_t count = 0;
    std::vector<double> at_submit(timeline.size());
    timeline.walk(
        [&](Change change, std::uint32_t at) {
            if (change == Change::submitted) {
                at_submit[at] = deserved;
                jobs++;
                count++;
            } else if (change == Change::ended) {
                const Outcome& outcome = timeline.outcome(at);
                const double own = deserved - at_submit[at];
                const double missing = own - outcome.job.cores * to_seconds(outcome.job.run);
                metrics.deserved_core_s += own;
                metrics.short_core_s += std::max(0., missing);
                metrics.short_jobs += missing > 0 ? 1 : 0;
                jobs--;
            }
        },
        [&](Instant from, Instant to) {
            if (jobs > 0) {
                deserved += static_cast<double>(machine_cores) * to_seconds(to - from) / static_cast<double>(jobs);
            }
        });
    metrics.short_mean_core_s = count > 0 ? metrics.short_core_s / static_cast<double>(count) : 0;
    return metrics;
}

}  // namespace weir
