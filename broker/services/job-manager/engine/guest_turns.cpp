// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see guest_turns.hpp.
#include "broker/services/job-manager/engine/guest_turns.hpp"

#include <cerrno>
#include <cstring>

#include "broker/api/clock.hpp"

namespace weir::broker::jobs {
namespace {

/// A request that wants no answer is charged to nobody once it has come here. A longer one is dropped.
constexpr std::size_t unanswered_bytes_max = 4096;

double real_seconds() {
    return static_cast<double>(monotonic_ns()) / 1e9;
}

void wake(flux_reactor_t*, flux_watcher_t*, int, void*) noexcept {}  // the turn is at the end of the iteration

}  // namespace

Status GuestTurns::start(double time_scale) {
    time_scale_ = time_scale;
    timer_ = flux_timer_watcher_create(flux_get_reactor(h_), 0., 0., wake, nullptr);
    if (timer_ == nullptr) {
        return Error{static_cast<std::errc>(errno), std::string("timer of guests' turns: ") + std::strerror(errno)};
    }
    return Done{};
}

void GuestTurns::add(const flux_msg_t* request, flux_msg_handler_f handler, void* arg) {
    if (flux_msg_is_noresponse(request) && payload_size(request) > unanswered_bytes_max) {
        return;
    }
    flux_msg_cred cred{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
    (void)flux_msg_get_cred(request, &cred);
    if (queue_.empty()) {
        pace_.came(real_seconds());
    }
    if (const auto refused = queue_.add({cred.userid, 0, 1, {MessageRef(request), handler, arg}})) {
        outbox_.answer_query(
            refused->request.get(),
            std::to_string(of_user_max) + " of your requests to job-manager wait: ask again when one is answered",
            EAGAIN);
    }
}

void GuestTurns::turn(const std::function<void()>& flush) {
    if (queue_.empty()) {
        return;
    }
    const double began = real_seconds();
    if (pace_.is_due(began, (flux_pollevents(h_) & FLUX_POLLIN) != 0)) {
        for (const Waiting& waiting : queue_.turn(1)) {
            waiting.handler(h_, nullptr, waiting.request.get(), waiting.arg);
        }
        flush();
        pace_.served(began, real_seconds());
    }
    flux_watcher_stop(timer_);
    if (!queue_.empty()) {  // the reactor must not sleep longer; with 0 it looks at once whether others still wait
        flux_timer_watcher_reset(timer_, pace_.pause_s(real_seconds()) * time_scale_, 0.);
        flux_watcher_start(timer_);
    }
}

void GuestTurns::drop(const flux_msg_t* disconnect) {
    queue_.drop_if([&](const Waiting& waiting) { return flux_disconnect_match(disconnect, waiting.request.get()); });
}

void GuestTurns::end_all() {
    while (!queue_.empty()) {
        for (const Waiting& waiting : queue_.turn(1)) {
            outbox_.respond_error(waiting.request.get(), EHOSTUNREACH, "job-manager was removed");
        }
    }
}

}  // namespace weir::broker::jobs
