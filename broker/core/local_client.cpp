// SPDX-License-Identifier: LGPL-3.0-only
// Owns: framing and buffering of one client's socket. Never blocks; bounds the buffers of a client. Must not know
// routing.
#include "broker/core/local_client.hpp"

#include <flux/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "broker/api/local_socket.hpp"
#include "broker/core/uuid.hpp"

namespace weir::broker {
namespace {

constexpr std::size_t frame_head_size = 8;

std::uint32_t length_of(const char* head) {
    std::uint32_t length = 0;
    for (int i = 4; i < 8; ++i) {
        length = length << 8 | static_cast<unsigned char>(head[i]);
    }
    return length;
}

}  // namespace

LocalClient::LocalClient(Loop& loop, int fd, Cred connection, std::shared_ptr<Quota> quota, Hooks hooks)
    : Endpoint(new_uuid()), quota_(std::move(quota)), hooks_(std::move(hooks)), fd_(fd) {
    cred = connection;
    quota_->connect();
    WEIR_CHECK(poll_.create([&loop, fd](uv_poll_t* poll) { return uv_poll_init(loop.get(), poll, fd); }) == 0);
    poll_.on([this](int events) { on_ready(events); });
    watch(false);
}

LocalClient::~LocalClient() {
    poll_.reset();
    ::close(fd_);
    quota_->disconnect();
    quota_->remove_unfinished(in_.size() - in_used_);
    quota_->remove(out_.size());
    call_readers();
}

void LocalClient::watch(bool wants_write) {
    is_writing_ = wants_write;
    uv_poll_start(poll_.get(), UV_READABLE | (wants_write ? UV_WRITABLE : 0),
                  [](uv_poll_t* poll, int status, int events) {
                      Watch<uv_poll_t>::fire(poll, status < 0 ? UV_READABLE : events);
                  });
}

void LocalClient::on_ready(int events) {
    if ((events & UV_WRITABLE) != 0) {
        flush();
    }
    if (!is_closed_ && (events & (UV_READABLE | UV_DISCONNECT)) != 0) {
        read_some();
    }
}

void LocalClient::read_some() {
    constexpr int reads_per_turn = 4;  // then the other clients get their turn
    std::array<char, 65536> piece;
    for (int i = 0; i < reads_per_turn; ++i) {
        const ssize_t n = ::recv(fd_, piece.data(), piece.size(), MSG_DONTWAIT);
        if (n > 0) {
            const auto size = static_cast<std::size_t>(n);
            if (!quota_->has_room_to_read(size)) {
                close("disconnected: its user has 64 MiB of unfinished messages");
                return;
            }
            in_.append(piece.data(), size);
            quota_->add_unfinished(size);
            if (!take_messages()) {
                return;
            }
            if (static_cast<std::size_t>(n) < piece.size()) {
                return;
            }
        } else if (n == 0) {
            close({});
            return;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            close(errno == ECONNRESET ? std::string() : std::string("read: ") + std::strerror(errno));
            return;
        }
    }
}

bool LocalClient::take_messages() {
    while (in_.size() - in_used_ >= frame_head_size) {
        const char* head = in_.data() + in_used_;
        std::uint32_t magic = 0;
        std::memcpy(&magic, head, sizeof magic);
        const std::size_t length = length_of(head);
        if (magic != frame_magic) {
            close("it sent something that is no message");
            return false;
        }
        if (length > (quota_->is_limited() ? guest_message_bytes_max : message_bytes_max)) {
            close(quota_->is_limited() ? "its message is longer than 4 MiB" : "its message is longer than 64 MiB");
            return false;
        }
        if (in_.size() - in_used_ < frame_head_size + length) {
            break;
        }
        std::string bytes = in_.substr(in_used_ + frame_head_size, length);
        in_used_ += frame_head_size + length;
        quota_->remove_unfinished(frame_head_size + length);
        if (!take_message(std::move(bytes))) {
            return false;
        }
    }
    in_.erase(0, in_used_);
    in_used_ = 0;
    release_memory(in_);
    return true;
}

bool LocalClient::take_message(std::string bytes) {
    auto packet = Packet::parse(std::move(bytes));
    if (!packet || packet->topic().size() > topic_bytes_max) {
        close(packet ? "its message has a topic of more than 256 bytes" : "it sent something that is no RFC 3 message");
        return false;
    }
    packet->set_cred(stamped(packet->cred(), cred));
    if (!quota_->is_limited() || admit(*packet)) {
        hooks_.message(*this, std::move(*packet));
    }
    return !is_closed_;
}

bool LocalClient::admit(Packet& packet) {
    const bool is_asking = packet.type() == FLUX_MSGTYPE_REQUEST && !packet.has(FLUX_MSGFLAG_NORESPONSE);
    const std::size_t size = packet.bytes().size() + request_overhead;
    const std::uint32_t matchtag = packet.aux2();
    if (is_asking && open_.count(matchtag) != 0) {
        refuse(packet, EPROTO, "the matchtag is that of a request which is not answered yet");
        return false;
    }
    if (packet.has(FLUX_MSGFLAG_STREAMING) && packet.has(FLUX_MSGFLAG_NORESPONSE)) {
        close("its request is a stream that wants no response (RFC 6)");
        return false;
    }
    if (!quota_->has_room(size)) {
        if (is_asking) {
            refuse(packet, ENOBUFS, "you have 64 MiB of messages unread or unanswered: read answers, end streams");
        } else {
            close("disconnected: it sends more than the services can process");
        }
        return false;
    }
    packet.set_charge(std::make_shared<const Charge>(quota_, size));
    if (is_asking) {
        open_.emplace(matchtag, OpenRequest{packet.charge(), packet.has(FLUX_MSGFLAG_STREAMING)});
    }
    return true;
}

/// What is refused was never open: where its matchtag is that of another request, that one stays open and charged.
void LocalClient::refuse(const Packet& request, int errnum, std::string_view why) {
    queue(request.response(static_cast<std::uint32_t>(errnum), std::string(why) + '\0', cred).bytes());
}

/// The last response to a request ends what it is charged for: any one, or of a streaming request an error.
void LocalClient::on_response(const Packet& response) {
    const auto it = open_.find(response.aux2());
    if (it != open_.end() && (!it->second.is_streaming || response.aux1() != 0)) {
        open_.erase(it);
    }
}

void LocalClient::release_memory(std::string& buffer) {
    constexpr std::size_t kept_max = 256 * 1024;
    if (buffer.capacity() > kept_max && buffer.size() < buffer.capacity() / 4) {
        buffer.shrink_to_fit();
    }
}

bool LocalClient::deliver(const Packet& packet) {
    if (!is_closed_ && !is_over_limit_ && packet.type() == FLUX_MSGTYPE_RESPONSE) {
        on_response(packet);
    }
    queue(packet.bytes());
    return true;
}

void LocalClient::queue(const std::string& bytes) {
    if (is_closed_ || is_over_limit_) {
        return;
    }
    if (out_.size() - out_sent_ + bytes.size() > unread_bytes_max ||
        !quota_->has_room(bytes.size() + frame_head_size)) {
        is_over_limit_ = true;
    } else {
        char head[frame_head_size];
        std::memcpy(head, &frame_magic, 4);
        for (int i = 0; i < 4; ++i) {
            head[4 + i] = static_cast<char>(bytes.size() >> (24 - 8 * i) & 0xff);
        }
        out_.append(head, sizeof head).append(bytes);
        quota_->add(bytes.size() + frame_head_size);
    }
    ask_for_flush();
}

void LocalClient::ask_for_flush() {
    if (!is_flush_asked_) {
        is_flush_asked_ = true;
        hooks_.wants_flush(*this);
    }
}

void LocalClient::when_read(std::function<void()> then) {
    when_read_.push_back(std::move(then));
    ask_for_flush();
}

void LocalClient::call_readers() {
    for (const auto& then : std::exchange(when_read_, {})) {
        then();
    }
}

void LocalClient::flush() {
    is_flush_asked_ = false;
    if (is_closed_) {
        return;
    }
    if (is_over_limit_) {
        close(quota_->is_limited() ? "disconnected: its user left 64 MiB of messages unread"
                                   : "disconnected: it left 64 MiB of messages unread");
        return;
    }
    while (out_sent_ < out_.size()) {
        const ssize_t n = ::send(fd_, out_.data() + out_sent_, out_.size() - out_sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0) {
            out_sent_ += static_cast<std::size_t>(n);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            close({});
            return;
        }
    }
    if (out_sent_ == out_.size() || out_sent_ > out_.size() / 2) {
        quota_->remove(out_sent_);
        out_.erase(0, out_sent_);
        out_sent_ = 0;
        release_memory(out_);
    }
    const bool wants_write = !out_.empty();
    if (wants_write != is_writing_) {
        watch(wants_write);
    }
    if (out_.size() - out_sent_ < unread_bytes_low) {
        call_readers();
    }
}

void LocalClient::close(const std::string& why) {
    if (!is_closed_) {
        is_closed_ = true;
        uv_poll_stop(poll_.get());
        hooks_.closed(*this, why);  // ends this object later, not now
    }
}

}  // namespace weir::broker
