// SPDX-License-Identifier: LGPL-3.0-only
// A child that reports to its parent over a link that breaks, while either is killed: each record counts once.
#include <catch2/catch.hpp>

#include <set>
#include <tuple>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr FluxJobId child_job = 50;
constexpr std::int64_t child_cores = 64;

/// Two services and their state files, and the events that the job-managers would tell again.
class Hierarchy {
  public:
    Hierarchy() {
        parent_events_ = {submitted(child_job, 1, owner, "bio"), eligible(child_job, 1),
                          started(child_job, 2, child_cores)};
        restart_parent();
        restart_child();
    }

    void restart_parent() {
        parent_ = service();
        RC_ASSERT(parent_->restore(parent_store_.saved(), at(0)).has_value());
        if (parent_->trees().in_force().revision == 0) {
            put_tree(*parent_);
            parent_store_.apply(parent_->take_batch());
        }
        parent_->begin_backlog();
        parent_->add_backlog(parent_events_);
        parent_->end_backlog(at(0));
        if (child_) {
            child_->sends().uplink().queue().detached();
        }
    }

    void restart_child() {
        child_ = service(true);
        RC_ASSERT(child_->restore(child_store_.saved(), at(0)).has_value());
        if (child_->log().meta().instance.empty()) {
            child_->log().set_instance("child");
        }
        std::map<FluxJobId, std::vector<JobEvent>> jobs;
        for (const JobEvent& event : child_events_) {
            jobs[event.id].push_back(event);
        }
        child_->begin_backlog();
        for (const auto& [id, events] : jobs) {
            child_->add_backlog(events);
        }
        child_->end_backlog(at(0));
    }

    void happen(const JobEvent& event) {
        child_events_.push_back(event);
        child_->apply(event);
    }
    void commit_child() { child_store_.apply(child_->take_batch()); }
    void attach() {
        const std::uint64_t acked = parent_->attach_child(child_job, child_->log().meta().instance,
                                                          child_->sends().uplink().queue().first_seq(), at(1000));
        parent_store_.apply(parent_->take_batch());
        child_->sends().uplink().queue().attached(acked);
        child_->sends().uplink().acknowledged(acked);
    }
    /// Sends one batch; the answer may be lost on the way back.
    void send(bool is_answer_lost) {
        commit_child();  // nothing is sent that the state file does not have
        const auto batch = child_->sends().uplink().queue().next();
        if (!batch) {
            return;
        }
        const std::uint64_t acked = parent_->report(child_job, batch->first_seq, batch->records, at(1000));
        parent_store_.apply(parent_->take_batch());
        if (is_answer_lost) {
            child_->sends().uplink().queue().detached();
        } else {
            child_->sends().uplink().acknowledged(acked);
        }
    }
    void drain() {
        attach();
        while (child_->sends().uplink().queue().unacknowledged() > 0) {
            send(false);
        }
    }
    const PriorityService& parent() const { return *parent_; }
    const PriorityService& child() const { return *child_; }

  private:
    MemoryStore parent_store_;
    MemoryStore child_store_;
    std::vector<JobEvent> parent_events_;
    std::vector<JobEvent> child_events_;
    std::unique_ptr<PriorityService> parent_;
    std::unique_ptr<PriorityService> child_;
};

}  // namespace

// Kills the mutants "a batch is applied again after its answer was lost", "unacknowledged records are not kept",
// "records are numbered anew after a restart", "the parent acknowledges what it has not stored".
TEST_CASE("hierarchy: lost answers, broken links and kills on both sides: every job counts once") {
    draw::property("alice is charged what her jobs used, the owner the rest of his allocation", [] {
        Hierarchy both;
        both.attach();
        SignedCoreMicros want = 0;
        double t = 10;
        FluxJobId next = 1;
        std::map<FluxJobId, std::pair<double, int>> running;
        int cores_running = 0;
        const auto steps = draw::several([] { return draw::in_range(0, 100); });
        for (const int step : steps) {
            t += 1;
            if (step < 30 && cores_running <= 50) {
                const int cores = draw::in_range(1, 10);
                both.happen(submitted(next, t, alice, "lattice"));
                both.happen(eligible(next, t));
                both.happen(started(next, t, cores));
                running[next++] = {t, cores};
                cores_running += cores;
            } else if (step < 55 && !running.empty()) {
                const auto [id, job] = *running.begin();
                both.happen(freed(id, t));
                want += static_cast<SignedCoreMicros>(t - job.first) * 1'000'000 * job.second;
                cores_running -= job.second;
                running.erase(id);
            } else if (step < 65) {
                both.attach();
            } else if (step < 85) {
                both.send(step < 72);
            } else if (step < 92) {
                both.restart_child();
            } else {
                both.restart_parent();
            }
        }
        for (const auto& [id, job] : running) {
            want += static_cast<SignedCoreMicros>(1000 - job.first) * 1'000'000 * job.second;
        }
        both.drain();
        const SignedCoreMicros whole = SignedCoreMicros{998} * 1'000'000 * child_cores;
        RC_ASSERT(charged(both.parent(), "physics/lattice/@alice", 1000) == want);
        RC_ASSERT(charged(both.parent(), "bio/@owner", 1000) == whole - want);
        RC_ASSERT(both.parent().accounting().ledger().rate(root_node) == child_cores);
    });
}

// Kills the mutants "a middle instance does not pass on what was reported to it", "the jobs of two children of one
// number are one job to the parent above", "a job inside a reported job takes the cores of the instance's own job".
TEST_CASE("hierarchy: three levels agree on who used what, in whatever order the reports come") {
    draw::property("the top charges every user what the middle does, and what is left is idle", [] {
        const FluxJobId middle_job = 7;
        auto top = ready_service();
        auto middle = service(true);
        put_tree(*middle);
        middle->begin_backlog();
        middle->end_backlog(at(0));
        middle->log().set_instance("middle");
        for (const JobEvent& event :
             {submitted(middle_job, 1, owner), eligible(middle_job, 1), started(middle_job, 2, 64)}) {
            top->apply(event);
        }
        middle->sends().uplink().queue().attached(top->attach_child(middle_job, "middle", 1, at(2)));
        std::map<FluxJobId, std::uint64_t> sent;
        for (const FluxJobId child : {50, 51}) {
            for (const JobEvent& event : {submitted(child, 3, owner), eligible(child, 3), started(child, 4, 32)}) {
                middle->apply(event);
            }
            middle->attach_child(child, "child", 1, at(4));
        }
        std::set<ReportedKey> open;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const int child = draw::in_range(50, 52);
            const int job = draw::in_range(1, 4);
            const int t = draw::in_range(5, 100);
            const ReportedKey key{child, job};
            const bool is_start = open.insert(key).second;
            if (!is_start) {
                open.erase(key);
            }
            const bool is_alice = job == 1;
            middle->report(child, ++sent[child],
                           {{is_start, key.second, is_alice ? "alice" : "carol", is_alice ? "lattice" : "bio", 9, at(t),
                             job == 3 ? 1U : 0U}},
                           at(150));
        }
        middle->apply(freed(50, 200));
        while (const auto batch = middle->sends().uplink().queue().next()) {
            middle->sends().uplink().acknowledged(top->report(middle_job, batch->first_seq, batch->records, at(250)));
        }
        SignedCoreMicros inside = 0;
        for (const char* path : {"physics/lattice/@alice", "bio/@carol"}) {
            RC_ASSERT(charged(*top, path, 300) == charged(*middle, path, 300));
            inside += charged(*top, path, 300);
        }
        RC_ASSERT(top->accounting().ledger().charged(idle, at(300)) == SignedCoreMicros{298} * 1'000'000 * 64 - inside);
        RC_ASSERT(charged(*top, "bio/@owner", 300) == 0);
    });
}
