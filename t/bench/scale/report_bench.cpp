// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the CPU time that a root spends on reports of 1,000 ended jobs, from the text on the wire to the rows of its
// state file: nothing else runs in the process, as in a real root. Must not know how a report is applied.
// Usage: report_bench [ROUNDS]   (200)
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "modules/job-priority/messages/report_wire.hpp"
#include "t/bench/scale/branch.hpp"

namespace {

using namespace weir;
using namespace weir::scale;
using priority::UplinkBatch;
using priority::UplinkQueue;
using priority::UplinkRow;

constexpr std::size_t children = 4;         ///< a report of each has 250 ended jobs
constexpr std::size_t jobs_running = 1250;  ///< in each child, all the time
constexpr std::size_t jobs_ended = 1000;    ///< in one round

double cpu_us() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

/// A child whose jobs start and end at a constant rate, one core each.
class Child {
  public:
    Child(const Site& site, Instance& instance) : site_(site), instance_(instance), random_(instance.place) {}

    /// The next report: half of its records begin jobs, half end the oldest.
    std::string report(Instant now) {
        UplinkBatch batch{seq_ + 1, {}};
        for (std::size_t i = 0; i < UplinkQueue::batch_max; ++i) {
            const Instant at = now - std::chrono::milliseconds(2 * (UplinkQueue::batch_max - i));
            batch.records.push_back(i % 2 == 0 || open_.size() < jobs_running ? start(at) : end(at));
        }
        seq_ += batch.records.size();
        return write_report(instance_.host, batch);
    }
    Instance& instance() { return instance_; }

  private:
    UplinkRow start(Instant at) {
        const std::size_t user = random_() % (site_.size.accounts * site_.size.users);
        open_.push_back(random_());  // as the names that a middle instance gives
        return {true, open_.back(), user_name(user), account_name(user / site_.size.users), 1, at, 0, {.rate = 1000}};
    }
    UplinkRow end(Instant at) {
        const std::uint64_t job = open_.front();
        open_.pop_front();
        return {false, job, {}, {}, 0, at};
    }

    const Site& site_;
    Instance& instance_;
    std::mt19937_64 random_;
    std::deque<std::uint64_t> open_;
    std::uint64_t seq_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    const std::size_t rounds = argc >= 2 ? std::strtoul(argv[1], nullptr, 10) : 200;
    const Site site{TreeSize{}};
    Instant now{std::chrono::hours(24 * 20000)};
    Branch branch(site, 1, now);
    Instance& root = branch.add(nullptr, 0, 1, children * jobs_running * 2);
    std::vector<Child> all;
    for (std::size_t i = 0; i < children; ++i) {
        all.emplace_back(site, branch.add(&root, 1, 2 + i, jobs_running * 2));
    }
    FlatJson reader;
    std::vector<double> spent;
    std::size_t rows = 0;
    for (std::size_t round = 0; round < rounds + 10; ++round) {
        now += std::chrono::seconds(1);
        double us = 0;
        for (Child& child : all) {
            const std::string text = child.report(now);
            const double begin = cpu_us();
            auto batch = priority::read_report(reader.read(text));
            if (!batch) {
                std::fprintf(stderr, "%s\n", batch.error().message.c_str());
                return 1;
            }
            root.service->report(child.instance().host, batch->first_seq, std::move(batch->records), now);
            us += cpu_us() - begin;
        }
        const double begin = cpu_us();
        const priority::StateBatch written = root.service->take_batch();  // they came within the delay of a commit
        us += cpu_us() - begin;
        rows += written.reported.size();
        if (round >= 10) {  // by then jobs end as they begin
            spent.push_back(us);
        }
    }
    std::sort(spent.begin(), spent.end());
    std::printf(
        "%zu ended jobs in reports of %zu records: %.0f us of CPU in the median, %.0f at least; %zu open, %zu rows\n",
        jobs_ended, UplinkQueue::batch_max, spent[spent.size() / 2], spent.front(),
        root.service->accounting().reported().size(), rows);
    const bool is_good = root.service->accounting().reported().size() == children * jobs_running &&
                         root.service->children().not_believed() == 0;
    return is_good ? 0 : 1;
}
