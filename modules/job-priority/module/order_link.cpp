// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see order_link.hpp.
#include "modules/job-priority/module/order_link.hpp"

#include <utility>

#include "modules/job-priority/messages/wire.hpp"

namespace weir::priority {
namespace {

constexpr double retry_first_s = 0.05;
constexpr double retry_last_s = 1.;
constexpr double route_patience_s = 1.;  // of real time, all three
constexpr double patience_s = 10.;

}  // namespace

OrderLink::OrderLink(flux_t* h, double time_scale, PriorityService& service, std::function<bool()> is_attached)
    : h_(h),
      service_(service),
      is_attached_(std::move(is_attached)),
      is_route_coming_(json_object_get(flux::conf_table(h, "weir"), "route") != nullptr),
      patience_left_s_((patience_s - route_patience_s) * time_scale),
      backoff_(retry_first_s * time_scale, retry_last_s * time_scale),
      retry_(flux_timer_watcher_create(flux_get_reactor(h), 1., 0., flux::on_watcher<&OrderLink::open>, this)),
      patience_(flux_timer_watcher_create(flux_get_reactor(h), route_patience_s * time_scale, 0.,
                                          flux::on_watcher<&OrderLink::on_patience_end>, this)) {
    if (!retry_ || !patience_) {
        flux::fail_errno("timers");
    }
    flux_watcher_start(patience_.get());
    open();
}

void OrderLink::open() {
    stream_ = flux::rpc(h_, "job-route.priorities", Json::object(), FLUX_RPC_STREAMING);
    flux::then<&OrderLink::on_response>(stream_.get(), this);
}

void OrderLink::on_response(flux_future_t* f) {
    const char* text = nullptr;
    if (flux_rpc_get(f, &text) < 0) {  // job-route is not loaded yet, or is being reloaded
        stream_.reset();
        flux_timer_watcher_reset(retry_.get(), backoff_.next(), 0.);
        flux_watcher_start(retry_.get());
        return;
    }
    (void)flux::guard(h_, "the parent's priorities", [&] {
        const Json payload = flux::value_or_throw(Json::parse(text != nullptr ? text : "{}"));
        const auto rows = flux::value_or_throw(read_given_priorities(json_object_get(payload.get(), "jobs")));
        service_.take_given_priorities(rows, json_is_true(json_object_get(payload.get(), "all")));
        is_complete_ = is_complete_ || json_is_true(json_object_get(payload.get(), "complete"));
    });
    was_there_ = true;
    backoff_.reset();
    flux_future_reset(f);
}

/// First until job-route is there, unless nothing says that it will come; then for all the jobs.
void OrderLink::on_patience_end() {
    if ((!was_there_ && !is_route_coming_) || patience_left_s_ <= 0) {
        is_patience_over_ = true;
        return;
    }
    flux_timer_watcher_reset(patience_.get(), std::exchange(patience_left_s_, 0.), 0.);
    flux_watcher_start(patience_.get());
}

bool OrderLink::is_ordered() {
    is_ordered_ = is_ordered_ || is_patience_over_ || (is_complete_ && is_attached_() && service_.has_all_given());
    return is_ordered_;
}

}  // namespace weir::priority
