// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_handle's life, sending, receiving and matchtags, and the plain flux_* functions on a handle. Must not know
// URIs (open.cpp) or attributes (attr.cpp). RFC 3, RFC 6.
#include "broker/api/handle.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "broker/api/clock.hpp"
#include "broker/api/dispatch.hpp"
#include "broker/api/future.hpp"
#include "broker/api/handle_state.hpp"

using weir::broker::Dispatcher;
using weir::broker::Message;
using weir::broker::MessagePtr;

flux_handle::flux_handle(std::unique_ptr<weir::broker::Connector> c, int open_flags)
    : connector(std::move(c)), flags(open_flags), calls_(1) {}

flux_handle::~flux_handle() {
    aux.clear();  // before all else: it may hold futures and watchers of this handle
    forget_futures();
    if (dispatcher_) {
        dispatcher_->detach();
    }
    flux_conf_decref(conf);
    close_pollfd();
    if (reactor != nullptr) {
        reactor->decref();
    }
}

void flux_handle::close() {
    if (!is_closed_) {
        is_closed_ = true;
        if (holds_ == 0) {
            delete this;
        }
    }
}

void flux_handle::forget_futures() {
    for (Call& call : calls_) {
        if (call.future != nullptr) {
            call.future->forget_handle();
            call.future = nullptr;
        }
    }
}

flux_reactor* flux_handle::get_reactor() {
    if (reactor == nullptr) {
        reactor = flux_reactor::create();
    }
    return reactor;
}

Dispatcher* flux_handle::get_dispatcher() {
    if (!dispatcher_ && get_reactor() != nullptr) {
        dispatcher_ = std::make_shared<Dispatcher>(this);
    }
    return dispatcher_.get();
}

// ---- messages ----

void flux_handle::count(const Message& msg, bool is_sent) {
    int* const pairs[] = {&counters.request_tx, &counters.request_rx, &counters.response_tx, &counters.response_rx,
                          &counters.event_tx,   &counters.event_rx,   &counters.control_tx,  &counters.control_rx};
    int kind = 0;
    while ((msg.type >> kind) > 1 && kind < 3) {
        ++kind;
    }
    ++*pairs[2 * kind + (is_sent ? 0 : 1)];
}

void flux_handle::trace(const char* direction, const Message& msg) const {
    if ((flags & FLUX_O_TRACE) != 0) {
        const char* text = msg.payload_text();
        std::fprintf(stderr, "--------------------------------------\n%s %s %s flags=0x%x aux=%u,%u %s\n", direction,
                     weir::broker::type_name(msg.type), msg.topic_text(), msg.flags, msg.aux1, msg.aux2,
                     text != nullptr ? text : "");
    }
}

bool flux_handle::survives_error(int errnum) {
    bool survives = false;
    if (comms_error != nullptr && !in_comms_error_) {
        in_comms_error_ = true;
        errno = errnum;
        survives = comms_error(this, comms_error_arg) == 0;
        in_comms_error_ = false;
    }
    errno = errnum;
    return survives;
}

int flux_handle::send(const Message& msg, bool nonblock) {
    if (divert && divert(msg)) {
        return 0;
    }
    count(msg, true);
    trace(">", msg);
    if (connector->send(msg, nonblock) == 0) {
        return 0;
    }
    const bool is_full = errno == EAGAIN;
    return !is_full && survives_error(errno) ? connector->send(msg, nonblock) : -1;
}

MessagePtr flux_handle::recv_any(bool nonblock) {
    MessagePtr msg;
    if (!queue.empty()) {
        msg = std::move(queue.front());
        queue.pop_front();
    } else {
        msg = connector->recv(nonblock);
    }
    if (msg) {
        count(*msg, false);
        trace("<", *msg);
    }
    return msg;
}

MessagePtr flux_handle::recv(const flux_match& match, bool nonblock) {
    for (auto item = queue.begin(); item != queue.end(); ++item) {
        if (weir::broker::matches(**item, match)) {
            MessagePtr msg = std::move(*item);
            queue.erase(item);
            count(*msg, false);
            return msg;
        }
    }
    while (MessagePtr msg = connector->recv(nonblock)) {
        if (weir::broker::matches(*msg, match)) {
            count(*msg, false);
            trace("<", *msg);
            return msg;
        }
        queue.push_back(std::move(msg));
    }
    const int errnum = errno;
    update_pollfd();
    if (errnum != EAGAIN) {
        (void)survives_error(errnum);
    }
    errno = errnum;
    return nullptr;
}

namespace {
/// Milliseconds to wait for, rounded up; -1: for ever.
int wait_ms(uint64_t deadline_ns) {
    if (deadline_ns == 0) {
        return -1;
    }
    const uint64_t now = weir::broker::monotonic_ns();
    if (now >= deadline_ns) {
        return 0;
    }
    const uint64_t ms = (deadline_ns - now + 999'999) / 1'000'000;
    return ms > 1'000'000 ? 1'000'000 : static_cast<int>(ms);
}
}  // namespace

MessagePtr flux_handle::recv_response(uint32_t matchtag, uint64_t deadline_ns) {
    const flux_match match{FLUX_MSGTYPE_RESPONSE, matchtag, nullptr};
    while (true) {
        // One look without waiting also drains what arrived, so that the order of everything else is kept.
        if (MessagePtr msg = recv(match, true)) {
            update_pollfd();
            return msg;
        }
        if (errno != EAGAIN) {
            return nullptr;
        }
        const int timeout = wait_ms(deadline_ns);
        const int n = timeout == 0 ? 0 : connector->wait(timeout);
        if (n < 0) {
            return nullptr;
        }
        if (n == 0 && deadline_ns != 0 && weir::broker::monotonic_ns() >= deadline_ns) {
            errno = ETIMEDOUT;
            return nullptr;
        }
    }
}

// ---- matchtags ----

uint32_t flux_handle::alloc_matchtag(flux_future* future) {
    uint32_t tag = 0;
    // Oldest first, so that a tag rests as long as possible before it names another call.
    if (!free_tags_.empty()) {
        tag = free_tags_.front();
        free_tags_.pop_front();
    } else {
        tag = static_cast<uint32_t>(calls_.size());
        calls_.emplace_back();
    }
    calls_[tag] = {future, true, false};
    return tag;
}

flux_handle::Call* flux_handle::call_of(uint32_t matchtag) {
    const bool is_known = matchtag != FLUX_MATCHTAG_NONE && matchtag < calls_.size() && calls_[matchtag].is_used;
    return is_known ? &calls_[matchtag] : nullptr;
}

void flux_handle::release_matchtag(uint32_t matchtag) {
    if (Call* call = call_of(matchtag)) {
        call->future = nullptr;
        if (call->is_finished) {
            *call = {};
            free_tags_.push_back(matchtag);
        }
    }
}

bool flux_handle::deliver_response(MessagePtr msg) {
    Call* call = msg->routes.empty() ? call_of(msg->matchtag()) : nullptr;
    if (call == nullptr) {
        return false;
    }
    const bool is_streaming = call->future != nullptr ? call->future->is_streaming : flux_msg_is_streaming(msg.get());
    call->is_finished = call->is_finished || !is_streaming || msg->errnum() != 0;
    if (call->future != nullptr) {
        call->future->take_response(std::move(msg));
    } else {
        release_matchtag(msg->matchtag());
    }
    return true;
}

// ---- C++ interface ----

namespace weir::broker {

flux_t* handle_create(std::unique_ptr<Connector> connector, int flags) {
    if (!connector) {
        errno = EINVAL;
        return nullptr;
    }
    return new flux_handle(std::move(connector), flags);
}

void handle_set_identity(flux_t* h, const std::string& name, const std::string& uuid) {
    const auto put = [h](const char* key, const std::string& text) {
        auto* owned = new std::string(text);
        // The value is the C string modules read; the destructor finds its owner by the aux key beside it.
        flux_aux_set(h, nullptr, owned, [](void* p) { delete static_cast<std::string*>(p); });
        flux_aux_set(h, key, owned->data(), nullptr);
    };
    put("flux::name", name);
    put("flux::uuid", uuid);
    h->log_app_name = name;
}

void handle_divert(flux_t* h, std::function<bool(const flux_msg_t&)> take) {
    h->divert = std::move(take);
}

}  // namespace weir::broker

// ---- C interface ----

namespace {
int invalid() {
    errno = EINVAL;
    return -1;
}
}  // namespace

extern "C" {

void flux_close(flux_t* h) {
    if (h != nullptr) {
        const int saved = errno;
        h->close();
        errno = saved;
    }
}

flux_reactor_t* flux_get_reactor(flux_t* h) {
    return h != nullptr ? h->get_reactor() : nullptr;
}

int flux_set_reactor(flux_t* h, flux_reactor_t* r) {
    if (h == nullptr || r == nullptr) {
        return invalid();
    }
    if (h->reactor != nullptr) {
        errno = EEXIST;
        return -1;
    }
    r->incref();
    h->reactor = r;
    return 0;
}

void* flux_aux_get(flux_t* h, const char* name) {
    if (h == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return h->aux.get(name);
}

int flux_aux_set(flux_t* h, const char* name, void* aux, flux_free_f destroy) {
    return h != nullptr ? h->aux.set(name, aux, destroy) : invalid();
}

int flux_pollfd(flux_t* h) {
    return h != nullptr ? h->pollfd() : invalid();
}

int flux_pollevents(flux_t* h) {
    return h != nullptr ? h->pollevents() : invalid();
}

void flux_comms_error_set(flux_t* h, flux_comms_error_f fun, void* arg) {
    h->comms_error = fun;
    h->comms_error_arg = arg;
}

void flux_get_msgcounters(flux_t* h, flux_msgcounters_t* mcs) {
    *mcs = h->counters;
}

void flux_clr_msgcounters(flux_t* h) {
    h->counters = {};
}

int flux_send(flux_t* h, const flux_msg_t* msg, int flags) {
    if (h == nullptr || msg == nullptr || (flags & ~FLUX_O_NONBLOCK) != 0) {
        return invalid();
    }
    return h->send(*msg, ((flags | h->flags) & FLUX_O_NONBLOCK) != 0);
}

flux_msg_t* flux_recv(flux_t* h, struct flux_match match, int flags) {
    if (h == nullptr || (flags & ~FLUX_O_NONBLOCK) != 0) {
        errno = EINVAL;
        return nullptr;
    }
    return h->recv(match, ((flags | h->flags) & FLUX_O_NONBLOCK) != 0).release();
}

const char* flux_strerror(int errnum) {
    return strerror(errnum);
}

}  // extern "C"
