// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the waiting jobs in order, and the index that finds the next one that fits without looking at all: every chunk
// knows its least cores and its least limit by size. Must not know policies or resources beyond these two numbers.
#pragma once
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <span>

#include "libsched/job.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

/// What may start now: at most `free` cores, and of those that run for longer than `slack` at most `extra`.
struct Opening {
    std::uint64_t free = 0;
    std::uint64_t extra = 0;
    Duration slack{};

    bool fits(std::uint64_t cores, Duration limit) const { return cores <= free && (limit <= slack || cores <= extra); }
};

/// What happened to a queue since the last pass, but for the jobs that passes started.
struct News {
    std::span<const QueueKey> arrived;    ///< of the jobs that are new, in the queue's order
    std::optional<QueueKey> first_moved;  ///< the least key that was changed, given or taken out
};

/// Job: `key` (QueueKey), `limit`, and cores_of(job).
template <typename Job>
class JobQueue {
  public:
    struct Traits {
        static const QueueKey& key(const Job& job) { return job.key; }
        /// The least cores, and the least limit up to a size: of jobs of one core, of up to two, four, eight… Never
        /// above the least; exact unless `is_stale`.
        struct Summary {
            static constexpr std::size_t sizes = 16;
            std::uint64_t cores = std::numeric_limits<std::uint64_t>::max();
            std::array<Duration, sizes> limit = longest();
            bool is_stale = false;

            void add(const Job& job) {
                cores = std::min<std::uint64_t>(cores, cores_of(job));
                for (std::size_t i = size_of(cores_of(job)); i < sizes && job.limit < limit[i]; i++) {
                    limit[i] = job.limit;
                }
            }
            void remove(const Job& job) {
                is_stale = is_stale || cores_of(job) == cores || job.limit == limit[size_of(cores_of(job))];
            }
            /// False: no job of the chunk fits.
            bool may_fit(const Opening& opening) const {
                return cores <= opening.free &&
                       (cores <= opening.extra || limit[size_of(opening.free)] <= opening.slack);
            }

          private:
            static std::size_t size_of(std::uint64_t cores) {
                return std::min<std::size_t>(std::bit_width(std::max<std::uint64_t>(cores, 1) - 1), sizes - 1);
            }
            static constexpr std::array<Duration, sizes> longest() {
                std::array<Duration, sizes> all{};
                all.fill(Duration::max());
                return all;
            }
        };
    };
    /// Small: the index is as fine as its chunks (measured: doc/adr/0100).
    using Jobs = SortedChunks<Job, Traits, 96>;
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

    /// Jobs and chunks that at() and next_fitting() have looked at, ever.
    std::uint64_t considered() const { return considered_; }

    Place begin() const { return {}; }
    /// The place behind the job with that key, which may have left.
    Place after(const QueueKey& key) const {
        Place place = jobs_.lower_bound(key);
        if (jobs_.is_at(place, key)) {
            place.index++;
        }
        return place;
    }
    /// The job there; nullptr at the end, and where only held jobs are left (they stand last). Moves `place` on to a
    /// job.
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
    /// Whether any job, held or not, asks for at most so many cores. O(chunks).
    bool any_within(std::uint64_t cores) const {
        for (const auto& chunk : jobs_.chunks()) {
            considered_++;
            if (chunk.summary.cores <= cores) {
                if (!chunk.summary.is_stale) {
                    return true;
                }
                refresh(chunk);
                if (chunk.summary.cores <= cores) {
                    return true;
                }
            }
        }
        return false;
    }
    /// The first job from `place` on that fits, and moves `place` there; nullptr: none does. O(chunks + one chunk),
    /// unless chunks hold small jobs and short jobs, but none that is both.
    const Job* next_fitting(Place& place, const Opening& opening) const {
        if (opening.free == 0) {
            return nullptr;
        }
        const auto& chunks = jobs_.chunks();
        for (; place.chunk < chunks.size(); place = {place.chunk + 1, 0}) {
            const auto& chunk = chunks[place.chunk];
            considered_++;
            if (!chunk.summary.may_fit(opening)) {
                continue;
            }
            const std::size_t from = place.index;
            for (; place.index < chunk.items.size(); place.index++) {
                const Job& job = chunk.items[place.index];
                if (opening.fits(cores_of(job), job.limit)) {
                    considered_ += place.index + 1 - from;
                    return job.key.priority == priority_held ? nullptr : &job;
                }
            }
            considered_ += place.index - from;
            if (chunk.summary.is_stale && chunks.size() > 1) {
                refresh(chunk);  // looked at for nothing: not twice
            }
        }
        return nullptr;
    }

  private:
    static void refresh(const typename Jobs::Chunk& chunk) {
        chunk.summary = {};
        for (const Job& job : chunk.items) {
            chunk.summary.add(job);
        }
    }

    Jobs jobs_;
    mutable std::uint64_t considered_ = 0;
};

}  // namespace weir
