// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RAII for the libuv handles of the broker's main thread. A handle's memory lives until libuv has closed it.
// Must not know what the callbacks do.
#pragma once
#include <uv.h>

#include <functional>
#include <memory>
#include <utility>

#include "libfairshare/base/check.hpp"

namespace weir::broker {

/// The main thread's event loop.
class Loop {
  public:
    Loop() { WEIR_CHECK(uv_loop_init(&loop_) == 0); }
    ~Loop() {
        uv_run(&loop_, UV_RUN_NOWAIT);  // lets closing handles finish
        uv_run(&loop_, UV_RUN_NOWAIT);
        uv_loop_close(&loop_);
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    uv_loop_t* get() { return &loop_; }
    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() { uv_stop(&loop_); }

  private:
    uv_loop_t loop_{};
};

/// One libuv handle of type T with a C++ callback; closed on destruction. The callback's argument is the ready events
/// of a uv_poll_t, the signal of a uv_signal_t, else 0.
template <typename T>
class Watch {
  public:
    using Callback = std::function<void(int)>;
    Watch() = default;
    ~Watch() { reset(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// Makes the handle: `init(uv_handle)` calls uv_T_init. \return libuv's error or 0.
    template <typename Init>
    int create(Init init) {
        reset();
        body_ = new Body;
        body_->handle.data = body_;
        const int rc = init(&body_->handle);
        if (rc < 0) {
            delete std::exchange(body_, nullptr);
        }
        return rc;
    }
    explicit operator bool() const { return body_ != nullptr; }
    T* get() const { return &body_->handle; }
    void on(Callback callback) { body_->callback = std::move(callback); }
    void reset() {
        if (body_ != nullptr) {
            body_->callback = nullptr;
            uv_close(reinterpret_cast<uv_handle_t*>(&body_->handle),
                     [](uv_handle_t* handle) { delete static_cast<Body*>(handle->data); });
            body_ = nullptr;
        }
    }
    /// To be called by the handle's C callback. The callback may reset this Watch.
    static void fire(T* handle, int what = 0) {
        const Callback callback = static_cast<Body*>(handle->data)->callback;
        if (callback) {
            callback(what);
        }
    }

  private:
    struct Body {
        T handle{};
        Callback callback;
    };
    Body* body_ = nullptr;
};

}  // namespace weir::broker
