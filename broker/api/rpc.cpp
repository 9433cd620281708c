// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_rpc_*: a request sent, its future made. Must not know services. RFC 6.
#include <cerrno>
#include <cstdarg>

#include "broker/api/future.hpp"
#include "broker/api/handle_state.hpp"

using weir::broker::MessagePtr;

namespace {

bool is_valid(const flux_t* h, const char* topic, int flags) {
    if (h == nullptr || topic == nullptr || (flags & ~(FLUX_RPC_NORESPONSE | FLUX_RPC_STREAMING)) != 0) {
        errno = EINVAL;
        return false;
    }
    return true;
}

flux_future_t* send_rpc(flux_t* h, MessagePtr msg, uint32_t nodeid, int flags) {
    if (nodeid == FLUX_NODEID_UPSTREAM) {
        msg->flags |= FLUX_MSGFLAG_UPSTREAM;
        if (flux_get_rank(h, &nodeid) < 0) {
            return nullptr;
        }
    }
    msg->aux1 = nodeid;
    auto* f = new flux_future(h);
    f->nodeid = nodeid;
    f->is_streaming = (flags & FLUX_RPC_STREAMING) != 0;
    if (f->is_streaming) {
        msg->flags |= FLUX_MSGFLAG_STREAMING;
    }
    if ((flags & FLUX_RPC_NORESPONSE) != 0) {
        msg->flags |= FLUX_MSGFLAG_NORESPONSE;
    } else {
        f->matchtag = h->alloc_matchtag(f);
        msg->aux2 = f->matchtag;
    }
    if (h->send(*msg, false) < 0) {
        const int saved = errno;
        if (auto* call = h->call_of(f->matchtag)) {
            call->is_finished = true;  // no response will come, so the tag is free at once
        }
        f->end();
        errno = saved;
        return nullptr;
    }
    if (f->matchtag == FLUX_MATCHTAG_NONE) {
        f->fulfill({});
    }
    return f;
}

/// The response behind a fulfilled RPC, waiting for it; nullptr with errno, EINVAL for one sent without response.
const flux_msg_t* response_of(flux_future_t* f) {
    const void* result = nullptr;
    if (flux_future_get(f, &result) < 0) {
        return nullptr;
    }
    if (result == nullptr) {
        errno = EINVAL;
    }
    return static_cast<const flux_msg_t*>(result);
}

}  // namespace

extern "C" {

flux_future_t* flux_rpc(flux_t* h, const char* topic, const char* s, uint32_t nodeid, int flags) {
    return is_valid(h, topic, flags) ? send_rpc(h, weir::broker::make_request(topic, s), nodeid, flags) : nullptr;
}

flux_future_t* flux_rpc_pack(flux_t* h, const char* topic, uint32_t nodeid, int flags, const char* fmt, ...) {
    if (!is_valid(h, topic, flags)) {
        return nullptr;
    }
    MessagePtr msg = weir::broker::make_request(topic, nullptr);
    va_list ap;
    va_start(ap, fmt);
    const int rc = weir::broker::vpack(*msg, fmt, ap);
    va_end(ap);
    return rc < 0 ? nullptr : send_rpc(h, std::move(msg), nodeid, flags);
}

int flux_rpc_get(flux_future_t* f, const char** s) {
    const flux_msg_t* msg = response_of(f);
    return msg != nullptr ? flux_response_decode(msg, nullptr, s) : -1;
}

int flux_rpc_get_unpack(flux_future_t* f, const char* fmt, ...) {
    const flux_msg_t* msg = response_of(f);
    if (msg == nullptr) {
        return -1;
    }
    va_list ap;
    va_start(ap, fmt);
    const int rc = weir::broker::vunpack(*msg, fmt, ap);
    va_end(ap);
    return rc;
}

uint32_t flux_rpc_get_matchtag(flux_future_t* f) {
    return f != nullptr ? f->matchtag : FLUX_MATCHTAG_NONE;
}

}  // extern "C"
