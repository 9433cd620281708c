// SPDX-License-Identifier: LGPL-3.0-only
// Owns: event subscription and publication, and service registration: RPCs to the broker. Must not know how the broker
// serves them. RFC 3, RFC 6; event.publish carries its payload in base64, its NUL included.
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>
#include <string_view>

#include "broker/api/handle_state.hpp"

namespace {

std::string base64(std::string_view bytes) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](size_t k) {
            return i + k < bytes.size() ? static_cast<uint32_t>(static_cast<uint8_t>(bytes[i + k])) : 0u;
        };
        const uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.push_back(digits[three >> 18]);
        text.push_back(digits[three >> 12 & 63]);
        text.push_back(i + 1 < bytes.size() ? digits[three >> 6 & 63] : '=');
        text.push_back(i + 2 < bytes.size() ? digits[three & 63] : '=');
    }
    return text;
}

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
                         flags != 0 ? FLUX_MSGFLAG_PRIVATE : 0, "payload", base64(scratch->payload).c_str());
}

flux_future_t* flux_service_register(flux_t* h, const char* name) {
    return call_with_service(h, "service.add", name);
}

flux_future_t* flux_service_unregister(flux_t* h, const char* name) {
    return call_with_service(h, "service.remove", name);
}

}  // extern "C"
