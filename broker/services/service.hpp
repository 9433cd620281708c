// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the common layer of the builtin services over the Flux C API: RAII for its handles, callbacks that no exception
// leaves, payloads as Json. Must not know any service. Source: RFC 6.
#pragma once
#include <flux/core.h>
#include <syslog.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "broker/services/handlers.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct FluxDeleter {
    void operator()(flux_t* h) const { flux_close(h); }
    void operator()(flux_future_t* f) const { flux_future_destroy(f); }
    void operator()(flux_watcher_t* w) const { flux_watcher_destroy(w); }
    void operator()(flux_msglist* l) const { flux_msglist_destroy(l); }
};
using Future = std::unique_ptr<flux_future_t, FluxDeleter>;
using Watcher = std::unique_ptr<flux_watcher_t, FluxDeleter>;
using MessageList = std::unique_ptr<flux_msglist, FluxDeleter>;

/// A kept message.
class HeldMessage {
  public:
    HeldMessage() = default;
    explicit HeldMessage(const flux_msg_t* msg) : msg_(flux_msg_incref(msg)) {}
    HeldMessage(HeldMessage&& other) noexcept : msg_(std::exchange(other.msg_, nullptr)) {}
    HeldMessage& operator=(HeldMessage&& other) noexcept {
        std::swap(msg_, other.msg_);
        return *this;
    }
    ~HeldMessage() {
        if (msg_ != nullptr) {
            flux_msg_decref(msg_);
        }
    }
    const flux_msg_t* get() const { return msg_; }

  private:
    const flux_msg_t* msg_ = nullptr;
};

/// The payload of a request; nothing if there is none or it is no JSON.
inline Json payload_of(const flux_msg_t* msg) {
    const char* text = nullptr;
    return flux_request_decode(msg, nullptr, &text) == 0 && text != nullptr ? Json::parse_payload(text) : Json();
}

inline void respond(flux_t* h, const flux_msg_t* msg, const Json& payload) {
    flux_respond(h, msg, payload.dump().c_str());
}
inline void respond(flux_t* h, const flux_msg_t* msg, const Error& error) {
    flux_respond_error(h, msg, static_cast<int>(error.code), error.message.c_str());
}

/// A message callback that calls a method of the service behind `arg`; exceptions become error responses.
template <typename T, void (T::*method)(const flux_msg_t*)>
void on_message(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
    try {
        (static_cast<T*>(arg)->*method)(msg);
    } catch (const std::exception& failed) {
        flux_log(h, LOG_ERR, "%s", failed.what());
        flux_respond_error(h, msg, EIO, failed.what());
    }
}

/// Runs `body` so that no exception leaves; logs an exception.
template <typename Body>
void guarded(flux_t* h, Body body) noexcept {
    try {
        body();
    } catch (const std::exception& failed) {
        flux_log(h, LOG_ERR, "%s", failed.what());
    }
}

/// The body of a builtin's mod_main: makes the service, runs the reactor. T needs a constructor from flux_t* and
/// `Status start()`.
template <typename T>
int run_service(flux_t* h) noexcept {
    try {
        T service(h);
        if (const Status started = service.start(); !started) {
            flux_log(h, LOG_ERR, "%s", started.error().message.c_str());
            errno = static_cast<int>(started.error().code);
            return -1;
        }
        return flux_reactor_run(flux_get_reactor(h), 0) < 0 ? -1 : 0;
    } catch (const std::exception& failed) {
        flux_log(h, LOG_ERR, "%s", failed.what());
        errno = EIO;
        return -1;
    }
}

}  // namespace weir::broker
