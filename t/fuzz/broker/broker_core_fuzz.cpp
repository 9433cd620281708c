// SPDX-License-Identifier: LGPL-3.0-only
// What the router reads of a peer's bytes: the first byte chooses (f a stream of frames as a guest's connection gets
// it, p one packet, l a log line). What a guest sent is charged to him until he is gone, and then nothing is.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "broker/api/message.hpp"
#include "broker/core/local_client.hpp"
#include "broker/core/log_ring.hpp"
#include "libfairshare/base/check.hpp"

using namespace weir::broker;

namespace {

constexpr Cred guest{20, 2};

void try_packet(Packet packet) {
    WEIR_CHECK(decode(packet.bytes()).has_value());  // a module ends at a message that it cannot read
    const std::string topic(packet.topic());
    const auto routes = packet.route_count();
    packet.set_cred(guest);
    packet.push_route("0123456789");
    WEIR_CHECK(packet.route_last() == "0123456789");
    WEIR_CHECK(packet.route_count() == routes + 1);
    const auto again = Packet::parse(packet.bytes());
    WEIR_CHECK(again && again->topic() == topic && again->text() == packet.text());
    WEIR_CHECK(again->cred().userid == guest.userid);
    WEIR_CHECK(packet.response(0, packet.payload(), guest).route_first() == packet.route_first());
    packet.pop_route();
    WEIR_CHECK(packet.route_count() == routes && packet.topic() == topic);
}

void try_frames(std::string_view bytes) {
    int ends[2];
    WEIR_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    const auto quota = std::make_shared<Quota>(Quota::guest_bytes_max, Quota::guest_connections_max);
    {
        Loop loop;
        bool is_open = true;
        LocalClient::Hooks hooks;
        hooks.message = [](LocalClient& from, Packet packet) {
            WEIR_CHECK(packet.cred().userid == guest.userid && packet.cred().rolemask == guest.rolemask);
            (void)from.deliver(packet.response(38, packet.payload(), guest));
            try_packet(std::move(packet));
        };
        hooks.wants_flush = [](LocalClient&) {};
        hooks.closed = [&is_open](LocalClient&, const std::string&) { is_open = false; };
        LocalClient client(loop, ends[0], guest, quota, std::move(hooks));
        while (!bytes.empty() && is_open) {
            const ssize_t n = ::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL);
            bytes.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : bytes.size());
            uv_run(loop.get(), UV_RUN_NOWAIT);
            client.flush();
        }
    }
    ::close(ends[1]);
    WEIR_CHECK(quota->bytes() == 0 && quota->connections() == 0);
    WEIR_CHECK(quota->has_room_to_read(Quota::guest_bytes_max));
}

void try_log_line(std::string_view line) {
    LogRing ring(2);
    ring.append(line);
    const int severity = LogRing::severity(line);
    WEIR_CHECK(severity >= 0 && severity <= 7);
    (void)LogRing::appname(line);
    (void)LogRing::message(line);
    (void)LogRing::readable(line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] == 'f') {
        try_frames(rest);
    } else if (data[0] == 'p') {
        if (auto packet = Packet::parse(std::string(rest))) {
            try_packet(std::move(*packet));
        }
    } else if (data[0] == 'l') {
        try_log_line(rest);
    }
    return 0;
}
