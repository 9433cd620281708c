// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what of an instance outlives its process: the job journal's bytes, the state file's rows, when its clock was
// last seen; and how the disk fails. Must not know what the bytes and rows mean. Source: doc/durability.md.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "modules/job-priority/state/memory_store.hpp"

namespace weir::world {

/// When a job really had cores. For the checkers: no instance reads it.
struct Held {
    Instant since{};
    Instant until{};    ///< before `since`: it has them
    Duration before{};  ///< before `since`
    Duration total() const { return until > since ? before + (until - since) : before; }
};

/// One statedir.
struct StateDir {
    std::string journal;
    priority::MemoryStore state;
    std::int64_t seen_us = 0;             ///< the clock file
    Instant seen{};                       ///< the true time of that mark
    std::map<std::uint64_t, Held> truth;  ///< by job
    bool is_in_use = false;               ///< the journal's lock
    bool is_full = false;

    /// Appends all of it; on a full disk nothing of it, as JobStore leaves the file.
    Status append(std::string_view text);
    /// Errors: the disk is full; then nothing of the batch is there.
    Status apply(const priority::StateBatch& batch);
};

}  // namespace weir::world
