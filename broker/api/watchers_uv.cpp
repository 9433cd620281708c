// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the watchers that are one libuv handle each (descriptor, prepare, check, idle, signal) and the functions common
// to all watchers. Must not know timers or Flux handles.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "broker/api/watcher.hpp"

namespace {

/// Handle: a uv_*_t. The object lives until libuv has closed it; it is never reached by a callback after end().
template <typename Handle>
struct UvWatcher : flux_watcher {
    UvWatcher(flux_reactor* r, flux_watcher_f cb, void* arg) : flux_watcher(r, cb, arg) { handle.data = this; }
    void end() override {
        stop();
        flux_reactor* const r = reactor;
        uv_close(reinterpret_cast<uv_handle_t*>(&handle),
                 [](uv_handle_t* h) { delete static_cast<UvWatcher*>(h->data); });
        r->decref();
    }
    static UvWatcher* of(Handle* h) { return static_cast<UvWatcher*>(h->data); }
    Handle handle{};
};

struct FdWatcher : UvWatcher<uv_poll_t> {
    using UvWatcher::UvWatcher;
    ~FdWatcher() override {
        if (own_fd >= 0) {
            close(own_fd);
        }
    }
    void end() override {
        if (claimed_fd >= 0) {
            reactor->release_fd(claimed_fd);
        }
        UvWatcher::end();
    }
    /// libuv allows one watcher a descriptor; a further one gets a duplicate. 0, or a negative UV error.
    int open(int fd) {
        // uv_poll_init makes the descriptor nonblocking, which is the caller's choice in Flux.
        const int flags = fcntl(fd, F_GETFL);
        if (flags < 0) {
            return -errno;
        }
        if (reactor->claim_fd(fd)) {
            claimed_fd = fd;
        } else if ((own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0) {
            return -errno;
        }
        const int rc = uv_poll_init(reactor->loop(), &handle, own_fd >= 0 ? own_fd : fd);
        fcntl(fd, F_SETFL, flags);
        handle.data = this;
        if (rc < 0 && claimed_fd >= 0) {
            reactor->release_fd(claimed_fd);
        }
        return rc;
    }
    void start() override {
        const int wanted =
            ((events & FLUX_POLLIN) != 0 ? UV_READABLE : 0) | ((events & FLUX_POLLOUT) != 0 ? UV_WRITABLE : 0);
        uv_poll_start(&handle, wanted, [](uv_poll_t* h, int status, int seen) {
            const int revents = ((seen & UV_READABLE) != 0 ? FLUX_POLLIN : 0) |
                                ((seen & UV_WRITABLE) != 0 ? FLUX_POLLOUT : 0) | (status < 0 ? FLUX_POLLERR : 0);
            of(h)->call(revents);
        });
    }
    void stop() override { uv_poll_stop(&handle); }
    int events = 0;
    int claimed_fd = -1;
    int own_fd = -1;  ///< the duplicate
};

template <typename Handle, int (*Init)(uv_loop_t*, Handle*), int (*Start)(Handle*, void (*)(Handle*)),
          int (*Stop)(Handle*)>
struct PhaseWatcher : UvWatcher<Handle> {
    PhaseWatcher(flux_reactor* r, flux_watcher_f cb, void* arg) : UvWatcher<Handle>(r, cb, arg) {
        Init(r->loop(), &this->handle);
        this->handle.data = this;
    }
    void start() override {
        Start(&this->handle, [](Handle* h) { UvWatcher<Handle>::of(h)->call(0); });
    }
    void stop() override { Stop(&this->handle); }
};
using PrepareWatcher = PhaseWatcher<uv_prepare_t, uv_prepare_init, uv_prepare_start, uv_prepare_stop>;
using CheckWatcher = PhaseWatcher<uv_check_t, uv_check_init, uv_check_start, uv_check_stop>;
using IdleWatcher = PhaseWatcher<uv_idle_t, uv_idle_init, uv_idle_start, uv_idle_stop>;

struct SignalWatcher : UvWatcher<uv_signal_t> {
    SignalWatcher(flux_reactor* r, int number, flux_watcher_f cb, void* arg) : UvWatcher(r, cb, arg), signum(number) {
        uv_signal_init(r->loop(), &handle);
        handle.data = this;
    }
    void start() override {
        uv_signal_start(
            &handle, [](uv_signal_t* h, int) { of(h)->call(0); }, signum);
    }
    void stop() override { uv_signal_stop(&handle); }
    const int signum;
};

template <typename Watcher>
flux_watcher_t* make_phase(flux_reactor_t* r, flux_watcher_f cb, void* arg) {
    if (r == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return new Watcher(r, cb, arg);
}

}  // namespace

extern "C" {

void flux_watcher_start(flux_watcher_t* w) {
    if (w != nullptr) {
        w->start();
    }
}

void flux_watcher_stop(flux_watcher_t* w) {
    if (w != nullptr) {
        w->stop();
    }
}

void flux_watcher_destroy(flux_watcher_t* w) {
    if (w != nullptr) {
        const int saved = errno;
        w->end();
        errno = saved;
    }
}

flux_watcher_t* flux_fd_watcher_create(flux_reactor_t* r, int fd, int events, flux_watcher_f cb, void* arg) {
    if (r == nullptr || fd < 0) {
        errno = EINVAL;
        return nullptr;
    }
    auto* w = new FdWatcher(r, cb, arg);
    w->events = events;
    if (const int rc = w->open(fd); rc < 0) {
        // The handle was never initialised, so it must not be closed.
        r->decref();
        delete w;
        errno = -rc;
        return nullptr;
    }
    return w;
}

flux_watcher_t* flux_prepare_watcher_create(flux_reactor_t* r, flux_watcher_f cb, void* arg) {
    return make_phase<PrepareWatcher>(r, cb, arg);
}

flux_watcher_t* flux_check_watcher_create(flux_reactor_t* r, flux_watcher_f cb, void* arg) {
    return make_phase<CheckWatcher>(r, cb, arg);
}

flux_watcher_t* flux_idle_watcher_create(flux_reactor_t* r, flux_watcher_f cb, void* arg) {
    return make_phase<IdleWatcher>(r, cb, arg);
}

flux_watcher_t* flux_signal_watcher_create(flux_reactor_t* r, int signum, flux_watcher_f cb, void* arg) {
    if (r == nullptr || signum <= 0) {
        errno = EINVAL;
        return nullptr;
    }
    return new SignalWatcher(r, signum, cb, arg);
}

}  // extern "C"
