// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ParentLink. See parent_link.hpp.
#include "modules/common/parent_link.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weir::flux {
namespace {

/// Seconds after which the link is read although no event came: a lost edge must not become a lost message.
constexpr double look_anyway = 5.;
constexpr int rounds_per_wakeup = 4096;
/// Seconds that a parent has to take a connection.
constexpr double answer_max = 5.;
constexpr const char* local_scheme = "local://";

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
    end_knock();
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
    } else if (knock_ >= 0) {
        fail("connecting to " + uri_ + ": no answer");
    } else {
        connect();
    }
}

/// flux_open() blocks until the parent's first byte, for ever where the parent is stopped, and so blocks this module's
/// reactor. A second connection, for which nothing blocks, shows first whether the parent answers.
/// \return false: there is no socket to try.
bool ParentLink::start_knock() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t skip = std::strlen(local_scheme);
    if (uri_.compare(0, skip, local_scheme) != 0 || uri_.size() - skip >= sizeof(address.sun_path)) {
        return false;
    }
    uri_.copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1, skip);
    knock_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (knock_ < 0 || ::connect(knock_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0) {
        fail("connecting to " + uri_ + ": " + flux_strerror(errno));
        return true;
    }
    knocked_.reset(
        flux_fd_watcher_create(flux_get_reactor(h_), knock_, FLUX_POLLIN, on_watcher<&ParentLink::open>, this));
    if (!knocked_) {
        fail_errno("parent link watcher");
    }
    flux_watcher_start(knocked_.get());
    arm(answer_max);
    return true;
}

void ParentLink::end_knock() {
    knocked_.reset();
    if (knock_ >= 0) {
        ::close(std::exchange(knock_, -1));
    }
}

void ParentLink::connect() {
    if (!start_knock()) {
        open();
    }
}

void ParentLink::open() {
    end_knock();
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

/// Handles what has arrived. pollfd is edge triggered, so all messages must be read; and the continuation of what one
/// round of the reactor receives runs in the next round.
void ParentLink::pump() {
    if (!parent_ || is_pumping_) {
        return;
    }
    is_pumping_ = true;
    int quiet_rounds = 0;
    for (int i = 0; i < rounds_per_wakeup && quiet_rounds < 2 && !has_failed_; i++) {
        const int events = flux_pollevents(parent_.get());
        quiet_rounds = events > 0 && (events & FLUX_POLLIN) != 0 ? 0 : quiet_rounds + 1;
        if (events < 0 || (events & FLUX_POLLERR) != 0) {
            fail("the connection broke");
        } else if (flux_reactor_run(flux_get_reactor(parent_.get()), FLUX_REACTOR_NOWAIT) < 0) {
            fail(std::string("the connection broke: ") + flux_strerror(errno));
        }
    }
    is_pumping_ = false;
    if (has_failed_) {
        drop();
    } else {
        arm(quiet_rounds < 2 ? 0. : look_anyway);
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
    end_knock();
    const std::string why = std::exchange(why_, {});
    callbacks_.lost(why);
    parent_.reset();
    arm(pause_);
    pause_ = std::min(pause_ * 2, retry_max_);
}

}  // namespace weir::flux
