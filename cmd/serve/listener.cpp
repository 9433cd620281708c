// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see listener.hpp.
#include "cmd/serve/listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weir::cmd {
namespace {

constexpr int backlog = 128;

Error listen_error(const std::string& where) {
    return Error{static_cast<std::errc>(errno), "cannot listen at " + where + ": " + std::strerror(errno)};
}

/// Whether somebody answers at the socket.
bool is_in_use(const sockaddr_un& address) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_open = fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    (void)::close(fd);
    return is_open;
}

struct TcpAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
};

Result<TcpAddress> tcp_address(const std::string& host, int port) {
    TcpAddress address;
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    const std::string number = host == "localhost" ? "127.0.0.1" : host;
    if (inet_pton(AF_INET, number.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(static_cast<std::uint16_t>(port));
        address.size = sizeof *v4;
    } else if (inet_pton(AF_INET6, number.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(static_cast<std::uint16_t>(port));
        address.size = sizeof *v6;
    } else {
        return Error{std::errc::invalid_argument,
                     "\"" + host + "\" is no address to listen at: give a number such as 127.0.0.1 or ::1"};
    }
    return address;
}

std::string bound_name(int fd) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    (void)getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size);
    char text[INET6_ADDRSTRLEN] = "";
    if (storage.ss_family == AF_INET6) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
        return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6->sin6_port));
    }
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    (void)inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4->sin_port));
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::tcp(uv_loop_t* loop, const std::string& host, int port, Take take) {
    const auto address = tcp_address(host, port);
    if (!address) {
        return address.error();
    }
    const std::string where = host + ":" + std::to_string(port);
    const int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return listen_error(where);
    }
    std::unique_ptr<Listener> listener(new Listener(fd, std::move(take)));
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address->storage), address->size) != 0 ||
        listen(fd, backlog) != 0) {
        return listen_error(where);
    }
    listener->name_ = bound_name(fd);
    const Status started = listener->start(loop);
    return started ? Result<std::unique_ptr<Listener>>(std::move(listener)) : started.error();
}

Result<std::unique_ptr<Listener>> Listener::unix_socket(uv_loop_t* loop, const std::string& path, bool is_for_others,
                                                        Take take) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return Error{std::errc::invalid_argument, "the path of a socket has 1 to 107 bytes: " + path};
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    struct stat found {};
    if (lstat(path.c_str(), &found) == 0) {
        if (!S_ISSOCK(found.st_mode) || is_in_use(address)) {
            return Error{std::errc::address_in_use,
                         path + " is there already" +
                             (S_ISSOCK(found.st_mode) ? ", and a server listens on it" : ", and is no socket")};
        }
        (void)unlink(path.c_str());
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return listen_error(path);
    }
    std::unique_ptr<Listener> listener(new Listener(fd, std::move(take)));
    const mode_t mask = umask(is_for_others ? 0111 : 0177);
    const bool is_bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    (void)umask(mask);
    if (!is_bound) {
        return listen_error(path);
    }
    listener->path_ = listener->name_ = path;
    if (listen(fd, backlog) != 0) {
        return listen_error(path);
    }
    const Status started = listener->start(loop);
    return started ? Result<std::unique_ptr<Listener>>(std::move(listener)) : started.error();
}

Status Listener::start(uv_loop_t* loop) {
    if (const int failed = uv_poll_init(loop, &poll_, fd_); failed != 0) {
        return Error{std::errc::io_error, "cannot watch a socket: " + std::string(uv_strerror(failed))};
    }
    poll_.data = this;
    is_open_ = true;
    (void)uv_poll_start(&poll_, UV_READABLE,
                        [](uv_poll_t* poll, int, int) { static_cast<Listener*>(poll->data)->accept_all(); });
    return Done{};
}

void Listener::accept_all() {
    for (int fd = 0; (fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        take_(fd);
    }
}

void Listener::close() {
    if (is_open_) {
        is_open_ = false;
        (void)uv_poll_stop(&poll_);
        uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
    }
    if (!path_.empty()) {
        (void)unlink(path_.c_str());
        path_.clear();
    }
}

Listener::~Listener() {
    close();
    (void)::close(fd_);
}

}  // namespace weir::cmd
