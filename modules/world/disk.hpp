// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what of an instance outlives its process: the job journal's bytes, the state file's rows, when its clock was
// last seen; and how the disk fails. Must not know what the bytes and rows mean. Source: doc/durability.md.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "modules/world/random.hpp"

namespace weir::world {

/// When a job really had cores. For the checkers: no instance reads it.
struct Held {
    Instant since{};
    Instant until{};    ///< before `since`: it has them
    Duration before{};  ///< before `since`
    Duration total() const { return until > since ? before + (until - since) : before; }
};

/// The clock file, and the true time of its mark.
struct ClockMark {
    std::int64_t seen_us = 0;
    Instant seen{};
};

/// One statedir.
struct StateDir {
    std::string journal;
    std::size_t synced = 0;  ///< so many bytes of the journal outlive a power failure
    priority::MemoryStore state;
    ClockMark clock;
    std::optional<ClockMark> older_clock;  ///< what a power failure left of it
    /// From this byte of the journal on: how far the clock of the process that wrote it was ahead of true time.
    std::map<std::size_t, Duration> ahead;
    std::map<std::uint64_t, Held> truth;  ///< by job
    /// What an event made of it that ends at this byte of the journal, and was before.
    struct Change {
        std::size_t end = 0;
        std::uint64_t job = 0;
        std::optional<Held> before;
    };
    std::vector<Change> changes;  ///< of the truth, that a death may take back
    bool is_in_use = false;       ///< the journal's lock
    bool is_full = false;

    /// The true time of the journal's last event, which is dated `us`.
    Instant true_time_of_last(std::int64_t us) const;
    /// Appends all of it; on a full disk nothing of it, as JobStore leaves the file.
    Status append(std::string_view text);
    /// All until this byte is synced.
    void sync(std::size_t end);
    /// Of what is not synced the disk has some, none, or pieces.
    void lose_power(Random& random);
    /// The journal ends here: what the events behind did never was.
    void cut(std::size_t end);
    /// Errors: the disk is full; then nothing of the batch is there.
    Status apply(const priority::StateBatch& batch);
};

}  // namespace weir::world
