// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ParentLink. See parent_link.hpp.
#include "modules/common/parent_link.hpp"

#include <algorithm>
#include <cstdlib>

namespace weir::flux {
namespace {

/// A module whose pollfd misses an edge would sleep on a full queue; this often it looks anyway.
constexpr double look_anyway = 0.5;
constexpr int messages_per_wakeup = 4096;

}  // namespace

double real_seconds(flux_t* h, double seconds) {
    const char* text = flux_attr_get(h, "clock.scale");
    const double scale = text != nullptr ? std::strtod(text, nullptr) : 1.;
    return scale > 0. ? seconds * scale : seconds;
}

ParentLink::ParentLink(flux_t* h, std::string uri, double retry_max, Callbacks callbacks)
    : h_(h), uri_(std::move(uri)), retry_max_(retry_max), callbacks_(std::move(callbacks)) {
    timer_.reset(flux_timer_watcher_create(flux_get_reactor(h_), 0., 0., on_watcher<&ParentLink::on_timer>, this));
    if (!timer_) {
        fail_errno("parent link timer");
    }
    arm(0.);
}

ParentLink::~ParentLink() {
    readable_.reset();
    timer_.reset();
    if (parent_ && callbacks_.lost) {
        (void)catching([this] { callbacks_.lost("unloading"); });
    }
}

void ParentLink::arm(double seconds) {
    flux_watcher_stop(timer_.get());
    flux_timer_watcher_reset(timer_.get(), real_seconds(h_, seconds), 0.);
    flux_watcher_start(timer_.get());
}

void ParentLink::on_timer() {
    if (has_failed_) {
        drop();
    } else if (parent_) {
        pump();
    } else {
        connect();
    }
}

void ParentLink::connect() {
    flux_error_t error{};
    parent_.reset(flux_open_ex(uri_.c_str(), 0, &error));
    if (!parent_) {
        fail(std::string("connecting to ") + uri_ + ": " + static_cast<const char*>(error.text));
        return;
    }
    readable_.reset(flux_fd_watcher_create(flux_get_reactor(h_), flux_pollfd(parent_.get()), FLUX_POLLIN,
                                           on_watcher<&ParentLink::pump>, this));
    if (!readable_) {
        fail_errno("parent link watcher");
    }
    flux_watcher_start(readable_.get());
    callbacks_.connected();
    pump();
}

/// Runs what has arrived. pollfd tells of a change only, so everything there is must be taken.
void ParentLink::pump() {
    if (!parent_ || is_pumping_) {
        return;
    }
    is_pumping_ = true;
    bool is_more = true;
    for (int i = 0; i < messages_per_wakeup && is_more && !has_failed_; i++) {
        if (flux_reactor_run(flux_get_reactor(parent_.get()), FLUX_REACTOR_NOWAIT) < 0) {
            fail(std::string("the connection broke: ") + flux_strerror(errno));
            break;
        }
        const int events = flux_pollevents(parent_.get());
        if (events < 0 || (events & FLUX_POLLERR) != 0) {
            fail("the connection broke");
        }
        is_more = events > 0 && (events & FLUX_POLLIN) != 0;
    }
    is_pumping_ = false;
    if (has_failed_) {
        drop();
    } else {
        arm(is_more ? 0. : look_anyway);
    }
}

void ParentLink::fail(const std::string& why) {
    if (!has_failed_) {
        has_failed_ = true;
        why_ = why;
        arm(0.);
    }
}

void ParentLink::drop() {
    has_failed_ = false;
    readable_.reset();
    const std::string why = std::exchange(why_, {});
    callbacks_.lost(why);
    parent_.reset();
    arm(pause_);
    pause_ = std::min(pause_ * 2, retry_max_);
}

}  // namespace weir::flux
