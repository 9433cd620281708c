// SPDX-License-Identifier: LGPL-3.0-only
// Owns: event subscription and publication, and service registration: RPCs to the broker. Must not know how the broker
// serves them. RFC 3, RFC 6; event.publish carries its payload in base64, its NUL included.
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>
#include <string_view>

#include "broker/api/handle_state.hpp"
#include "libfairshare/base/base64.hpp"

namespace {

int call_with_topic(flux_t* h, const char* method, const char* topic) {
    if (h == nullptr || topic == nullptr) {
        errno = EINVAL;
        return -1;
    }
    if ((h->flags & FLUX_O_TEST_NOSUB) != 0) {
        return 0;
    }
    flux_future_t* f = flux_rpc_pack(h, method, FLUX_NODEID_ANY, 0, "{s:s}", "topic", topic);
    const int rc = f != nullptr ? flux_future_get(f, nullptr) : -1;
    flux_future_destroy(f);
    return rc;
}

flux_future_t* call_with_service(flux_t* h, const char* method, const char* name) {
    if (h == nullptr || name == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    return flux_rpc_pack(h, method, FLUX_NODEID_ANY, 0, "{s:s}", "service", name);
}

}  // namespace

extern "C" {

int flux_event_subscribe(flux_t* h, const char* topic) {
    return call_with_topic(h, "event.subscribe", topic);
}

int flux_event_unsubscribe(flux_t* h, const char* topic) {
    return call_with_topic(h, "event.unsubscribe", topic);
}

flux_future_t* flux_event_publish_pack(flux_t* h, const char* topic, int flags, const char* fmt, ...) {
    // flux-core accepts the message flag here, and its header's FLUX_EVENT_PRIVATE is documented: take both.
    const int known = int{FLUX_MSGFLAG_PRIVATE} | int{FLUX_EVENT_PRIVATE};
    if (h == nullptr || topic == nullptr || fmt == nullptr || (flags & ~known) != 0) {
        errno = EINVAL;
        return nullptr;
    }
    const auto scratch = weir::broker::make_event(topic, nullptr);
    va_list ap;
    va_start(ap, fmt);
    const int rc = weir::broker::vpack(*scratch, fmt, ap);
    va_end(ap);
    if (rc < 0) {
        return nullptr;
    }
    return flux_rpc_pack(h, "event.publish", 0, 0, "{s:s s:i s:s}", "topic", topic, "flags",
                         flags != 0 ? FLUX_MSGFLAG_PRIVATE : 0, "payload",
                         weir::base64_encode(scratch->payload).c_str());
}

flux_future_t* flux_service_register(flux_t* h, const char* name) {
    return call_with_service(h, "service.add", name);
}

flux_future_t* flux_service_unregister(flux_t* h, const char* name) {
    return call_with_service(h, "service.remove", name);
}

}  // extern "C"
