// SPDX-License-Identifier: LGPL-3.0-only
// Owns: binding, accepting and authenticating. A client learns its fate from one byte: 0 or an errno. Must not know
// services.
#include "broker/core/local_listener.hpp"

#include <fcntl.h>
#include <flux/core.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace weir::broker {
namespace {

constexpr std::uint64_t accept_retry_ms = 100;  // descriptors come back not only from clients

/// Half of this process's descriptors: the other half is for the owner, the modules and the jobs.
std::size_t guest_connections_max() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(limit.rlim_cur) / 2;
}

}  // namespace

LocalListener::LocalListener(Loop& loop, Router& router, const Rundir& rundir, Log log)
    : loop_(loop),
      router_(router),
      rundir_(rundir),
      log_(std::move(log)),
      quotas_(router.owner().userid, guest_connections_max()) {}

Result<std::unique_ptr<LocalListener>> LocalListener::bind(Loop& loop, Router& router, const Rundir& rundir, Log log) {
    std::unique_ptr<LocalListener> listener(new LocalListener(loop, router, rundir, std::move(log)));
    listener->fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlinkat(rundir.dir_fd(), socket_name, 0);  // the lock is ours, so its owner is gone
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = rundir.short_path(socket_name);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    if (listener->fd_ < 0 || ::bind(listener->fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0 ||
        fchmodat(rundir.dir_fd(), socket_name, 0777, 0) < 0 || ::listen(listener->fd_, SOMAXCONN) < 0) {
        return Error{static_cast<std::errc>(errno),
                     "cannot make the socket " + rundir.path() + "/" + socket_name + ": " + std::strerror(errno)};
    }
    return listener;
}

LocalListener::~LocalListener() {
    poll_.reset();
    for (auto& [address, client] : clients_) {
        router_.detach(*client);
    }
    clients_.clear();
    if (fd_ >= 0) {
        ::close(fd_);
        unlinkat(rundir_.dir_fd(), socket_name, 0);
    }
}

void LocalListener::accept() {
    const auto init = [this](uv_poll_t* poll) { return uv_poll_init(loop_.get(), poll, fd_); };
    WEIR_CHECK(poll_.create(init) == 0);
    poll_.on([this](int) { on_connect(); });
    WEIR_CHECK(retry_.create([this](uv_timer_t* timer) { return uv_timer_init(loop_.get(), timer); }) == 0);
    retry_.on([this](int) {
        if (is_paused_ && poll_) {
            listen_on();
        }
    });
    uv_unref(reinterpret_cast<uv_handle_t*>(retry_.get()));
    listen_on();
}

void LocalListener::listen_on() {
    is_paused_ = false;
    uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* poll, int, int) { Watch<uv_poll_t>::fire(poll); });
}

void LocalListener::on_connect() {
    constexpr int accepts_per_turn = 64;  // then the connected clients get their turn; the poll fires again
    for (int i = 0; i < accepts_per_turn; ++i) {
        const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            admit(fd);
        } else if (errno == EAGAIN) {
            is_short_ = false;
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            if (!is_short_) {
                log_(LOG_ERR, std::string("accept: ") + std::strerror(errno));
            }
            is_short_ = is_paused_ = true;
            uv_poll_stop(poll_.get());
            uv_timer_start(
                retry_.get(), [](uv_timer_t* timer) { Watch<uv_timer_t>::fire(timer); }, accept_retry_ms, 0);
            return;
        }
    }
}

void LocalListener::admit(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    char verdict = 0;
    Cred cred{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        verdict = EPERM;
    } else {
        cred.userid = peer.uid;
        if (peer.uid == router_.owner().userid || (policy_.allow_root_owner && peer.uid == 0)) {
            cred.rolemask = FLUX_ROLE_OWNER | FLUX_ROLE_LOCAL;
        } else if (policy_.allow_guests) {
            cred.rolemask = FLUX_ROLE_USER | FLUX_ROLE_LOCAL;
        } else {
            verdict = EPERM;
        }
    }
    const bool is_owner = (cred.rolemask & FLUX_ROLE_OWNER) != 0;
    const std::uint32_t payer = is_owner ? router_.owner().userid : peer.uid;
    if (verdict == 0 && !quotas_.may_connect(payer)) {
        verdict = EMFILE;
    }
    const bool is_told = ::send(fd, &verdict, 1, MSG_NOSIGNAL) == 1;
    if (verdict != 0 || !is_told) {
        if (verdict == EMFILE && quotas_.of(payer)->is_worth_telling()) {
            log_(LOG_ERR, "connection refused: uid " + std::to_string(peer.uid) + " has as many as a guest may have");
        } else if (verdict == EPERM) {
            log_(LOG_ERR, "connection refused: uid " + std::to_string(peer.uid) +
                              " is not the owner, and [access] allow-guest-user is not set");
        }
        ::close(fd);
        return;
    }
    LocalClient::Hooks hooks;
    hooks.message = [this](LocalClient& from, Packet packet) { router_.receive(from, std::move(packet)); };
    hooks.wants_flush = [this](LocalClient& client) { to_flush_.push_back(&client); };
    hooks.closed = [this](LocalClient& client, const std::string& why) {
        closed_.push_back(&client);
        if (!why.empty() && client.quota().is_worth_telling()) {
            log_(LOG_ERR,
                 "client " + client.uuid().substr(0, 8) + " of uid " + std::to_string(client.cred.userid) + ": " + why);
        }
    };
    auto client = std::make_unique<LocalClient>(loop_, fd, cred, quotas_.of(payer), std::move(hooks));
    router_.attach(*client);
    LocalClient* address = client.get();
    clients_.emplace(address, std::move(client));
}

void LocalListener::flush() {
    while (!to_flush_.empty() || !closed_.empty()) {
        for (LocalClient* client : std::exchange(to_flush_, {})) {
            client->flush();
        }
        drop_closed();
    }
}

void LocalListener::drop_closed() {
    for (LocalClient* client : std::exchange(closed_, {})) {
        router_.detach(*client);  // may queue messages for others, hence flush() goes round again
        std::erase(to_flush_, client);
        clients_.erase(client);
        if (is_paused_ && poll_) {
            listen_on();
        }
    }
}

}  // namespace weir::broker
