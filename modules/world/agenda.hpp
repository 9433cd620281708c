// SPDX-License-Identifier: LGPL-3.0-only
// Owns: simulated time and what is to happen at which time. Must not know what that is, or any clock of the machine.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::world {

using Task = std::function<void()>;

/// Tasks in order of time; tasks of one time in the order in which they were added, so a run can be repeated.
class Agenda {
  public:
    explicit Agenda(Instant start) : now_(start) {}
    Instant now() const { return now_; }
    /// A time that is past means now. O(log tasks).
    void at(Instant when, Task task);
    void after(Duration delay, Task task) { at(now_ + delay, std::move(task)); }
    /// Does the next task, at its time. False when there is none.
    bool step();
    /// Forgets all tasks.
    void clear() { heap_.clear(); }
    std::uint64_t steps() const { return steps_; }

  private:
    struct Entry {
        Instant when;
        std::uint64_t number;
        Task task;
    };
    static bool is_later(const Entry& a, const Entry& b) {
        return a.when != b.when ? a.when > b.when : a.number > b.number;
    }
    std::vector<Entry> heap_;
    Instant now_;
    std::uint64_t added_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace weir::world
