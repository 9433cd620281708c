// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_request_*, flux_response_*, flux_respond_* and flux_event_decode/unpack: reading and answering messages.
// Must not know transports or services. RFC 3, RFC 6.
#include <cerrno>
#include <cstdarg>

#include "broker/api/handle_state.hpp"
#include "broker/api/message.hpp"

using weir::broker::MessagePtr;

namespace {

/// Topic of a message that must be of one type. 0, or -1 with EINVAL (no message) or EPROTO.
int decode_topic(const flux_msg_t* msg, int type, const char** topic) {
    if (msg == nullptr) {
        errno = EINVAL;
        return -1;
    }
    if (msg->type != type) {
        errno = EPROTO;
        return -1;
    }
    const char* text = nullptr;
    if (flux_msg_get_topic(msg, &text) < 0) {
        return -1;
    }
    if (topic != nullptr) {
        *topic = text;
    }
    return 0;
}

/// The text payload, nullptr when there is none. -1 with EPROTO when it is not a text.
int decode_text(const flux_msg_t& msg, const char** s) {
    const char* text = msg.payload_text();
    if (text == nullptr && msg.has(FLUX_MSGFLAG_PAYLOAD)) {
        errno = EPROTO;
        return -1;
    }
    if (s != nullptr) {
        *s = text;
    }
    return 0;
}

int unpack_as(const flux_msg_t* msg, int type, const char** topic, const char* fmt, va_list ap) {
    const char* text = nullptr;
    if (decode_topic(msg, type, &text) < 0 || weir::broker::vunpack(*msg, fmt, ap) < 0) {
        return -1;
    }
    if (topic != nullptr) {
        *topic = text;
    }
    return 0;
}

/// The response to send; null with errno 0 when the request wants none, null with EINVAL when the call is wrong.
MessagePtr response_to(flux_t* h, const flux_msg_t* request, int errnum) {
    if (h == nullptr || request == nullptr || request->type != FLUX_MSGTYPE_REQUEST) {
        errno = EINVAL;
        return {};
    }
    errno = 0;
    return flux_msg_is_noresponse(request) ? MessagePtr() : weir::broker::make_response(*request, errnum);
}

}  // namespace

extern "C" {

flux_msg_t* flux_request_encode(const char* topic, const char* s) {
    if (topic == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return weir::broker::make_request(topic, s).release();
}

int flux_request_decode(const flux_msg_t* msg, const char** topic, const char** s) {
    return decode_topic(msg, FLUX_MSGTYPE_REQUEST, topic) < 0 ? -1 : decode_text(*msg, s);
}

int flux_request_unpack(const flux_msg_t* msg, const char** topic, const char* fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const int rc = unpack_as(msg, FLUX_MSGTYPE_REQUEST, topic, fmt, ap);
    va_end(ap);
    return rc;
}

int flux_response_decode(const flux_msg_t* msg, const char** topic, const char** s) {
    if (msg == nullptr || msg->type != FLUX_MSGTYPE_RESPONSE) {
        errno = msg == nullptr ? EINVAL : EPROTO;
        return -1;
    }
    if (msg->errnum() != 0) {
        errno = msg->errnum();
        return -1;
    }
    if (decode_topic(msg, FLUX_MSGTYPE_RESPONSE, topic) < 0) {
        return -1;
    }
    return s != nullptr ? decode_text(*msg, s) : 0;
}

int flux_event_decode(const flux_msg_t* msg, const char** topic, const char** s) {
    return decode_topic(msg, FLUX_MSGTYPE_EVENT, topic) < 0 ? -1 : decode_text(*msg, s);
}

int flux_event_unpack(const flux_msg_t* msg, const char** topic, const char* fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const int rc = unpack_as(msg, FLUX_MSGTYPE_EVENT, topic, fmt, ap);
    va_end(ap);
    return rc;
}

int flux_respond(flux_t* h, const flux_msg_t* request, const char* s) {
    const MessagePtr msg = response_to(h, request, 0);
    if (!msg) {
        return errno == 0 ? 0 : -1;
    }
    if (s != nullptr) {
        msg->set_payload_text(s);
    }
    return h->send(*msg, false);
}

int flux_respond_pack(flux_t* h, const flux_msg_t* request, const char* fmt, ...) {
    const MessagePtr msg = response_to(h, request, 0);
    if (!msg) {
        return errno == 0 ? 0 : -1;
    }
    va_list ap;
    va_start(ap, fmt);
    const int rc = weir::broker::vpack(*msg, fmt, ap);
    va_end(ap);
    return rc < 0 ? -1 : h->send(*msg, false);
}

int flux_respond_error(flux_t* h, const flux_msg_t* request, int errnum, const char* errstr) {
    const MessagePtr msg = response_to(h, request, errnum == 0 ? EINVAL : errnum);
    if (!msg) {
        return errno == 0 ? 0 : -1;
    }
    if (errstr != nullptr) {
        msg->set_payload_text(errstr);
    }
    return h->send(*msg, false);
}

}  // extern "C"
