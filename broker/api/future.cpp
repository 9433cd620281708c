// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see future.hpp, and the flux_future_* functions. RFC 6.
#include "broker/api/future.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>

#include "broker/api/clock.hpp"
#include "broker/api/dispatch.hpp"
#include "broker/api/handle_state.hpp"

using weir::broker::monotonic_ns;

namespace {
uint64_t deadline_in(double scaled_seconds) {
    const double ns = std::ceil(weir::broker::real_delay(std::fmin(scaled_seconds, 3e9)) * 1e9);
    return monotonic_ns() + static_cast<uint64_t>(std::fmin(ns, 9e18));
}
}  // namespace

flux_future::flux_future(flux_t* handle) : h(handle) {}

flux_future::~flux_future() {
    let_go();
    if (reactor_ != nullptr) {
        reactor_->decref();
    }
}

/// Everything but the memory: nothing refers to this future afterwards.
void flux_future::let_go() {
    aux.clear();
    if (h != nullptr) {
        is_finished_ = true;
        update_listening();
        h->release_matchtag(matchtag);
        h = nullptr;
    }
    callback_ = nullptr;
    if (reactor_ != nullptr) {
        reactor_->unpost(this);
        reactor_->cancel_timer(this);
    }
}

void flux_future::end() {
    if (is_running_) {
        is_ended_ = true;
        let_go();
    } else {
        delete this;
    }
}

void flux_future::forget_handle() {
    is_finished_ = true;
    update_listening();
    h = nullptr;
}

void flux_future::update_listening() {
    const bool wanted = callback_ != nullptr && !is_finished_;
    if (h != nullptr && wanted != is_listening_) {
        is_listening_ = wanted;
        h->get_dispatcher()->listen(wanted ? +1 : -1);
    }
}

void flux_future::fulfill(Outcome outcome) {
    if (has_outcome_) {
        if (!queue_) {
            queue_ = std::make_unique<std::deque<Outcome>>();
        }
        queue_->push_back(std::move(outcome));
    } else {
        outcome_ = std::move(outcome);
        has_outcome_ = true;
    }
    if (callback_ != nullptr) {
        reactor_->post(this);
    }
}

void flux_future::take_response(weir::broker::MessagePtr msg) {
    if (is_finished_) {
        return;
    }
    Outcome outcome;
    outcome.errnum = msg->errnum();
    if (outcome.errnum != 0 && msg->payload_text() != nullptr) {
        outcome.error_text = msg->payload_text();
    }
    is_finished_ = !is_streaming || outcome.errnum != 0;
    outcome.response = std::move(msg);
    update_listening();
    fulfill(std::move(outcome));
}

int flux_future::wait_for(double timeout) {
    if (has_outcome_) {
        return 0;
    }
    if (timeout == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    const uint64_t deadline = timeout < 0 ? 0 : deadline_in(timeout);
    while (!has_outcome_) {
        if (h == nullptr || is_finished_ || matchtag == FLUX_MATCHTAG_NONE) {
            errno = EDEADLK;  // no response will ever come
            return -1;
        }
        const flux_handle::Hold hold(h);
        weir::broker::MessagePtr msg = h->recv_response(matchtag, deadline);
        if (!msg) {
            return -1;
        }
        (void)h->deliver_response(std::move(msg));
    }
    return 0;
}

int flux_future::then(double timeout, flux_continuation_f cb, void* arg) {
    if (reactor_ == nullptr) {
        if (h == nullptr || h->get_dispatcher() == nullptr) {
            errno = EINVAL;
            return -1;
        }
        reactor_ = h->get_reactor();
        reactor_->incref();
    }
    callback_ = cb;
    argument_ = arg;
    timeout_ = timeout;
    start_timer();
    update_listening();
    if (has_outcome_) {
        reactor_->post(this);
    }
    return 0;
}

void flux_future::start_timer() {
    if (timeout_ < 0) {
        reactor_->cancel_timer(this);
    } else {
        reactor_->set_timer(this, deadline_in(timeout_));
    }
}

void flux_future::fire() {
    fulfill({ETIMEDOUT, {}, {}});
}

void flux_future::run_ready() {
    reactor_->cancel_timer(this);
    if (callback_ == nullptr) {
        return;
    }
    is_running_ = true;
    callback_(this, argument_);
    is_running_ = false;
    if (is_ended_) {
        delete this;
    }
}

void flux_future::reset() {
    outcome_ = {};
    has_outcome_ = false;
    if (callback_ != nullptr) {
        reactor_->unpost(this);
        start_timer();
    }
    if (queue_ && !queue_->empty()) {
        Outcome next = std::move(queue_->front());
        queue_->pop_front();
        fulfill(std::move(next));
    }
}

extern "C" {

int flux_future_get(flux_future_t* f, const void** result) {
    if (f == nullptr) {
        errno = EINVAL;
        return -1;
    }
    if (f->wait_for(-1) < 0) {
        return -1;
    }
    if (f->outcome().errnum != 0) {
        errno = f->outcome().errnum;
        return -1;
    }
    if (result != nullptr) {
        *result = f->outcome().response.get();
    }
    return 0;
}

int flux_future_then(flux_future_t* f, double timeout, flux_continuation_f cb, void* arg) {
    if (f == nullptr || cb == nullptr) {
        errno = EINVAL;
        return -1;
    }
    return f->then(timeout, cb, arg);
}

int flux_future_wait_for(flux_future_t* f, double timeout) {
    if (f == nullptr) {
        errno = EINVAL;
        return -1;
    }
    return f->wait_for(timeout);
}

bool flux_future_is_ready(flux_future_t* f) {
    return f != nullptr && f->is_ready();
}

void flux_future_reset(flux_future_t* f) {
    if (f != nullptr) {
        f->reset();
    }
}

void flux_future_destroy(flux_future_t* f) {
    if (f != nullptr) {
        const int saved = errno;
        f->end();
        errno = saved;
    }
}

bool flux_future_has_error(flux_future_t* f) {
    return f != nullptr && f->is_ready() && f->outcome().errnum != 0;
}

const char* flux_future_error_string(flux_future_t* f) {
    if (!flux_future_has_error(f)) {
        return nullptr;
    }
    return f->outcome().error_text.empty() ? std::strerror(f->outcome().errnum) : f->outcome().error_text.c_str();
}

flux_t* flux_future_get_flux(flux_future_t* f) {
    if (f == nullptr || f->h == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return f->h;
}

int flux_future_aux_set(flux_future_t* f, const char* name, void* aux, flux_free_f destroy) {
    if (f == nullptr) {
        errno = EINVAL;
        return -1;
    }
    return f->aux.set(name, aux, destroy);
}

void* flux_future_aux_get(flux_future_t* f, const char* name) {
    if (f == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return f->aux.get(name);
}

}  // extern "C"
