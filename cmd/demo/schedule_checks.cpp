// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sweeps of schedule_checks.hpp over the events of a run, in order of time.
#include "cmd/demo/schedule_checks.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cmd/common/text.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::cmd {
namespace {

/// A change of a count. Of changes at the same time those downwards come first: cores are free when they are released.
struct Step {
    Instant at{};
    std::int64_t change = 0;
    friend bool operator<(const Step& a, const Step& b) {
        return std::pair(a.at, a.change) < std::pair(b.at, b.change);
    }
};

std::int64_t most_at_once(std::vector<Step> steps) {
    std::sort(steps.begin(), steps.end());
    std::int64_t now = 0, most = 0;
    for (const Step& step : steps) {
        now += step.change;
        most = std::max(most, now);
    }
    return most;
}

/// When the job got the priority above 0 that it kept until it started: a job that is held or that a limit holds back
/// has 0.
std::optional<Instant> admitted_at(const JobRecord& job) {
    std::optional<Instant> since;
    for (const PriorityStep& step : job.priorities) {
        if (step.at > job.alloc) {
            break;
        }
        since = step.priority == 0 ? std::nullopt : since ? since : step.at;
    }
    return since;
}

/// 0: none yet.
std::int64_t priority_at(const JobRecord& job, Instant at) {
    const auto after = std::upper_bound(job.priorities.begin(), job.priorities.end(), at,
                                        [](Instant t, const PriorityStep& step) { return t < step.at; });
    return after == job.priorities.begin() ? 0 : std::prev(after)->priority;
}

/// At every instant of [begin, end].
bool is_ahead(const JobRecord& job, const JobRecord& other, Instant begin, Instant end) {
    const auto leads = [&](Instant at) { return priority_at(job, at) > priority_at(other, at); };
    const auto leads_after_changes_of = [&](const JobRecord& changed) {
        return std::all_of(changed.priorities.begin(), changed.priorities.end(), [&](const PriorityStep& step) {
            return step.at <= begin || step.at > end || leads(step.at);
        });
    };
    return leads(begin) && leads_after_changes_of(job) && leads_after_changes_of(other);
}

std::string real_text(Duration scaled, const Slack& slack) {
    return fixed(to_seconds(scaled) / to_seconds(slack.second), 1) + " s";
}

std::string job_text(const JobRecord& job) {
    return "job " + std::to_string(job.id) + " of " + job.user;
}

}  // namespace

std::vector<NodeLimit> limits_of(const std::string& share_tree) {
    const auto parsed = parse_share_tree(share_tree);
    const ShareTree* tree = std::get_if<ShareTree>(&parsed);
    std::vector<NodeLimit> limits;
    for (std::uint32_t id = 0; tree != nullptr && id < tree->size(); ++id) {
        for (const LimitKind kind : {LimitKind::cores, LimitKind::running_jobs}) {
            if (const auto limit = tree->limit(NodeId{id}, kind)) {
                limits.push_back({tree->path(NodeId{id}), *limit});
            }
        }
    }
    return limits;
}

Slack slack_of(const std::vector<JobRecord>& jobs, double scale) {
    Slack slack{duration_from_seconds(scale), {}};
    for (const JobRecord& job : jobs) {
        slack.slowest_report = std::max(slack.slowest_report, job.has_run() ? job.recorded - job.alloc : Duration{});
    }
    return slack;
}

Check check_limits(const std::vector<NodeLimit>& limits, const std::vector<JobRecord>& jobs) {
    Check check{"limits hold over all partitions together", true, ""};
    std::vector<std::string> peaks;
    for (const auto& [path, limit] : limits) {
        const bool is_of_cores = limit.kind == LimitKind::cores;
        std::vector<Step> steps;
        for (const JobRecord& job : jobs) {
            if (job.has_run() && is_at_or_below(association(job), path)) {
                const std::int64_t amount = is_of_cores ? job.cores : 1;
                steps.insert(steps.end(), {{job.alloc, amount}, {job.free, -amount}});
            }
        }
        const std::int64_t most = most_at_once(std::move(steps));
        check.holds = check.holds && most <= static_cast<std::int64_t>(limit.hard);
        const std::string name = path.substr(path.rfind('/') + 1);
        peaks.push_back((name[0] == '@' ? name.substr(1) : name) + " at most " + std::to_string(most) + " of " +
                        std::to_string(limit.hard) + (is_of_cores ? " cores" : " running jobs"));
    }
    check.detail = listed(peaks);
    return check;
}

// ---- overflow ----

namespace {

/// Cores that a partition lends from an instant on, until the next one.
struct Lent {
    Instant at{};
    std::int64_t cores = 0;
};

std::vector<Lent> lent_by(const Partition& partition, const std::vector<JobRecord>& jobs) {
    std::vector<std::pair<Instant, std::pair<std::int64_t, std::int64_t>>> steps;  // changes of free cores, own waiting
    for (const JobRecord& job : jobs) {
        if (!job.has_run()) {
            continue;
        }
        if (job.partition == partition.name) {
            steps.push_back({job.alloc, {-job.cores, 0}});
            steps.push_back({job.free, {job.cores, 0}});
        }
        if (const auto since = admitted_at(job); since && job.queue == partition.name) {
            steps.push_back({*since, {0, 1}});
            steps.push_back({job.alloc, {0, -1}});
        }
    }
    std::sort(steps.begin(), steps.end());
    std::vector<Lent> lent{{Instant{}, partition.cores()}};
    std::int64_t free = partition.cores(), waiting = 0;
    for (const auto& [at, change] : steps) {
        free += change.first;
        waiting += change.second;
        const Lent now{at, waiting > 0 ? 0 : free};
        if (lent.back().at == at) {
            lent.back() = now;
        } else {
            lent.push_back(now);
        }
    }
    return lent;
}

/// The longest time in which the waiting job could have had the cores.
Duration longest_beside(const std::vector<Lent>& lent, const JobRecord& job, Instant since) {
    auto step = std::prev(
        std::upper_bound(lent.begin(), lent.end(), since, [](Instant t, const Lent& one) { return t < one.at; }));
    Duration longest{};
    std::optional<Instant> begin;
    for (; step != lent.end() && step->at < job.alloc; ++step) {
        begin = step->cores < job.cores ? std::nullopt : begin ? begin : std::max(step->at, since);
        const Instant end = std::next(step) == lent.end() ? job.alloc : std::min(std::next(step)->at, job.alloc);
        longest = std::max(longest, begin ? end - *begin : Duration{});
    }
    return longest;
}

}  // namespace

Check check_overflow(const std::vector<Partition>& partitions, const std::vector<JobRecord>& jobs, const Slack& slack) {
    Duration longest{};
    std::string whose;
    std::int64_t borrowers = 0;
    for (const JobRecord& job : jobs) {
        borrowers += job.has_run() && job.partition != job.queue ? 1 : 0;
    }
    for (const Partition& lender : partitions) {
        const std::set<std::string> queues(lender.overflow.begin(), lender.overflow.end());
        if (queues.empty()) {
            continue;
        }
        const std::vector<Lent> lent = lent_by(lender, jobs);
        for (const JobRecord& job : jobs) {
            const auto since = admitted_at(job);
            if (!job.has_run() || !since || queues.count(job.queue) == 0) {
                continue;
            }
            if (const Duration beside = longest_beside(lent, job, *since); beside > longest) {
                longest = beside;
                whose = job_text(job) + " waited " + real_text(beside, slack) + " beside free cores of " + lender.name;
            }
        }
    }
    const bool holds = longest <= slack.while_it_moves();
    return {"no job waits beside cores that are lent to its queue", holds,
            grouped(borrowers) + " ran in the partition of another queue; " +
                (holds ? "the longest wait beside free cores was " + real_text(longest, slack) : whose)};
}

// ---- order ----

namespace {

class OrderSweep {
  public:
    OrderSweep(const std::vector<JobRecord>& jobs, const Slack& slack) : jobs_(jobs), slack_(slack) {}

    void run() {
        enum Kind { admission, start };
        std::vector<std::tuple<Instant, Kind, std::size_t>> events;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const auto since = admitted_at(jobs_[i]);
            if (jobs_[i].has_run() && since) {
                events.emplace_back(*since, admission, i);
                events.emplace_back(jobs_[i].alloc, start, i);
            }
        }
        std::sort(events.begin(), events.end());
        for (const auto& [at, kind, index] : events) {
            std::set<std::size_t>& waiting = waiting_[jobs_[index].queue];
            if (kind == admission) {
                waiting.insert(index);
                continue;
            }
            waiting.erase(index);
            for (const std::size_t other : waiting) {
                compare(jobs_[index], jobs_[other]);
            }
        }
    }
    std::int64_t pairs() const { return pairs_; }
    const std::string& passed() const { return passed_; }

  private:
    void compare(const JobRecord& started, const JobRecord& waits) {
        if (had_precedence(started, waits, started.alloc)) {
            pairs_ += 1;
        } else if (started.partition == started.queue && had_precedence(waits, started, started.alloc)) {
            pairs_ += 1;
            if (const Duration on = waits.alloc - started.alloc;
                on > patience_with(waits, started.alloc) && passed_.empty()) {
                passed_ = job_text(started) + " started " + real_text(on, slack_) + " before " + job_text(waits);
            }
        }
    }
    Duration patience_with(const JobRecord& job, Instant at) const {
        const bool moves = std::any_of(job.moves.begin(), job.moves.end(), [&](Instant move) {
            return move >= at - slack_.moment() && move <= at + slack_.moment();
        });
        return moves ? slack_.while_it_moves() : Duration{};
    }
    bool had_precedence(const JobRecord& job, const JobRecord& other, Instant at) const {
        return job.cores <= other.cores && job.requested <= other.requested &&
               is_ahead(job, other, at - slack_.moment(), at);
    }

    const std::vector<JobRecord>& jobs_;
    Slack slack_;
    std::map<std::string, std::set<std::size_t>> waiting_;  // admitted jobs by queue
    std::int64_t pairs_ = 0;
    std::string passed_;
};

}  // namespace

Check check_order(const std::vector<JobRecord>& jobs, const Slack& slack) {
    OrderSweep sweep(jobs, slack);
    sweep.run();
    return {"no job passes one of higher priority that needs no more", sweep.passed().empty(),
            (sweep.passed().empty() ? "" : sweep.passed() + "; ") + grouped(sweep.pairs()) +
                (sweep.pairs() == 1 ? " pair" : " pairs") + " compared in which one was ahead for " +
                real_text(slack.moment(), slack)};
}

}  // namespace weir::cmd
