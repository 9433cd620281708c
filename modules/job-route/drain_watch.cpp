// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see drain_watch.hpp.
#include "modules/job-route/drain_watch.hpp"

#include <string>

#include "libfairshare/base/json/r.hpp"
#include "modules/common/parent_link.hpp"

namespace weir::route {
namespace {

constexpr double drains_retry_s = 1.;  ///< of real time
constexpr double count_pause_s = 1.;   ///< of real time

}  // namespace

DrainWatch::DrainWatch(flux_t* h, Callbacks callbacks) : h_(h), callbacks_(std::move(callbacks)) {
    retry_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&DrainWatch::follow>, this));
    count_.reset(
        flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&DrainWatch::count_cores>, this));
    if (!retry_ || !count_) {
        flux::fail_errno("timers");
    }
    follow();
}

/// Each event is a reason to read the whole state: the log may begin in the middle, and its ranks may be of an earlier
/// start.
void DrainWatch::follow() {
    journal_ = flux::open_stream(h_, "resource.journal", Json());
    flux::then<&DrainWatch::on_event>(journal_.get(), this);
}

void DrainWatch::on_event(flux_future_t* f) {
    const flux::Caught caught = flux::catching([f] { (void)flux::rpc_get(f, "resource.journal"); });
    if (caught.errnum != 0) {
        journal_.reset();
        fail("following the drained nodes", caught.message);
        return;
    }
    flux_future_reset(f);
    ask();
}

/// An event while the answer is on its way may be missing in it.
void DrainWatch::ask() {
    if (status_) {
        is_to_ask_again_ = true;
        return;
    }
    is_to_ask_again_ = false;
    status_ = flux::rpc(h_, "resource.status", Json());
    flux::then<&DrainWatch::on_status>(status_.get(), this);
}

void DrainWatch::on_status(flux_future_t* f) {
    const flux::Caught caught = flux::catching([&] {
        const Json status = flux::rpc_get(f, "resource.status");
        drains_ = flux::value_or_throw(decode_drains(json_object_get(status.get(), "drain")));
        is_any_down_ = !drains_->empty() || !status.string_at("offline").value_or("").empty();
    });
    status_.reset();
    if (caught.errnum != 0) {
        journal_.reset();
        fail("reading the drained nodes", caught.message);
        return;
    }
    if (is_to_ask_again_) {
        ask();
    }
    count_cores();
    callbacks_.drains();
}

/// What is known stays in force meanwhile.
void DrainWatch::fail(const char* what, const std::string& why) {
    flux::log(h_, LOG_DEBUG, std::string(what) + ": " + why);
    flux_timer_watcher_reset(retry_.get(), flux::real_seconds(h_, drains_retry_s), 0.);
    flux_watcher_start(retry_.get());
}

// ---- cores ----

void DrainWatch::jobs_changed() {
    if (is_any_down_ && !std::exchange(is_count_due_, true)) {
        flux_timer_watcher_reset(count_.get(), flux::real_seconds(h_, count_pause_s), 0.);
        flux_watcher_start(count_.get());
    }
}

void DrainWatch::count_cores() {
    is_count_due_ = false;
    if (!callbacks_.cores || (!is_any_down_ && lost_cores_ == 0 && !cores_)) {
        return;
    }
    if (cores_) {
        is_to_count_again_ = true;
        return;
    }
    is_to_count_again_ = false;
    cores_ = flux::rpc(h_, "resource.sched-status", Json::object());
    flux::then<&DrainWatch::on_cores>(cores_.get(), this);
}

void DrainWatch::on_cores(flux_future_t* f) {
    std::int64_t cores = lost_cores_;
    const flux::Caught caught = flux::catching([&] {
        const Json status = flux::rpc_get(f, "resource.sched-status");
        const R down = flux::value_or_throw(decode_r(json_object_get(status.get(), "down")));
        const R allocated = flux::value_or_throw(decode_r(json_object_get(status.get(), "allocated")));
        cores = free_cores(down.resources, allocated.resources);
    });
    cores_.reset();
    if (caught.errnum != 0) {
        flux::log(h_, LOG_DEBUG, "counting the cores of drained nodes: " + caught.message);
        jobs_changed();
    } else if (is_to_count_again_) {
        count_cores();
    }
    if (std::exchange(lost_cores_, cores) != cores) {
        callbacks_.cores();
    }
}

}  // namespace weir::route
