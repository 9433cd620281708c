// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pending jobs in order, and an index that finds the next one that fits without looking at all of them: every
// chunk, and every group of chunks, has the least cores and the least limit by size. Must not know policies or
// resources beyond these two numbers.
#pragma once
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <span>

#include "libsched/job.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

/// The resources for jobs that start now: at most `free` cores, and at most `extra` for jobs that run longer than
/// `slack`.
struct Opening {
    std::uint64_t free = 0;
    std::uint64_t extra = 0;
    Duration slack{};

    /// Without branches: which of the three comparisons decides cannot be predicted.
    bool fits(std::uint64_t cores, Duration limit) const {
        return ((cores <= free) & ((limit <= slack) | (cores <= extra))) != 0;
    }
};

/// Jobs that start now and end after `after` may hold so many cores together.
struct Bound {
    Instant after = Instant::min();
    std::uint64_t cores = 0;
};

/// Changes of a queue since the last pass, except the jobs that passes started.
struct News {
    std::span<const QueueKey> arrived;    ///< of new jobs, in the queue's order
    std::optional<QueueKey> first_moved;  ///< the least key that was changed, added or removed
};

/// Job: `key` (QueueKey), `limit`, and cores_of(job). How many jobs are a chunk, and chunks a group, is measured:
/// policy_bench in t/bench/baseline.json. Tests use smaller ones.
template <typename Job, std::size_t chunk_max = 64, std::size_t group = 16>
class JobQueue {
  public:
    struct Traits {
        static const QueueKey& key(const Job& job) { return job.key; }
        /// Of a chunk, or of a group of chunks: the least cores, and the least limit up to a size: of jobs of up to one
        /// core, 2, 3, 4, 6, 8, 12, 16, 24… A lower bound; it is exact unless `is_stale`.
        struct Summary {
            static constexpr std::size_t sizes = 32;
            std::array<std::int16_t, sizes> limit = longest();
            std::uint32_t cores = std::numeric_limits<std::uint32_t>::max();
            bool is_stale = false;

            void add(const Job& job) {
                cores = std::min(cores, bounded(cores_of(job)));
                const std::int16_t rounded = rounded_down(job.limit);
                for (std::size_t i = size_of(cores_of(job)); i < sizes && rounded < limit[i]; i++) {
                    limit[i] = rounded;
                }
            }
            void add(const Summary& other) {
                cores = std::min(cores, other.cores);
                const auto theirs = other.limit;  // a copy: then it is a few vector instructions
                for (std::size_t i = 0; i < sizes; i++) {
                    limit[i] = std::min(limit[i], theirs[i]);
                }
            }
            /// The same as add() of each job, without a branch for each limit.
            static Summary of(std::span<const Job> jobs) {
                Summary all;
                for (const Job& job : jobs) {
                    all.cores = std::min(all.cores, bounded(cores_of(job)));
                    std::int16_t& least = all.limit[size_of(cores_of(job))];
                    least = std::min(least, rounded_down(job.limit));
                }
                for (std::size_t i = 1; i < sizes; i++) {
                    all.limit[i] = std::min(all.limit[i], all.limit[i - 1]);
                }
                return all;
            }
            void remove(const Job& job) {
                is_stale = is_stale || bounded(cores_of(job)) == cores ||
                           rounded_down(job.limit) == limit[size_of(cores_of(job))];
            }

            /// The first size that is at least so many cores; two to an octave.
            static std::size_t size_of(std::uint64_t cores) {
                return std::min<std::size_t>(leading(std::max<std::uint64_t>(cores, 1) - 1, 2), sizes - 1);
            }
            static std::uint32_t bounded(std::uint64_t cores) {
                return static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(cores, std::numeric_limits<std::uint32_t>::max()));
            }
            /// Rises with the limit: whole seconds up to 2047, from there on eleven binary digits and their power of
            /// two. Limits are round numbers and the time until a reservation is often just short of one, so seconds
            /// matter.
            static std::int16_t rounded_down(Duration limit) {
                const std::int64_t seconds = std::max<std::int64_t>(limit.count(), 0) / 1'000'000;
                return static_cast<std::int16_t>(std::min<std::uint64_t>(
                    leading(static_cast<std::uint64_t>(seconds), 11), std::numeric_limits<std::int16_t>::max()));
            }

          private:
            /// The first binary digits and the number of further digits, in one number that rises with n.
            static std::uint64_t leading(std::uint64_t n, int digits) {
                const int power = std::max(0, static_cast<int>(std::bit_width(n)) - digits);
                return (static_cast<std::uint64_t>(power) << (digits - 1)) + (n >> power);
            }
            static constexpr std::array<std::int16_t, sizes> longest() {
                std::array<std::int16_t, sizes> all{};
                all.fill(std::numeric_limits<std::int16_t>::max());
                return all;
            }
        };
    };
    using Jobs = SortedChunks<Job, Traits, chunk_max, group>;
    using Place = typename Jobs::Place;

    std::size_t size() const { return jobs_.size(); }
    bool empty() const { return jobs_.empty(); }
    bool insert(const Job& job) { return jobs_.insert(job); }
    bool erase(const QueueKey& key) { return jobs_.erase(key); }
    const Job& front() const { return jobs_.front(); }
    const Job* find(const QueueKey& key) const { return jobs_.find(key); }
    template <typename Visit>
    void walk(Visit&& visit) const {
        jobs_.walk(visit);
    }
    template <typename Change>
    void rekey(Change&& change) {
        jobs_.rekey(change);
    }

    /// Total number of jobs, chunks and groups that at(), any_within() and next_fitting() have looked at.
    std::uint64_t considered() const { return considered_; }

    Place begin() const { return {}; }
    /// The place after the job with that key; the job may be gone.
    Place after(const QueueKey& key) const {
        Place place = jobs_.lower_bound(key);
        if (jobs_.is_at(place, key)) {
            place.index++;
        }
        return place;
    }
    /// The job there; nullptr at the end, and where only held jobs are left (they are last). Advances `place` to a job.
    const Job* at(Place& place) const {
        const auto& chunks = jobs_.chunks();
        while (place.chunk < chunks.size() && place.index == chunks[place.chunk].items.size()) {
            place = {place.chunk + 1, 0};
        }
        if (place.chunk == chunks.size()) {
            return nullptr;
        }
        considered_++;
        const Job& job = chunks[place.chunk].items[place.index];
        return job.key.priority == priority_held ? nullptr : &job;
    }
    /// Whether any job, held or not, requests at most so many cores. O(groups + one group).
    bool any_within(std::uint64_t cores) const {
        const auto may = [most = Summary::bounded(cores)](const Summary& summary) { return summary.cores <= most; };
        for (std::size_t c = 0; to_chunk(c, may); c++) {
            if (!jobs_.chunks()[c].summary.is_stale || (jobs_.summarize(c), may(jobs_.chunks()[c].summary))) {
                return true;
            }
        }
        return false;
    }
    /// The first job from `place` on that fits, and advances `place` to it; nullptr if none fits. O(groups + one group
    /// + one chunk), unless there are small jobs and short jobs but none that is both.
    const Job* next_fitting(Place& place, const Opening& opening) const {
        if (opening.free == 0) {
            return nullptr;
        }
        const auto may = [free = Summary::bounded(opening.free), extra = Summary::bounded(opening.extra),
                          slack = Summary::rounded_down(opening.slack),
                          size = Summary::size_of(opening.free)](const Summary& summary) {
            return ((summary.cores <= free) & ((summary.cores <= extra) | (summary.limit[size] <= slack))) != 0;
        };
        const auto& chunks = jobs_.chunks();
        for (std::size_t c = place.chunk; to_chunk(c, may); c++) {
            const std::vector<Job>& items = chunks[c].items;
            const std::size_t from = c == place.chunk ? place.index : 0;
            const auto found = std::find_if(items.begin() + static_cast<std::ptrdiff_t>(from), items.end(),
                                            [&](const Job& job) { return opening.fits(cores_of(job), job.limit); });
            place = {c, static_cast<std::size_t>(found - items.begin())};
            considered_ += place.index - from;
            if (found != items.end()) {
                considered_++;
                return found->key.priority == priority_held ? nullptr : &*found;
            }
            if (chunks[c].summary.is_stale && chunks.size() > 1) {
                jobs_.summarize(c);  // searched in vain: avoid it the next time
            }
        }
        return nullptr;
    }

  private:
    using Summary = typename Traits::Summary;

    /// Advances `c` to the first chunk for which may(its summary) holds; false if there is none.
    template <typename May>
    bool to_chunk(std::size_t& c, const May& may) const {
        const auto& chunks = jobs_.chunks();
        const auto& groups = jobs_.groups();
        for (; c < chunks.size(); c++) {
            considered_++;
            if (c % group == 0 && !groups.empty()) {
                const std::size_t g = c / group;
                if (may(groups[g]) && groups[g].is_stale) {
                    jobs_.summarize_group(g);
                }
                if (!may(groups[g])) {
                    c += group - 1;
                    continue;
                }
            }
            if (may(chunks[c].summary)) {
                return true;
            }
        }
        return false;
    }
    Jobs jobs_;
    mutable std::uint64_t considered_ = 0;
};

}  // namespace weir
