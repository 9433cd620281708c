// SPDX-License-Identifier: LGPL-3.0-only
// The local socket: how many clients come in during a turn of the loop, and how long their messages may be.
#include "broker/core/local_listener.hpp"

#include <flux/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

using namespace weir;
using namespace weir::broker;

namespace {

/// A listener in a directory of its own. The test's connections are the owner's, or those of a guest.
struct OpenSocket {
    explicit OpenSocket(bool is_guest)
        : router(Cred{getuid() + (is_guest ? 1 : 0), FLUX_ROLE_OWNER}), rundir(std::move(*Rundir::open(path))) {
        auto bound = LocalListener::bind(loop, router, rundir, [this](int, const std::string& text) { log += text; });
        REQUIRE(bound);
        listener = std::move(*bound);
        listener->set_policy({true, false});
        listener->accept();
    }
    ~OpenSocket() {
        for (const int fd : fds) {
            close(fd);
        }
        listener.reset();
        rundir.remove();
        std::filesystem::remove_all(path);
    }
    int connect() {
        const int fd = fds.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, rundir.short_path(LocalListener::socket_name).c_str());
        REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        return fd;
    }
    void turn() {
        uv_run(loop.get(), UV_RUN_NOWAIT);
        listener->flush();
    }
    /// Whether the listener keeps a client that announces a message of this size.
    bool takes(std::uint32_t size) {
        const int fd = connect();
        const std::uint32_t magic = 0xffee0012;
        char head[8];
        std::memcpy(head, &magic, sizeof magic);
        for (int i = 0; i < 4; ++i) {
            head[4 + i] = static_cast<char>(size >> (24 - 8 * i) & 0xff);
        }
        REQUIRE(send(fd, head, sizeof head, 0) == sizeof head);
        const std::size_t before = listener->client_count();
        turn();  // accepted
        turn();  // read
        return listener->client_count() == before + 1;
    }

    std::string path = std::filesystem::temp_directory_path() / ("weir-listener-test-" + std::to_string(getpid()));
    Loop loop;
    Router router;
    Rundir rundir;
    std::string log;
    std::unique_ptr<LocalListener> listener;
    std::vector<int> fds;
};

constexpr std::uint32_t mib = 1u << 20;

}  // namespace

TEST_CASE("local socket: many who connect at once do not keep the loop") {
    OpenSocket open(false);
    for (int i = 0; i < 150; ++i) {
        (void)open.connect();
    }
    std::vector<std::size_t> counts;
    for (int i = 0; i < 3; ++i) {
        open.turn();
        counts.push_back(open.listener->client_count());
    }
    CHECK(counts == std::vector<std::size_t>{64, 128, 150});
}

TEST_CASE("local socket: a guest's message has at most 4 MiB, the owner's 64") {
    {
        OpenSocket open(true);
        CHECK(open.takes(4 * mib));
        CHECK_FALSE(open.takes(4 * mib + 1));
        CHECK(open.log.find("its message is longer than 4 MiB") != std::string::npos);
    }
    OpenSocket open(false);
    CHECK(open.takes(64 * mib));
    CHECK_FALSE(open.takes(64 * mib + 1));
    CHECK(open.log.find("its message is longer than 64 MiB") != std::string::npos);
}
