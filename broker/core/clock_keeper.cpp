// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see clock_keeper.hpp.
#include "broker/core/clock_keeper.hpp"

#include <syslog.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "broker/api/clock.hpp"

namespace weir::broker {
namespace {

constexpr std::uint64_t mark_ms = 1000;  // of real time: the most that a kill removes from a charge

/// A difference of a second or more between the instance's clock and the wall clock is logged.
constexpr double raised_min_s = 1.0;

double monotonic_s() {
    return static_cast<double>(monotonic_ns()) / 1e9;
}

Duration monotonic() {
    return std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(monotonic_ns()));
}

std::string seconds(double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%+.3f s", value);
    return text.data();
}

}  // namespace

ClockKeeper::ClockKeeper(std::optional<ClockFile> file, const ClockStart& start)
    : file_(std::move(file)), start_(start), steps_(instant_from_seconds(wall_now()), monotonic()) {}

Result<ClockKeeper> ClockKeeper::begin(Attributes& attributes, const Parent& parent) {
    std::optional<ClockFile> file;
    if (const auto statedir = attributes.get("statedir")) {
        auto opened = ClockFile::open(*statedir);
        if (!opened) {
            return opened.error();
        }
        file = std::move(*opened);
    }
    const std::optional<ClockPast> past = file ? file->past() : std::nullopt;
    const ClockStart start = begin_clock(clock_wish(attributes, parent), past, wall_now(), monotonic_s());
    std::this_thread::sleep_for(std::chrono::duration<double>(start.wait));
    set_clock(start.scale, start.zero);
    announce_clock(attributes, start, past);
    return ClockKeeper(std::move(file), start);
}

void ClockKeeper::watch(Loop& loop, Log log) {
    log_ = std::move(log);
    if (file_ && file_->is_damaged()) {
        log_(LOG_WARNING,
             "statedir: the file clock cannot be read: the time when the instance was last alive is unknown, and jobs "
             "that ended with it are dated by the last event of the job journal");
    }
    if (start_.raised >= raised_min_s) {
        log_(LOG_WARNING,
             "the wall clock is behind what this statedir has seen: the instance's clock continues from there, " +
                 seconds(start_.raised) + " off");
    }
    if (start_.wait >= raised_min_s) {
        log_(LOG_WARNING,
             "this statedir has seen more than the parent's clock says: the instance waited until that clock had "
             "passed it, " +
                 seconds(start_.wait));
    }
    timer_ = std::make_unique<Watch<uv_timer_t>>();
    WEIR_CHECK(timer_->create([&loop](uv_timer_t* h) { return uv_timer_init(loop.get(), h); }) == 0);
    timer_->on([this](int) { look(); });
    uv_timer_start(
        timer_->get(), [](uv_timer_t* h) { Watch<uv_timer_t>::fire(h); }, mark_ms, mark_ms);
    keep_clock([this](double until) { return mark(until); });
    look();
}

void ClockKeeper::stop() {
    if (timer_) {
        timer_.reset();
        (void)mark_clock(clock_now());  // an error cannot be reported any more
        keep_clock({});
    }
}

void ClockKeeper::look() {
    if (const Duration step = steps_.step(instant_from_seconds(wall_now()), monotonic()); step != Duration{}) {
        log_(LOG_WARNING, "the wall clock was set by " + seconds(to_seconds(step)) +
                              ": the instance's clock continues without the step; all steps since the start: " +
                              seconds(to_seconds(steps_.sum())));
    }
    const Status marked = mark_clock(clock_now());
    if (!marked && !std::exchange(has_mark_failed_, true)) {
        log_(LOG_ERR,
             marked.error().message + "; after a kill, jobs that ended with this broker end earlier than they did");
    }
    has_mark_failed_ = has_mark_failed_ && !marked;
}

/// Called by each thread that writes dated data, one at a time.
Status ClockKeeper::mark(double until) {
    if (!file_ || until <= marked_) {
        return Done{};
    }
    Status marked = file_->mark({start_.scale, start_.origin, until});
    if (marked) {
        marked_ = until;
    }
    return marked;
}

}  // namespace weir::broker
