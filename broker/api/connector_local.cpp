// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the client side of local://: connecting with retries, the authentication byte, messages over the stream.
// Must not know handles. Same environment variable and errors as flux-core's local connector.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "broker/api/connector.hpp"
#include "broker/api/local_socket.hpp"

namespace weir::broker {
namespace {

constexpr int retries_default = 5;
constexpr int first_delay_ms = 16;
constexpr int delay_ms_max = 2000;

/// poll() for one descriptor, again after a signal. 1, 0 on timeout, -1 with errno.
int poll_fd(int fd, short events, int timeout_ms) {
    pollfd p{fd, events, 0};
    int n = 0;
    do {
        n = poll(&p, 1, timeout_ms);
    } while (n < 0 && errno == EINTR && timeout_ms < 0);
    if (n < 0 && errno == EINTR) {
        return 0;  // the caller looks at its clock and comes back
    }
    return n;
}

class LocalConnector : public Connector {
  public:
    LocalConnector(int fd, std::optional<flux_msg_cred> stamp) : stream_(fd), stamp_(stamp) {}

    int pollfd() override { return stream_.fd(); }

    int pollevents() override {
        (void)stream_.fill();
        int events = FLUX_POLLOUT;
        if (stream_.has_message()) {
            events |= FLUX_POLLIN;
        } else if (stream_.ended()) {
            // Only after everything the peer had sent was taken.
            events = FLUX_POLLERR;
        }
        return events;
    }

    bool buffered() override { return stream_.has_message() || stream_.ended(); }

    int send(const Message& msg, bool nonblock) override {
        if (stream_.pending() > 0 && (stream_.flush() < 0 || (nonblock && stream_.pending() > 0))) {
            if (stream_.pending() > 0 && nonblock) {
                errno = EAGAIN;
            }
            return -1;
        }
        stream_.queue(msg, stamp_ ? &*stamp_ : nullptr);
        if (stream_.flush() < 0) {
            return -1;
        }
        // A frame cannot be sent in part, so once begun it is finished even in nonblocking mode.
        while (stream_.pending() > 0) {
            if (poll_fd(stream_.fd(), POLLOUT, -1) < 0 || stream_.flush() < 0) {
                return -1;
            }
        }
        return 0;
    }

    MessagePtr recv(bool nonblock) override {
        while (true) {
            MessagePtr msg = stream_.recv();
            if (msg || errno != EAGAIN || nonblock) {
                return msg;
            }
            if (poll_fd(stream_.fd(), POLLIN, -1) < 0) {
                return nullptr;
            }
        }
    }

    int wait(int timeout_ms) override {
        (void)stream_.fill();
        return buffered() ? 1 : poll_fd(stream_.fd(), POLLIN, timeout_ms);
    }

  private:
    FramedStream stream_;
    std::optional<flux_msg_cred> stamp_;
};

int retries_allowed() {
    const char* text = std::getenv("FLUX_LOCAL_CONNECTOR_RETRY_COUNT");
    if (text == nullptr) {
        return retries_default;
    }
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    return *text != '\0' && *end == '\0' && n >= 0 ? static_cast<int>(n) : -1;
}

Error refused(int errnum, const std::string& what) {
    return Error{static_cast<std::errc>(errnum), what};
}

/// The broker writes one byte after accepting: 0, or the errno it refuses with. 0 or an errno.
int read_authentication(int fd) {
    unsigned char answer = 0;
    ssize_t n = 0;
    do {
        n = read(fd, &answer, 1);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return errno == EAGAIN ? ETIMEDOUT : errno;
    }
    return n == 0 ? ECONNRESET : answer;
}

/// From here on connect() and read() fail with EAGAIN after that time.
void limit_waits(int fd, double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    const timeval limit{whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        (void)setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit);
    }
}

/// Connects, sleeping between attempts; 0 or an errno.
int connect_retrying(int fd, const std::string& path, int retries) {
    int delay_ms = first_delay_ms;
    for (int attempt = 0;; ++attempt) {
        int errnum = 0;
        // The directory may appear between attempts, so the address is made anew each time.
        auto address = LocalAddress::of(path);
        if (!address) {
            errnum = static_cast<int>(address.error().code);
        } else if (connect(fd, address->get(), address->size()) == 0) {
            return 0;
        } else {
            errnum = errno == EAGAIN ? ETIMEDOUT : errno;
        }
        if (attempt == retries || errnum == ETIMEDOUT) {
            return errnum;
        }
        usleep(static_cast<useconds_t>(delay_ms) * 1000);
        delay_ms = delay_ms * 2 < delay_ms_max ? delay_ms * 2 : delay_ms_max;
    }
}

}  // namespace

Result<std::unique_ptr<Connector>> connect_local(const std::string& path, std::optional<flux_msg_cred> stamp,
                                                 double answer_s) {
    const int retries = retries_allowed();
    if (retries < 0) {
        return refused(EINVAL, "FLUX_LOCAL_CONNECTOR_RETRY_COUNT is not a count");
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return refused(errno, std::string("socket: ") + std::strerror(errno));
    }
    if (answer_s > 0) {
        limit_waits(fd, answer_s);
    }
    int errnum = path.empty() ? EINVAL : connect_retrying(fd, path, retries);
    std::string what =
        errnum == ENOENT ? "broker socket " + path + " was not found" : path + ": " + std::strerror(errnum);
    if (errnum == 0) {
        errnum = read_authentication(fd);
        what = path + (errnum == ETIMEDOUT ? ": the broker does not answer"
                                           : ": the broker refuses: " + std::string(std::strerror(errnum)));
    }
    if (errnum != 0) {
        close(fd);
        return refused(errnum, what);
    }
    return connector_from_fd(fd, stamp);
}

std::unique_ptr<Connector> connector_from_fd(int fd, std::optional<flux_msg_cred> stamp) {
    return std::make_unique<LocalConnector>(fd, stamp);
}

}  // namespace weir::broker
