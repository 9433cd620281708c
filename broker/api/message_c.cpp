// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the flux_msg_* functions of <flux/core.h> and the matching of disconnect and cancel requests. Must not know
// transports. RFC 3, RFC 6. Errors as in flux-core: EINVAL for no message, EPROTO for a part that is not there.
#include <cerrno>

#include "broker/api/message.hpp"

namespace {
int fail_message(int errnum) {
    errno = errnum;
    return -1;
}
}  // namespace

extern "C" {

void flux_msg_destroy(flux_msg_t* msg) {
    if (msg != nullptr && --msg->refcount == 0) {
        const int saved = errno;
        delete msg;
        errno = saved;
    }
}

void flux_msg_decref(const flux_msg_t* msg) {
    flux_msg_destroy(const_cast<flux_msg_t*>(msg));
}

const flux_msg_t* flux_msg_incref(const flux_msg_t* msg) {
    if (msg == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    ++msg->refcount;
    return msg;
}

int flux_msg_get_cred(const flux_msg_t* msg, struct flux_msg_cred* cred) {
    if (msg == nullptr || cred == nullptr) {
        return fail_message(EINVAL);
    }
    cred->userid = msg->userid;
    cred->rolemask = msg->rolemask;
    return 0;
}

int flux_msg_authorize(const flux_msg_t* msg, uint32_t userid) {
    if (msg == nullptr) {
        return fail_message(EINVAL);
    }
    const bool is_owner = (msg->rolemask & FLUX_ROLE_OWNER) != 0;
    const bool is_user = (msg->rolemask & FLUX_ROLE_USER) != 0 && msg->userid != FLUX_USERID_UNKNOWN;
    return is_owner || (is_user && msg->userid == userid) ? 0 : fail_message(EPERM);
}

bool flux_msg_is_streaming(const flux_msg_t* msg) {
    return msg != nullptr && msg->has(FLUX_MSGFLAG_STREAMING);
}

bool flux_msg_is_noresponse(const flux_msg_t* msg) {
    return msg == nullptr || msg->has(FLUX_MSGFLAG_NORESPONSE);
}

const char* flux_msg_route_first(const flux_msg_t* msg) {
    return msg != nullptr && !msg->routes.empty() ? msg->routes.front().c_str() : nullptr;
}

const char* flux_msg_route_last(const flux_msg_t* msg) {
    return msg != nullptr && !msg->routes.empty() ? msg->routes.back().c_str() : nullptr;
}

int flux_msg_get_topic(const flux_msg_t* msg, const char** topic) {
    if (msg == nullptr || topic == nullptr) {
        return fail_message(EINVAL);
    }
    if (!msg->has(FLUX_MSGFLAG_TOPIC)) {
        return fail_message(EPROTO);
    }
    *topic = msg->topic_text();
    return 0;
}

int flux_msg_get_matchtag(const flux_msg_t* msg, uint32_t* matchtag) {
    if (msg == nullptr || matchtag == nullptr) {
        return fail_message(EINVAL);
    }
    if (msg->type != FLUX_MSGTYPE_REQUEST && msg->type != FLUX_MSGTYPE_RESPONSE) {
        return fail_message(EPROTO);
    }
    *matchtag = msg->aux2;
    return 0;
}

bool flux_disconnect_match(const flux_msg_t* msg1, const flux_msg_t* msg2) {
    if (msg1 == nullptr || msg2 == nullptr) {
        return false;
    }
    // Of a connection that others are behind (flux proxy), all their requests end with it.
    const auto& notice = msg1->routes;
    const auto& held = msg2->routes;
    const bool is_behind =
        notice.empty() ? held.empty()
                       : notice.size() <= held.size() && std::equal(notice.rbegin(), notice.rend(), held.rbegin());
    return is_behind && flux_msg_authorize(msg1, msg2->userid) == 0;
}

bool flux_cancel_match(const flux_msg_t* cancel, const flux_msg_t* request) {
    if (!flux_disconnect_match(cancel, request) || cancel->routes != request->routes) {
        return false;
    }
    // A matchtag may exceed INT_MAX, so read it as jansson's wide integer.
    json_int_t matchtag = 0;
    uint32_t tag = FLUX_MATCHTAG_NONE;
    return flux_request_unpack(cancel, nullptr, "{s:I}", "matchtag", &matchtag) == 0 &&
           flux_msg_get_matchtag(request, &tag) == 0 && static_cast<uint32_t>(matchtag) == tag;
}

}  // extern "C"
