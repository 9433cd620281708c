// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the closed form of decaying usage between the events of a timeline.
#include "libsched/sim/usage_history.hpp"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

constexpr Duration day = std::chrono::hours(24);
constexpr double underflow = 750;  ///< exp(-750) is 0 as a double, and expm1(-750) is -1

class FadingUsage {
  public:
    FadingUsage(const PartyTree& tree, Duration half_life)
        : tree_(tree), rate_(std::log(2.) / to_seconds(half_life)), parties_(tree.parties.size()) {}

    void run(std::uint32_t payer, std::int64_t cores, Instant now) {
        for (std::uint32_t at = payer;; at = tree_.parties[at].parent) {
            parties_[at].usage = usage(at, now);
            parties_[at].since = now;
            parties_[at].running += cores;
            if (at == 0) {
                return;
            }
        }
    }
    void ask(std::uint32_t payer, int jobs) {
        for (std::uint32_t at = payer;; at = tree_.parties[at].parent) {
            parties_[at].jobs += jobs;
            if (at == 0) {
                return;
            }
        }
    }
    bool is_asked() const { return parties_[0].jobs > 0; }
    /// From `since` on without an event until then, usage() of all parties is the same double: what was used before has
    /// decayed to nothing, what runs has come to its limit.
    bool is_steady(Instant since, Instant now) const { return rate_ * to_seconds(now - since) > underflow; }
    UsageSample look(Instant now) const {
        UsageSample sample{now, {}, {}};
        for (std::uint32_t at = 0; at < parties_.size(); ++at) {
            sample.usage_core_s.push_back(usage(at, now));
            sample.asks.push_back(parties_[at].jobs > 0);
        }
        return sample;
    }

  private:
    struct Of {
        double usage = 0;
        Instant since{};
        std::int64_t running = 0;
        std::int64_t jobs = 0;
    };
    double usage(std::uint32_t at, Instant now) const {
        const Of& of = parties_[at];
        const double exponent = -rate_ * to_seconds(now - of.since);
        return of.usage * std::exp(exponent) - static_cast<double>(of.running) * std::expm1(exponent) / rate_;
    }

    const PartyTree& tree_;
    double rate_;
    std::vector<Of> parties_;
};

/// Takes an event of `timeline`.
void take(FadingUsage& usage, const Timeline& timeline, const PartyTree& tree, Change change, std::uint32_t at) {
    const Outcome& outcome = timeline.outcome(at);
    const std::uint32_t payer = tree.payer[at];
    switch (change) {
        case Change::submitted:
            usage.ask(payer, 1);
            break;
        case Change::started:
            usage.run(payer, outcome.job.cores, outcome.start);
            break;
        case Change::ended:
            usage.run(payer, -std::int64_t{outcome.job.cores}, outcome.end());
            usage.ask(payer, -1);
            break;
    }
}

std::vector<double> siblings_sums(const PartyTree& tree, const std::vector<double>& of) {
    std::vector<double> sums(of.size());
    for (std::size_t i = 1; i < of.size(); ++i) {
        sums[tree.parties[i].parent] += of[i];
    }
    return sums;
}

}  // namespace

std::vector<UsageSample> usage_history(const Timeline& timeline, const PartyTree& tree, Duration half_life,
                                       const std::vector<Instant>& looks) {
    FadingUsage usage(tree, half_life);
    std::vector<UsageSample> samples;
    std::size_t next = 0;
    timeline.walk([&](Change change, std::uint32_t at) { take(usage, timeline, tree, change, at); },
                  [&](Instant, Instant to) {
                      for (; next < looks.size() && looks[next] < to; ++next) {
                          samples.push_back(usage.look(looks[next]));
                      }
                  });
    for (; next < looks.size(); ++next) {
        samples.push_back(usage.look(looks[next]));
    }
    return samples;
}

std::vector<Instant> equal_looks(const Timeline& timeline, std::size_t parts) {
    std::vector<Instant> looks;
    if (!timeline.empty()) {
        const double begin = to_seconds(timeline.begin());
        const double width = to_seconds(timeline.end() - timeline.begin()) / static_cast<double>(parts);
        for (std::size_t i = 0; i <= parts; ++i) {
            looks.push_back(instant_from_seconds(begin + width * static_cast<double>(i)));
        }
    }
    return looks;
}

std::vector<AskingPart> asking_parts(const UsageSample& sample, const PartyTree& tree) {
    const std::vector<double> entitled = tree.entitled();
    std::vector<AskingPart> parts;
    double all_used = 0, all_entitled = 0;
    for (std::size_t i = 1; i < tree.parties.size(); ++i) {
        if (tree.parties[i].parent == tree.compared_below && sample.asks[i]) {
            parts.push_back({i, sample.usage_core_s[i], entitled[i]});
            all_used += sample.usage_core_s[i];
            all_entitled += entitled[i];
        }
    }
    if (parts.size() < 2 || all_used <= 0 || all_entitled <= 0) {
        return {};
    }
    for (AskingPart& part : parts) {
        part.used /= all_used;
        part.entitled /= all_entitled;
    }
    return parts;
}

std::optional<double> distance_from_entitlement(const UsageSample& sample, const PartyTree& tree) {
    const auto parts = asking_parts(sample, tree);
    double apart = 0;
    for (const AskingPart& part : parts) {
        apart += std::abs(part.used - part.entitled);
    }
    return parts.empty() ? std::nullopt : std::optional(apart / 2);
}

double level_fs_error(const UsageSample& sample, const PartyTree& tree) {
    std::vector<double> shares;
    for (const Party& party : tree.parties) {
        shares.push_back(party.shares);
    }
    std::vector<bool> is_leaf(tree.parties.size(), true);
    for (std::size_t i = 1; i < tree.parties.size(); ++i) {
        is_leaf[tree.parties[i].parent] = false;
    }
    const std::vector<double> level_shares = siblings_sums(tree, shares);
    const std::vector<double> level_usage = siblings_sums(tree, sample.usage_core_s);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 1; i < tree.parties.size(); ++i) {
        const double usage = sample.usage_core_s[i];
        const std::uint32_t parent = tree.parties[i].parent;
        if (is_leaf[i] && sample.asks[i] && usage > 0 && shares[i] > 0) {
            sum += std::abs(std::log2((shares[i] / level_shares[parent]) / (usage / level_usage[parent])));
            count++;
        }
    }
    return count > 0 ? sum / static_cast<double>(count) : 0;
}

double daily_level_fs_error(const Timeline& timeline, const PartyTree& tree, Duration half_life) {
    if (timeline.empty()) {
        return 0;
    }
    FadingUsage usage(tree, half_life);
    const std::int64_t days = (timeline.end() - timeline.begin()) / day;
    std::int64_t next = 1;  ///< the day whose end is looked at next
    double mean = 0;
    timeline.walk([&](Change change, std::uint32_t at) { take(usage, timeline, tree, change, at); },
                  [&](Instant from, Instant to) {
                      // Of the ends of days before `to`; one at `to` is after the events there.
                      const std::int64_t behind = (to - timeline.begin() - Duration{1}) / day + 1;
                      double part = 0;
                      for (bool is_known = false; usage.is_asked() && next < behind; ++next) {
                          const Instant at = timeline.begin() + next * day;
                          if (!is_known) {
                              part = level_fs_error(usage.look(at), tree) / static_cast<double>(days);
                              is_known = usage.is_steady(from, at);
                          }
                          mean += part;  // by additions, so that the value does not depend on what is known
                      }
                      next = std::max(next, behind);
                  });
    return mean;  // at the last end nobody asks for anything
}

}  // namespace weir
