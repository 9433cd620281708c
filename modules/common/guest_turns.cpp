// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see guest_turns.hpp.
#include "modules/common/guest_turns.hpp"

#include <utility>

#include "modules/common/monotonic_clock.hpp"

namespace weir::flux {

GuestTurns::GuestTurns(flux_t* h, double time_scale, Rules rules, Serve serve)
    : h_(h),
      time_scale_(time_scale),
      rules_(std::move(rules)),
      serve_(std::move(serve)),
      queue_(rules_.of_user_max),
      timer_(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., on_watcher<&GuestTurns::on_turn>, this)) {
    if (!timer_) {
        fail_errno("timer of guests' turns");
    }
}

void GuestTurns::add(Request request, std::uint64_t key, std::size_t cost) {
    const std::uint32_t userid = cred_of(request.msg.get()).userid;
    const auto is_unanswered = [](const Request& one) { return flux_msg_is_noresponse(one.msg.get()); };
    if (is_unanswered(request) && queue_.count_of(userid, is_unanswered) >= rules_.unanswered_max) {
        return;
    }
    const bool is_first = queue_.empty();
    if (is_first) {
        rules_.pace.came(monotonic_seconds());
    }
    if (const auto refused = queue_.add({userid, key, cost, std::move(request)})) {
        respond_error(h_, refused->msg.get(), EAGAIN, rules_.refusal);
    }
    if (is_first) {
        on_turn();
    }
}

/// The timer runs as long as a request waits. While messages wait in the handle, it runs out in each turn of the
/// reactor.
void GuestTurns::on_turn() {
    const double began = monotonic_seconds();
    const bool do_others_wait = (flux_pollevents(h_) & FLUX_POLLIN) != 0;
    if (!queue_.empty() && rules_.pace.is_due(began, do_others_wait)) {
        (void)guard(h_, "guests' turn", [&] { serve_(queue_.turn(rules_.cost_max)); });
        rules_.pace.served(began, monotonic_seconds());
    }
    flux_watcher_stop(timer_.get());
    if (!queue_.empty()) {
        flux_timer_watcher_reset(timer_.get(), rules_.pace.pause_s(monotonic_seconds()) * time_scale_, 0.);
        flux_watcher_start(timer_.get());
    }
}

void GuestTurns::drop(const flux_msg_t* disconnect) {
    queue_.drop_if([&](const Request& request) { return flux_disconnect_match(disconnect, request.msg.get()); });
}

void GuestTurns::call(const std::vector<Request>& requests) const {
    for (const Request& request : requests) {
        request.handler(h_, nullptr, request.msg.get(), request.arg);
    }
}

void GuestTurns::end(const std::string& why) {
    while (!queue_.empty()) {
        for (const Request& request : queue_.turn(rules_.cost_max)) {
            respond_error(h_, request.msg.get(), EHOSTUNREACH, why);
        }
    }
    flux_watcher_stop(timer_.get());
}

}  // namespace weir::flux
