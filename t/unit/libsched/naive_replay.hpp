// SPDX-License-Identifier: LGPL-3.0-only
// Owns: every policy once more, written for being seen to be right: an array of what is free in each second, made anew
// for each decision; limits are a second at least. Shares nothing with libsched but the jobs.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "libsched/sim/sim_job.hpp"

namespace weir::test {

class NaiveReplay {
  public:
    struct Rules {
        enum class Kind { fcfs, first_fit, backfill, kept } kind = Kind::backfill;
        int depth = 1;
        int reserve_after = 0;
        int starve_after = 0;  ///< 0: never
        bool shortest_first = false;
        bool widest_first = false;
        enum class Greedy { no, cores, core_seconds } greedy = Greedy::no;  ///< the metric
    };

    NaiveReplay(const std::vector<SimJob>& jobs, int cores, Rules rules) : cores_(cores), rules_(rules) {
        for (const SimJob& job : jobs) {
            jobs_.push_back({seconds(job.submit.time_since_epoch()), seconds(job.run), seconds(job.limit),
                             static_cast<int>(job.cores)});
            length_ += jobs_.back().limit + 1;
        }
        length_ += jobs.empty() ? 0 : jobs_.back().submit;
    }

    std::vector<std::int64_t> starts() {
        for (int now = 0; now <= length_; now++) {
            // A job of no length makes a second pass in the same second.
            for (bool again = true; again;) {
                again = instant(now);
            }
        }
        std::vector<std::int64_t> out;
        for (const Job& job : jobs_) {
            out.push_back(job.start);
        }
        return out;
    }

  private:
    struct Job {
        int submit, run, limit, cores;
        int start = -1;
        bool is_submitted = false;
        bool has_ended = false;
        int reserved = -1;
    };
    using Free = std::vector<int>;  ///< by second

    static int seconds(Duration d) { return static_cast<int>(d.count() / 1'000'000); }

    bool instant(int now) {
        std::vector<Job*> ended;
        std::vector<Job*> arrived;
        for (Job& job : jobs_) {
            if (job.start >= 0 && !job.has_ended && job.start + job.run == now) {
                job.has_ended = true;
                ended.push_back(&job);
            }
        }
        for (Job& job : jobs_) {
            if (!job.is_submitted && job.submit == now) {
                job.is_submitted = true;
                arrived.push_back(&job);
            }
        }
        if (ended.empty() && arrived.empty()) {
            return false;
        }
        std::stable_sort(ended.begin(), ended.end(), [](Job* a, Job* b) { return a->start < b->start; });
        switch (rules_.kind) {
            case Rules::Kind::fcfs:
                fcfs(now);
                break;
            case Rules::Kind::first_fit:
                first_fit(now);
                break;
            case Rules::Kind::backfill:
                backfill(now);
                break;
            case Rules::Kind::kept:
                kept(now, arrived, ended);
                break;
        }
        return std::any_of(jobs_.begin(), jobs_.end(),
                           [&](const Job& job) { return job.start == now && job.run == 0 && !job.has_ended; });
    }

    std::vector<Job*> waiting() {
        std::vector<Job*> out;
        for (Job& job : jobs_) {
            if (job.is_submitted && job.start < 0) {
                out.push_back(&job);
            }
        }
        return out;
    }
    /// By what runs alone.
    Free free_cores(int now) {
        Free free(static_cast<std::size_t>(length_) * 2 + 2, cores_);
        for (const Job& job : jobs_) {
            if (job.start >= 0 && !job.has_ended) {
                take(free, now, job.start + job.limit, job.cores);
                free[static_cast<std::size_t>(now)] -= job.start + job.limit <= now ? job.cores : 0;
            }
        }
        return free;
    }
    static void take(Free& free, int from, int to, int cores) {
        for (int t = from; t < to && t < static_cast<int>(free.size()); t++) {
            free[static_cast<std::size_t>(t)] -= cores;
        }
    }
    static bool fits(const Free& free, const Job& job, int at) {
        bool ok = free[static_cast<std::size_t>(at)] >= job.cores;
        for (int t = at; ok && t < at + job.limit && t < static_cast<int>(free.size()); t++) {
            ok = free[static_cast<std::size_t>(t)] >= job.cores;
        }
        return ok;
    }
    static int earliest(const Free& free, const Job& job, int now) {
        int at = now;
        while (!fits(free, job, at)) {
            at++;
        }
        return at;
    }
    static void start(Free& free, Job& job, int now) {
        job.start = now;
        take(free, now, now + job.limit, job.cores);
    }

    void fcfs(int now) {
        Free free = free_cores(now);
        for (Job* job : waiting()) {
            if (free[static_cast<std::size_t>(now)] < job->cores) {
                return;
            }
            start(free, *job, now);
        }
    }
    void first_fit(int now) {
        Free free = free_cores(now);
        for (Job* job : waiting()) {
            if (rules_.starve_after > 0 && now - job->submit >= rules_.starve_after) {
                if (free[static_cast<std::size_t>(now)] < job->cores) {
                    return;
                }
                start(free, *job, now);
            }
        }
        for (Job* job : waiting()) {
            if (free[static_cast<std::size_t>(now)] >= job->cores) {
                start(free, *job, now);
            }
        }
    }
    void backfill(int now) {
        Free free = free_cores(now);
        int reserved = 0;
        std::vector<Job*> rest;
        for (Job* job : waiting()) {
            if (reserved == rules_.depth) {
                rest.push_back(job);
            } else if (fits(free, *job, now)) {
                start(free, *job, now);
            } else if (now - job->submit >= rules_.reserve_after) {
                const int at = earliest(free, *job, now);
                take(free, at, at + job->limit, job->cores);
                reserved++;
            }
        }
        if (rules_.greedy != Rules::Greedy::no) {
            rest = best_first(free, std::move(rest), now);
        }
        std::stable_sort(rest.begin(), rest.end(), [&](Job* a, Job* b) {
            return (rules_.shortest_first && a->limit < b->limit) || (rules_.widest_first && a->cores > b->cores);
        });
        for (Job* job : rest) {
            if (fits(free, *job, now)) {
                start(free, *job, now);
            }
        }
    }
    /// Those first that fit together and are worth most; of equals the ones with jobs that are worth more by
    /// themselves.
    std::vector<Job*> best_first(const Free& free, std::vector<Job*> rest, int now) const {
        const auto value = [&](const Job* job) {
            return rules_.greedy == Rules::Greedy::cores ? job->cores : job->cores * job->limit;
        };
        std::stable_sort(rest.begin(), rest.end(), [&](Job* a, Job* b) { return value(a) > value(b); });
        std::vector<Job*> taken, best;
        int most = -1;
        const auto search = [&](const auto& self, std::size_t next, const Free& left, int sum) -> void {
            if (next == rest.size()) {
                best = sum > most ? taken : best;
                most = std::max(most, sum);
                return;
            }
            Job* job = rest[next];
            if (fits(left, *job, now)) {
                Free less = left;
                take(less, now, now + job->limit, job->cores);
                taken.push_back(job);
                self(self, next + 1, less, sum + value(job));
                taken.pop_back();
            }
            self(self, next + 1, left, sum);
        };
        search(search, 0, free, 0);
        std::erase_if(rest, [&](Job* job) { return std::find(best.begin(), best.end(), job) != best.end(); });
        best.insert(best.end(), rest.begin(), rest.end());
        return best;
    }
    /// What all others hold: what runs, what is reserved, and the rest of the estimates of what has ended just now.
    Free but(const Job& one, int now, const std::vector<Job*>& not_back) {
        Free free = free_cores(now);
        for (Job* job : waiting()) {
            if (job != &one && job->reserved >= 0) {
                take(free, job->reserved, job->reserved + job->limit, job->cores);
            }
        }
        for (const Job* job : not_back) {
            take(free, now, job->start + job->limit, job->cores);
        }
        return free;
    }
    void kept(int now, const std::vector<Job*>& arrived, std::vector<Job*> ended) {
        for (Job* job : arrived) {
            job->reserved = earliest(but(*job, now, ended), *job, now);
        }
        while (!ended.empty()) {
            ended.erase(ended.begin());
            for (Job* job : waiting()) {
                job->reserved = earliest(but(*job, now, ended), *job, now);
            }
        }
        for (Job* job : waiting()) {
            if (job->reserved == now) {
                job->start = now;
            }
        }
    }

    std::vector<Job> jobs_;
    int cores_;
    int length_ = 1;
    Rules rules_;
};

}  // namespace weir::test
