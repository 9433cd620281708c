// SPDX-License-Identifier: LGPL-3.0-only
// Bytes on local://: frames in pieces, rubbish, the end, long paths, refusals.
#include "broker/api/local_socket.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;

namespace {
struct Ends {
    Ends() {
        int fds[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        raw = fds[0];
        stream = std::make_unique<FramedStream>(fds[1]);
    }
    ~Ends() { hang_up(); }
    void hang_up() {
        if (raw >= 0) {
            close(std::exchange(raw, -1));
        }
    }
    int raw;
    std::unique_ptr<FramedStream> stream;
};

struct TemporaryDirectory {
    TemporaryDirectory() {
        char name[] = "/tmp/weir-test-XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        path = name;
    }
    ~TemporaryDirectory() { (void)!system(("rm -rf " + path).c_str()); }
    std::string path;
};
}  // namespace

TEST_CASE("framed stream: a message may arrive byte by byte") {
    Ends sender;
    Ends receiver;
    const auto msg = make_request("a.b", "{}");
    sender.stream->queue(*msg);
    REQUIRE(sender.stream->flush() == 0);
    char bytes[256];
    const ssize_t size = read(sender.raw, bytes, sizeof bytes);
    REQUIRE(size > 8);
    for (ssize_t i = 0; i < size; ++i) {
        CHECK_FALSE(receiver.stream->recv());
        CHECK(errno == EAGAIN);
        REQUIRE(write(receiver.raw, bytes + i, 1) == 1);
    }
    const auto got = receiver.stream->recv();
    REQUIRE(got);
    CHECK(encode(*got) == encode(*msg));
}

TEST_CASE("framed stream: what was sent before the end is received before the end") {
    Ends ends;
    std::string bytes;
    {
        Ends writer;
        for (int i = 0; i < 3; ++i) {
            writer.stream->queue(*make_event("e", nullptr));
        }
        REQUIRE(writer.stream->flush() == 0);
        bytes.resize(1000);
        bytes.resize(static_cast<size_t>(read(writer.raw, bytes.data(), bytes.size())));
    }
    REQUIRE(write(ends.raw, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ends.hang_up();
    CHECK(ends.stream->fill() <= 0);
    for (int i = 0; i < 3; ++i) {
        CHECK(ends.stream->recv());
    }
    CHECK_FALSE(ends.stream->recv());
    CHECK(errno == ECONNRESET);
}

TEST_CASE("framed stream: rubbish and giants are EPROTO") {
    for (const char* bytes : {"GET / HTTP/1.1\r\n", "\x12\x00\xee\xff\xff\xff\xff\xff"}) {
        Ends ends;
        REQUIRE(write(ends.raw, bytes, bytes[0] == 'G' ? 16 : 8) > 0);
        CHECK_FALSE(ends.stream->recv());
        CHECK(errno == EPROTO);
    }
}

TEST_CASE("framed stream: output waits for room and keeps the order") {
    Ends ends;
    const std::string big(300'000, 'x');
    for (int i = 0; i < 4; ++i) {
        const auto msg = make_event("e" + std::to_string(i), nullptr);
        msg->set_payload(big);
        ends.stream->queue(*msg);
    }
    REQUIRE(ends.stream->flush() == 0);
    CHECK(ends.stream->pending() > 0);
    FramedStream other(std::exchange(ends.raw, -1));
    for (int i = 0; i < 4;) {
        REQUIRE(ends.stream->flush() == 0);
        if (const auto msg = other.recv()) {
            CHECK(msg->topic == "e" + std::to_string(i));
            CHECK(msg->payload == big);
            ++i;
        } else {
            REQUIRE(errno == EAGAIN);
        }
    }
}

TEST_CASE("framed stream: a stamp replaces the credentials") {
    Ends ends;
    const flux_msg_cred stamp{42, FLUX_ROLE_USER};
    ends.stream->queue(*make_request("a.b", "{}"), &stamp);
    REQUIRE(ends.stream->flush() == 0);
    FramedStream other(std::exchange(ends.raw, -1));
    const auto msg = other.recv();
    REQUIRE(msg);
    CHECK(msg->userid == 42);
    CHECK(msg->rolemask == FLUX_ROLE_USER);
    CHECK(msg->aux1 == FLUX_NODEID_ANY);
}

TEST_CASE("local connector: a path longer than a socket address works") {
    const TemporaryDirectory top;
    std::string directory = top.path;
    while (directory.size() < 200) {
        directory += "/a-rather-long-name-of-a-directory";
        REQUIRE(mkdir(directory.c_str(), 0700) == 0);
    }
    const std::string path = directory + "/local-0";
    const auto address = LocalAddress::of(path);
    REQUIRE(address);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(listener, address->get(), address->size()) == 0);
    REQUIRE(listen(listener, 1) == 0);
    std::thread server([listener] {
        const int fd = accept(listener, nullptr, nullptr);
        (void)!write(fd, "", 1);
        FramedStream stream(fd);
        stream.queue(*make_event("welcome", nullptr));
        (void)stream.flush();
    });
    auto connector = connect_local(path);
    REQUIRE(connector);
    const auto msg = (*connector)->recv(false);
    server.join();
    close(listener);
    REQUIRE(msg);
    CHECK(msg->topic == "welcome");
}

TEST_CASE("local connector: the broker's refusal is the error") {
    const TemporaryDirectory top;
    const std::string path = top.path + "/local-0";
    const auto address = LocalAddress::of(path);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(listener, address->get(), address->size()) == 0);
    REQUIRE(listen(listener, 1) == 0);
    std::thread server([listener] {
        const int fd = accept(listener, nullptr, nullptr);
        const char refusal = EPERM;
        (void)!write(fd, &refusal, 1);
        close(fd);
    });
    const auto connector = connect_local(path);
    server.join();
    close(listener);
    REQUIRE_FALSE(connector);
    CHECK(connector.error().code == std::errc::operation_not_permitted);
    CHECK(connector.error().message == path + ": the broker refuses: Operation not permitted");
}
