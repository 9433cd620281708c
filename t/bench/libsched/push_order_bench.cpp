// SPDX-License-Identifier: LGPL-3.0-only
// push_order_bench LOG [JOBS]: a log's jobs wait as they did, with a priority pass every 30 s under the default
// settings and a flat fair-share tree of its users. How many values PushOrder sends, beside how many numbers changed:
// at most 1 %, and an order without error, or it fails. Without the log it says so and succeeds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <queue>
#include <set>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/priority/push_order.hpp"
#include "libsched/sim/swf.hpp"

using namespace weir;

namespace {

constexpr Duration pass_interval = std::chrono::seconds(30);

struct LogJob {
    std::uint64_t id;
    Instant submit, start, end;
    Duration limit;
    std::uint32_t cores;
    std::int64_t user;
};

struct Log {
    std::vector<LogJob> jobs;
    std::int64_t cores = 0;
};

Log read(const char* path, std::size_t jobs_max) {
    Log log;
    auto reader = SwfReader::open(path, {true});
    WEIR_CHECK(reader.has_value());
    while (log.jobs.size() < jobs_max) {
        const auto line = reader->next();
        WEIR_CHECK(line.has_value());
        if (!*line) {
            break;
        }
        const SwfJob& job = **line;
        const std::int64_t cores = std::max(job.processors, job.requested_processors);
        if (cores < 1 || job.run < 0 || job.wait < 0) {
            continue;
        }
        const Instant submit{Duration{std::chrono::seconds{job.submit}}};
        const Instant start = submit + std::chrono::seconds{job.wait};
        log.jobs.push_back({log.jobs.size(), submit, start, start + std::chrono::seconds{job.run},
                            std::chrono::seconds{std::max(job.requested_time, job.run)},
                            static_cast<std::uint32_t>(cores), job.user});
    }
    log.cores = reader->max_processors();
    std::stable_sort(log.jobs.begin(), log.jobs.end(),
                     [](const auto& a, const auto& b) { return a.submit < b.submit; });
    return log;
}

ShareTree tree_of(const Log& log) {
    std::set<std::int64_t> users;
    for (const LogJob& job : log.jobs) {
        users.insert(job.user);
    }
    std::vector<NodeSpec> specs;
    for (const std::int64_t user : users) {
        specs.push_back({"@u" + std::to_string(user), std::nullopt, 1, {}});
    }
    return std::get<ShareTree>(build_share_tree(specs));
}

struct Counts {
    std::uint64_t passes = 0, computed = 0, first = 0, changed = 0, sent = 0, misplaced = 0;
    double seconds = 0.;
};

class Replay {
  public:
    explicit Replay(const Log& log)
        : log_(log),
          tree_(std::make_shared<const ShareTree>(tree_of(log))),
          ledger_(tree_, PolicySettings{}.half_life),
          engine_(settings(log)),
          slots_(log.jobs.size()),
          is_new_(log.jobs.size(), true) {}

    Counts run() {
        for (Instant now = log_.jobs.front().submit; next_ < log_.jobs.size() || !waiting_.empty();
             now += pass_interval) {
            advance(now);
            if (!waiting_.empty()) {
                pass(now);
            }
        }
        return counts_;
    }

  private:
    struct Later {
        Instant at;
        std::size_t job;
        friend bool operator>(const Later& a, const Later& b) { return a.at > b.at; }
    };
    using Agenda = std::priority_queue<Later, std::vector<Later>, std::greater<>>;

    static PrioritySettings settings(const Log& log) {
        const auto cores = static_cast<std::uint32_t>(log.cores);
        return engine_settings(PolicySettings{}, {cores, cores, 0., 0.});
    }
    NodeId payer(const LogJob& job) const { return *tree_->find("@u" + std::to_string(job.user)); }

    void advance(Instant now) {
        for (; next_ < log_.jobs.size() && log_.jobs[next_].submit <= now; next_++) {
            const LogJob& job = log_.jobs[next_];
            JobInputs in;
            in.id = JobId{job.id};
            in.submit = job.submit;
            in.eligible = job.submit + PolicySettings{}.wait_after.of(job.limit);
            in.association = payer(job).value;
            in.cores = job.cores;
            slots_[next_] = engine_.insert(in);
            waiting_.push({job.start, next_});
        }
        for (; !waiting_.empty() && waiting_.top().at <= now; waiting_.pop()) {
            const LogJob& job = log_.jobs[waiting_.top().job];
            engine_.remove(slots_[waiting_.top().job]);
            ledger_.start(payer(job), job.cores, job.start);
            running_.push({job.end, waiting_.top().job});
        }
        for (; !running_.empty() && running_.top().at <= now; running_.pop()) {
            const LogJob& job = log_.jobs[running_.top().job];
            ledger_.end(payer(job), job.cores, job.end);
        }
    }

    void pass(Instant now) {
        ledger_.snapshot(now, snapshot_);
        evaluate(FairTree{}, *tree_, snapshot_.usage, standings_);
        changed_.clear();
        engine_.pass(now, standings_.factor, changed_);
        const auto begin = std::chrono::steady_clock::now();
        const auto sends = order_.pass(engine_, now, standings_.factor);
        counts_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        counts_.passes++;
        counts_.computed += engine_.size();
        const auto first = static_cast<std::uint64_t>(
            std::count_if(sends.begin(), sends.end(), [&](const auto& send) { return is_new_[send.id.value]; }));
        for (const auto& send : sends) {
            is_new_[send.id.value] = false;
        }
        counts_.first += first;
        counts_.changed += changed_.size() - first;
        counts_.sent += sends.size() - first;
        count_misplaced(now);
    }

    /// Sorts the jobs by the values sent, and looks whether their priorities are sorted, too.
    void count_misplaced(Instant now) {
        std::vector<std::pair<QueueKey, std::int64_t>> queue;
        for (std::uint32_t i = 0; i < engine_.slots(); i++) {
            if (engine_.is_live({i})) {
                const JobInputs in = engine_.inputs({i});
                queue.push_back(
                    {{order_.value({i}), in.submit, in.id}, engine_.fine_priority({i}, now, standings_.factor)});
            }
        }
        std::sort(queue.begin(), queue.end());
        for (std::size_t i = 1; i < queue.size(); i++) {
            const auto& [before, before_fine] = queue[i - 1];
            const auto& [after, after_fine] = queue[i];
            const bool is_tie_right = QueueKey{0, before.submit, before.id} < QueueKey{0, after.submit, after.id};
            counts_.misplaced += before_fine > after_fine || (before_fine == after_fine && is_tie_right) ? 0 : 1;
        }
    }

    const Log& log_;
    ShareTreePtr tree_;
    UsageLedger ledger_;
    PriorityEngine engine_;
    PushOrder order_;
    UsageSnapshot snapshot_;
    Standings standings_;
    std::vector<PriorityEngine::Slot> slots_;
    std::vector<bool> is_new_;  ///< by id: never sent
    std::vector<PriorityEngine::Change> changed_;
    std::size_t next_ = 0;
    Agenda waiting_, running_;
    Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || !std::filesystem::exists(argv[1])) {
        std::printf("[skip] push_order_bench LOG [JOBS]: no log %s\n", argc < 2 ? "given" : argv[1]);
        return 0;
    }
    const std::size_t jobs_max = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0xFFFFFFFFU;
    const Log log = read(argv[1], jobs_max);
    const Counts c = Replay(log).run();
    const double part = static_cast<double>(c.sent) / static_cast<double>(c.changed);
    std::printf("jobs %zu, passes with jobs waiting %llu, jobs computed %llu\n", log.jobs.size(),
                static_cast<unsigned long long>(c.passes), static_cast<unsigned long long>(c.computed));
    std::printf(
        "first values %llu, numbers changed %llu, values sent again %llu (%.3f %%), out of order %llu, %.0f ns a job "
        "computed\n",
        static_cast<unsigned long long>(c.first), static_cast<unsigned long long>(c.changed),
        static_cast<unsigned long long>(c.sent), 100. * part, static_cast<unsigned long long>(c.misplaced),
        1e9 * c.seconds / static_cast<double>(c.computed));
    return c.misplaced == 0 && part <= 0.01 ? 0 : 1;
}
