// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must still be sent to a scheduler that sorts the jobs itself: each job's own part once, and the number of
// a group, which is added to the parts of its jobs, whenever it changes. Must not know: how a part is computed, RPCs,
// time.
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
    /// The scheduler serves no other request during this one.
    static constexpr std::size_t portion_max = 1'000;

    /// Sets the number of fractional bits. True: it changed, all numbers are forgotten, and the caller sets them again.
    bool set_bits(int bits);
    /// O(log jobs).
    void want(std::uint64_t id, OrderPart part);
    /// Without effect if the group has that number. O(log groups).
    void want_group(std::uint32_t group, std::int64_t added);
    /// The job is no longer pending; it may be pending again later. O(log jobs).
    void withdraw(std::uint64_t id);
    /// The same for every job. O(jobs).
    void withdraw_all();
    /// Withdraws every job but these. O(jobs).
    void retain(const std::set<std::uint64_t>& ids);
    /// Forgets everything, as if nothing had been sent: the scheduler was replaced.
    void clear();

    /// The next request; empty when nothing is to be sent or one is out.
    std::optional<OrderChange> next();
    /// The scheduler has it. `nonce` names its load: a new one means that it has only this.
    void acknowledge(std::int64_t nonce);
    /// A message of the scheduler that answers no request: a new nonce means that it was loaded again.
    void check_nonce(std::int64_t nonce);

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
        bool is_sent = false;   ///< some part of it was sent
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
    bool has_sent_ = false;  ///< whether anything was sent since the scheduler last forgot all
    bool is_clear_due_ = false;
    bool is_out_ = false;
    std::optional<std::int64_t> nonce_;
    std::uint64_t sent_total_ = 0;
};

}  // namespace weir::priority
