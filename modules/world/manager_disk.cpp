// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a job-manager leaves on its disk beside the journal: the clock's marks, the truth for the checkers, and
// what its death makes of both. See manager.hpp.
#include <algorithm>

#include "modules/world/manager.hpp"

namespace weir::world {

using namespace std::chrono_literals;
using jm::Job;

namespace {

constexpr Duration mark_interval = 1s;  ///< of the clock file
constexpr Duration mark_written_within = 6s;

}  // namespace

Manager::~Manager() {
    disk_.is_in_use = false;
    const bool is_stopped = process().stopped_until > ground().now();
    const Instant ran_until = is_stopped ? process().stopped_since : ground().now();
    if (is_up_) {
        mark_clock_of(ran_until - (ran_until - began_) % mark_interval);
    }
    if (is_power_lost_) {
        if (ground().random.one_in(2)) {
            const ClockMark last = std::exchange(disk_.clock, first_mark_);
            if (const Instant written = std::min(ran_until, ground().now() - mark_written_within);
                is_up_ && written > began_) {
                mark_clock_of(written);
            }
            disk_.older_clock = std::exchange(disk_.clock, last);
        }
        disk_.lose_power(ground().random);
    }
}

/// \param at  true time of this life
void Manager::mark_clock_of(Instant at) {
    mark_clock(clock_now() - (ground().now() - at));
}

void Manager::mark_clock(Instant until) {
    if (micros(until) > disk_.clock.seen_us) {
        disk_.clock = {micros(until), process().clock.true_time(ground(), until)};
    }
}

/// Before events are written, the clock is marked with the time of the last of them.
void Manager::mark_events() {
    if (is_up_) {
        mark_clock(Instant{Duration{last_us_}});
    }
}

/// For the checkers.
void Manager::note_truth(const Job& job, const std::string& event) {
    if (job.alloc_bypass || (event != "alloc" && event != "free" && event != "weir.down")) {
        return;
    }
    const Instant now = standing_us_ != 0 ? disk_.clock.seen : ground().now();
    const auto known = disk_.truth.find(job.id);
    disk_.changes.push_back({disk_.journal.size() + writer_.size(), job.id,
                             known != disk_.truth.end() ? std::optional(known->second) : std::nullopt});
    Held& held = disk_.truth[job.id];
    if (event == "alloc") {
        held = {now, {}, {}};
    } else if (event == "free") {
        held.until = std::max(now, held.since);
    } else if (event == "weir.down") {
        held.before += std::max(Duration{}, disk_.clock.seen - held.since);
        held.since = now;
    }
}

void Manager::die_in_write() {
    if (writer_.size() > 0 && !disk_.is_full) {
        mark_events();
        disk_.journal += writer_.text().substr(0, ground().random.below(writer_.text().size() + 1));
    }
}

}  // namespace weir::world
