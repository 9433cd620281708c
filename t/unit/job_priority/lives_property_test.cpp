// SPDX-License-Identifier: LGPL-3.0-only
// A child instance that dies again and again, with reports and answers lost on the way, and a parent that restarts.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr std::int64_t allocated_cores = 64;

/// What the child's state file holds: every record, in order; and the parent with its own.
class TwoLives {
  public:
    TwoLives() { begin_life(); }

    void start_job() {
        const std::int64_t cores = draw::in_range(1, 5);
        if (cores_running_ + cores <= allocated_cores) {
            begin_job(++last_job_, cores);
        }
    }
    void begin_job(std::uint64_t job, std::int64_t cores) {
        cores_running_ += cores;
        running_[job] = {time_, cores};
        records_.push_back({true, job, "alice", "physics/lattice", cores, at(time_)});
    }
    void end_job(double t) {
        const auto [job, facts] = *running_.begin();
        want_ += static_cast<SignedCoreMicros>(std::llround((t - facts.first) * 1e6)) * facts.second;
        records_.push_back({false, job, "alice", "physics/lattice", facts.second, at(t)});
        cores_running_ -= facts.second;
        running_.erase(running_.begin());
    }
    bool has_running() const { return !running_.empty(); }

    /// Sends up to `count` records; the child may not hear that they were applied.
    void report(std::size_t count, bool is_answered) {
        std::vector<UplinkRow> batch;
        for (std::size_t i = acked_; i < records_.size() && batch.size() < count; ++i) {
            batch.push_back(records_[i]);
        }
        const std::uint64_t applied = parent_->report(child_, acked_ + 1, batch, at(time_));
        store_.apply(parent_->take_batch());
        acked_ = is_answered ? applied : acked_;
    }
    void report_all() {
        while (acked_ < records_.size()) {
            report(100, true);
        }
    }
    /// The child and its job die; the parent thinks that this was at `seen`, the child finds out for itself.
    void die(double seen) {
        happen(freed(child_, seen));
        const double own = time_;
        time_ += 5;
        begin_life();
        std::vector<std::pair<std::uint64_t, std::int64_t>> held;  // without a process: they go on in the next life
        while (has_running()) {
            if (draw::arbitrary<bool>()) {
                held.emplace_back(running_.begin()->first, running_.begin()->second.second);
            }
            end_job(own);
        }
        for (const auto& [job, cores] : held) {
            begin_job(job, cores);
        }
    }
    void restart_parent() {
        parent_ = service();
        put_tree(*parent_);
        REQUIRE(parent_->restore(store_.saved(), at(time_)));
        parent_->begin_backlog();
        parent_->add_backlog(life_);
        parent_->end_backlog(at(time_));
        attach();
    }
    void pass_time() { time_ += 1; }
    double now() const { return time_; }
    SignedCoreMicros want() const { return want_; }
    const PriorityService& parent() const { return *parent_; }

  private:
    void happen(const JobEvent& event) {
        parent_->apply(event);
        store_.apply(parent_->take_batch());
        life_.push_back(event);
    }
    void begin_life() {
        child_ += 1;
        life_.clear();
        happen(submitted(child_, time_, owner));
        happen(eligible(child_, time_));
        happen(started(child_, time_, allocated_cores));
        attach();
        time_ += 1;
    }
    void attach() {
        acked_ = parent_->attach_child(child_, "one", acked_ + 1, at(time_));
        store_.apply(parent_->take_batch());
    }

    std::unique_ptr<PriorityService> parent_ = ready_service();
    MemoryStore store_;
    FluxJobId child_ = 70;
    std::vector<JobEvent> life_;
    double time_ = 10;
    std::vector<UplinkRow> records_;
    std::uint64_t acked_ = 0;
    std::uint64_t last_job_ = 0;
    std::map<std::uint64_t, std::pair<double, std::int64_t>> running_;
    std::int64_t cores_running_ = 0;
    SignedCoreMicros want_ = 0;
};

}  // namespace

// Kills the mutants "a closed job keeps the end that the parent guessed", "an end before the guess charges less than
// nothing", "the next life begins to count anew", "a start of an earlier life is charged in this one".
TEST_CASE("lives: however often a partition dies, users are charged what its journal says") {
    draw::property("the parent's charge is the child's, to the microsecond", [] {
        TwoLives world;
        const auto steps = draw::several([] { return draw::in_range(0, 100); });
        for (const int step : steps) {
            world.pass_time();
            if (step < 35) {
                world.start_job();
            } else if (step < 60 && world.has_running()) {
                world.end_job(world.now());
            } else if (step < 85) {
                world.report(static_cast<std::size_t>(step % 4), step < 80);
            } else if (step < 95) {
                world.die(world.now() + draw::in_range(-3, 4) / 2.);
            } else {
                world.restart_parent();
            }
        }
        world.pass_time();
        while (world.has_running()) {
            world.end_job(world.now());
        }
        world.report_all();
        RC_ASSERT(charged(world.parent(), "physics/lattice/@alice", 1e6) == world.want());
        RC_ASSERT(world.parent().accounting().ledger().charged(idle, at(1e6)) >= 0);
        RC_ASSERT(world.parent().accounting().ledger().rate(idle) == allocated_cores);
        RC_ASSERT(world.parent().accounting().ledger().rate(root_node) == 0);
        RC_ASSERT(world.parent().accounting().reported().empty());
    });
}
