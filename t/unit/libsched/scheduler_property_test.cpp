// SPDX-License-Identifier: LGPL-3.0-only
// Random histories of the scheduler: what passes may leave out changes nothing that they decide.
#include <catch2/catch.hpp>
#include <map>

#include "libsched/scheduler.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::secs;

namespace {

// Of several nodes a reservation made anew may prefer others than the one that stands.
constexpr std::uint32_t node_count = 1;
constexpr std::uint32_t node_cores = 6;

/// Jobs come, go, change their priorities and ends, which some pass; the node goes down and comes back.
class History {
  public:
    explicit History(const std::string& policy) : scheduler(policy_named(policy).value()) {
        scheduler.set_resources(test::machine(node_count, node_cores), IdSet::range(0, node_count - 1));
    }
    void step() {
        now_ += draw::element(0, 0, 1, 2, 5);
        for (std::size_t i = running_.size(); i-- > 0;) {
            if (ends_.at(running_[i]) <= at(now_) && draw::in_range(0, 3) > 0) {
                RC_ASSERT(scheduler.free(running_[i], {}, true).has_value());
                running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
        const int what = draw::in_range(0, 12);
        if (what < 6) {
            submit();
        } else if (what < 8 && !running_.empty()) {
            const JobId id = take(running_);
            RC_ASSERT(scheduler.free(id, {}, true).has_value());
        } else if (what == 8 && !waiting_.empty()) {
            RC_ASSERT(scheduler.cancel(take(waiting_)));
        } else if (what == 9 && !waiting_.empty()) {
            const JobId id = waiting_[any_of(waiting_)];
            scheduler.prioritize(std::vector<std::pair<JobId, std::uint32_t>>{{id, priority()}});
        } else if (what == 10 && !running_.empty()) {
            const JobId id = running_[any_of(running_)];
            ends_[id] = at(now_ + draw::in_range(1, 30));
            RC_ASSERT(scheduler.set_end(id, ends_[id]));
        } else if (what == 11) {
            const auto node = draw::in_range(0U, node_count);
            scheduler.set_up(IdSet::range(node, node), draw::arbitrary<bool>());
        }
    }
    Instant now() const { return at(now_); }
    void started(const Scheduler::Effects& effects) {
        for (const Scheduler::Start& start : effects.started) {
            std::erase(waiting_, start.id);
            running_.push_back(start.id);
            ends_[start.id] = start.end;
        }
    }

    Scheduler scheduler;

  private:
    static std::uint32_t priority() { return draw::element(0U, 1U, 2U, 3U); }
    static std::size_t any_of(const std::vector<JobId>& ids) { return draw::in_range<std::size_t>(0, ids.size()); }
    static JobId take(std::vector<JobId>& ids) {
        const auto place = ids.begin() + static_cast<std::ptrdiff_t>(any_of(ids));
        const JobId id = *place;
        ids.erase(place);
        return id;
    }
    void submit() {
        PendingJob job = test::waiting(++last_, draw::in_range(1U, 5U), draw::in_range(1, 20), priority(), now_);
        if (draw::in_range(0, 3) == 0) {
            job.request = {draw::in_range(1U, node_count + 1), draw::in_range(1U, node_cores + 1), 1, false};
        }
        if (draw::in_range(0, 12) == 0) {
            job.limit = Duration::max();
        }
        RC_ASSERT(scheduler.alloc(job).has_value());
        waiting_.push_back(job.key.id);
    }

    int now_ = 0;
    std::uint64_t last_ = 0;
    std::vector<JobId> waiting_, running_;
    std::map<JobId, Instant> ends_;
};

}  // namespace

// Kills: a reservation that stands although a job above it came, went or changed its priority, or something came back;
// a job that is held no more not asked behind a reservation; held jobs asked when they arrive.
TEST_CASE("scheduler: a pass that goes on where the last one stopped starts whom one that begins anew does") {
    for (const char* policy :
         {"fcfs", "first-fit", "first-fit:starve-after=10s", "easy", "easy-sjf", "easy:backfill=best-fit",
          "easy:reserve-above=2", "easy:reserve-after=5s", "hybrid:depth=2", "hybrid:depth=4", "conservative"}) {
        draw::property(policy, [policy] {
            History history(policy);
            const int steps = draw::in_range(1, 60);
            for (int i = 0; i < steps; i++) {
                history.step();
                if (draw::in_range(0, 4) == 0) {
                    continue;
                }
                Scheduler anew = history.scheduler;
                anew.set_up({}, true);  // nothing but that what is remembered is forgotten
                const auto went_on = history.scheduler.pass(history.now());
                const auto began = anew.pass(history.now());
                const bool same = std::equal(went_on.started.begin(), went_on.started.end(), began.started.begin(),
                                             began.started.end(), [](const auto& a, const auto& b) {
                                                 return a.id == b.id && a.resources == b.resources && a.end == b.end;
                                             });
                RC_ASSERT(same);
                history.started(went_on);
            }
        });
    }
}
