// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_pollfd and flux_pollevents: one descriptor for a handle inside another program's loop, and the handle
// watcher built on it. Must not know the dispatcher. The descriptor is an epoll of edges, so it is quiet once looked
// at.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "broker/api/handle_state.hpp"
#include "broker/api/watcher.hpp"

int flux_handle::pollfd() {
    if (pollfd_ >= 0) {
        return pollfd_;
    }
    const int connector_fd = connector->pollfd();
    pollfd_ = epoll_create1(EPOLL_CLOEXEC);
    requeue_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    epoll_event edge{};
    edge.events = EPOLLIN | EPOLLET;
    const bool is_made = connector_fd >= 0 && pollfd_ >= 0 && requeue_fd_ >= 0 &&
                         epoll_ctl(pollfd_, EPOLL_CTL_ADD, connector_fd, &edge) == 0 &&
                         epoll_ctl(pollfd_, EPOLL_CTL_ADD, requeue_fd_, &edge) == 0;
    if (!is_made) {
        const int saved = errno;
        close_pollfd();
        errno = saved;
        return -1;
    }
    update_pollfd();
    return pollfd_;
}

void flux_handle::close_pollfd() {
    for (int* fd : {&pollfd_, &requeue_fd_}) {
        if (*fd >= 0) {
            ::close(*fd);
            *fd = -1;
        }
    }
}

void flux_handle::drain_pollfd() {
    epoll_event events[4];
    while (epoll_wait(pollfd_, events, 4, 0) > 0) {
    }
    uint64_t count_read = 0;
    (void)!read(requeue_fd_, &count_read, sizeof count_read);
}

void flux_handle::update_pollfd() {
    if (pollfd_ < 0) {
        return;
    }
    drain_pollfd();
    if (is_readable()) {
        const uint64_t one = 1;
        (void)!write(requeue_fd_, &one, sizeof one);
    }
}

int flux_handle::pollevents() {
    if (pollfd() < 0) {
        return -1;
    }
    drain_pollfd();
    int events = connector->pollevents();
    if (events < 0) {
        return -1;
    }
    if ((events & FLUX_POLLERR) != 0 && survives_error(ECONNRESET)) {
        events &= ~FLUX_POLLERR;
    }
    return queue.empty() ? events : events | FLUX_POLLIN;
}

namespace {

/// Calls back with the handle's events as they are after the loop woke.
struct HandleWatcher final : flux_watcher, weir::broker::Source {
    HandleWatcher(flux_reactor* r, flux_t* handle, int wanted, flux_watcher_f cb, void* arg)
        : flux_watcher(r, cb, arg), h(handle), events(wanted | FLUX_POLLERR) {}
    void start() override {
        if (!is_active) {
            is_active = true;
            reactor->add_source(this);
            flux_watcher_start(fd);
        }
    }
    void stop() override {
        if (is_active) {
            is_active = false;
            reactor->remove_source(this);
            flux_watcher_stop(fd);
        }
    }
    void end() override {
        stop();
        flux_watcher_destroy(fd);
        reactor->decref();
        if (is_calling) {
            is_ended = true;
        } else {
            delete this;
        }
    }
    int seen() const {
        const int now = flux_pollevents(h);
        return (now < 0 ? FLUX_POLLERR : now) & events;
    }
    bool is_ready() override { return seen() != 0; }
    void dispatch() override {
        if (const int revents = seen(); revents != 0) {
            is_calling = true;
            call(revents);
            is_calling = false;
            if (is_ended) {
                delete this;
            }
        }
    }
    flux_t* const h;
    const int events;
    flux_watcher_t* fd = nullptr;
    bool is_active = false;
    bool is_calling = false;
    bool is_ended = false;
};

}  // namespace

extern "C" flux_watcher_t* flux_handle_watcher_create(flux_reactor_t* r, flux_t* h, int events, flux_watcher_f cb,
                                                      void* arg) {
    if (r == nullptr || h == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    flux_watcher_t* fd = flux_fd_watcher_create(r, h->pollfd(), FLUX_POLLIN, nullptr, nullptr);
    if (fd == nullptr) {
        return nullptr;
    }
    auto* w = new HandleWatcher(r, h, events, cb, arg);
    w->fd = fd;
    return w;
}
