// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a scheduler that sorts the jobs itself still has to be told: each job's own part once, and what is added
// to the parts of a group's jobs whenever that changes. Must not know: how a part comes about, RPCs, time.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libsched/job_order.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir::priority {

class OrderFeed {
  public:
    /// The scheduler serves nobody else during a request.
    static constexpr std::size_t portion_max = 1'000;

    /// Numbers have so many fractional bits from here on. True: until now they had another number of bits, and all of
    /// them are forgotten and to be wanted again.
    bool set_bits(int bits);
    /// O(log jobs).
    void want(std::uint64_t id, OrderPart part);
    /// Costs nothing if the group has that number. O(log groups).
    void want_group(std::uint32_t group, std::int64_t added);
    /// The job waits no longer; it may come again. O(log jobs).
    void withdraw(std::uint64_t id);
    /// The same for every job. O(jobs).
    void withdraw_all();
    /// Withdraws every job but these. O(jobs).
    void retain(const std::set<std::uint64_t>& ids);
    /// Forgets everything, as if nothing had ever been sent: the scheduler is another one.
    void clear();

    /// The next request; empty when nothing is to be sent or one is out.
    std::optional<OrderChange> next();
    /// The scheduler has it. `nonce` names its load: another one than before means that it has nothing else.
    void acknowledge(std::int64_t nonce);
    /// The scheduler spoke without being told anything: notices a new load of it.
    void heard(std::int64_t nonce);

    bool has_work() const { return is_clear_due_ || dirty_count_ > 0 || !dirty_groups_.empty() || !gone_.empty(); }
    bool is_out() const { return is_out_; }
    /// Whether the scheduler has any part, or may soon.
    bool has_any() const { return !jobs_.empty() || is_clear_due_ || is_out_; }
    /// Parts of jobs that were sent.
    std::uint64_t sent_total() const { return sent_total_; }

  private:
    struct Job {
        std::uint64_t id = 0;
        std::int64_t own = 0;
        std::uint32_t group = 0;
        bool is_told = false;   ///< some part of it was sent
        bool is_dirty = false;  ///< this one was not
    };
    struct ById {
        static std::uint64_t key(const Job& job) { return job.id; }
        struct Summary {
            void add(const Job&) {}
            void remove(const Job&) {}
        };
    };
    using Jobs = SortedChunks<Job, ById>;
    void mark_dirty(Job& job);
    void take_dirty(std::vector<OrderChange::Job>& jobs);
    void mark_all_dirty();

    Jobs jobs_;
    std::unordered_map<std::uint32_t, std::int64_t> groups_;
    std::deque<std::uint64_t> dirty_;  ///< jobs to be sent, first come first; some are not dirty any more or gone
    std::size_t dirty_count_ = 0;
    std::set<std::uint32_t> dirty_groups_;  // ordered, so that a run can be repeated
    std::set<std::uint64_t> gone_;
    int bits_ = 0;
    bool is_all_ = true;     ///< the next request begins anew
    bool has_told_ = false;  ///< anything since the scheduler last forgot all
    bool is_clear_due_ = false;
    bool is_out_ = false;
    std::optional<std::int64_t> nonce_;
    std::uint64_t sent_total_ = 0;
};

}  // namespace weir::priority
