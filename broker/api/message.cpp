// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a message can do besides travelling: payload setters, the parsed copy, copies, responses, matching.
// Must not know the encoding (message_codec.cpp), sockets or handles. RFC 3.
#include "broker/api/message.hpp"

#include <fnmatch.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

void flux_msg::set_payload(std::string bytes) {
    json_decref(json);
    json = nullptr;
    payload = std::move(bytes);
    flags = static_cast<uint8_t>(payload.empty() ? flags & ~FLUX_MSGFLAG_PAYLOAD : flags | FLUX_MSGFLAG_PAYLOAD);
}

void flux_msg::set_payload_text(const char* text) {
    // The terminating NUL travels with the text.
    set_payload(text != nullptr ? std::string(text, std::strlen(text) + 1) : std::string());
}

bool flux_msg::set_payload_json(json_t* object) {
    if (!json_is_object(object)) {
        return false;
    }
    std::string text;
    text.reserve(payload.capacity() > 256 ? payload.capacity() : 256);
    const auto append = [](const char* piece, size_t size, void* to) {
        static_cast<std::string*>(to)->append(piece, size);
        return 0;
    };
    if (json_dump_callback(object, append, &text, JSON_COMPACT) < 0) {
        return false;
    }
    text.push_back('\0');
    set_payload(std::move(text));
    json = json_incref(object);
    return true;
}

namespace weir::broker {

MessagePtr make_message(int type) {
    auto msg = MessagePtr::adopt(new Message);
    msg->type = type;
    if (type == FLUX_MSGTYPE_REQUEST) {
        msg->aux1 = FLUX_NODEID_ANY;
        msg->aux2 = FLUX_MATCHTAG_NONE;
    }
    return msg;
}

namespace {
MessagePtr make_with_topic(int type, std::string_view topic, const char* payload) {
    auto msg = make_message(type);
    msg->set_topic(topic);
    msg->enable_routes();
    if (payload != nullptr) {
        msg->set_payload_text(payload);
    }
    return msg;
}
}  // namespace

MessagePtr make_request(std::string_view topic, const char* payload) {
    return make_with_topic(FLUX_MSGTYPE_REQUEST, topic, payload);
}

MessagePtr make_event(std::string_view topic, const char* payload) {
    return make_with_topic(FLUX_MSGTYPE_EVENT, topic, payload);
}

MessagePtr make_response(const Message& request, int errnum) {
    auto msg = MessagePtr::adopt(new Message);
    msg->type = FLUX_MSGTYPE_RESPONSE;
    msg->flags = static_cast<uint8_t>(request.flags & ~FLUX_MSGFLAG_PAYLOAD);
    msg->aux1 = static_cast<uint32_t>(errnum);
    msg->aux2 = request.aux2;
    msg->routes = request.routes;
    msg->topic = request.topic;
    return msg;
}

MessagePtr copy(const Message& msg, bool with_payload) {
    auto result = MessagePtr::adopt(new Message);
    result->type = msg.type;
    result->flags = msg.flags;
    result->userid = msg.userid;
    result->rolemask = msg.rolemask;
    result->aux1 = msg.aux1;
    result->aux2 = msg.aux2;
    result->routes = msg.routes;
    result->topic = msg.topic;
    if (with_payload) {
        result->payload = msg.payload;
    } else {
        result->flags = static_cast<uint8_t>(msg.flags & ~FLUX_MSGFLAG_PAYLOAD);
    }
    return result;
}

json_t* payload_json(const Message& msg, std::string* error) {
    const auto fail = [&](const char* why) -> json_t* {
        if (error != nullptr) {
            *error = why;
        }
        errno = EPROTO;
        return nullptr;
    };
    if (msg.json == nullptr) {
        const char* text = msg.payload_text();
        if (text == nullptr) {
            return fail("message does not have a string payload");
        }
        json_error_t why;
        msg.json = json_loads(text, JSON_ALLOW_NUL, &why);
        if (msg.json == nullptr) {
            return fail(why.text);
        }
    }
    return json_is_object(msg.json) ? msg.json : fail("payload is not a JSON object");
}

int vunpack(const Message& msg, const char* format, va_list args) {
    if (format == nullptr || *format == '\0') {
        errno = EINVAL;
        return -1;
    }
    json_t* object = payload_json(msg);
    json_error_t why;
    if (object == nullptr || json_vunpack_ex(object, &why, 0, format, args) < 0) {
        errno = EPROTO;
        return -1;
    }
    return 0;
}

int vpack(Message& msg, const char* format, va_list args) {
    json_error_t why;
    json_t* object = format != nullptr && *format != '\0' ? json_vpack_ex(&why, 0, format, args) : nullptr;
    const bool done = object != nullptr && msg.set_payload_json(object);
    json_decref(object);
    if (!done) {
        errno = EINVAL;
    }
    return done ? 0 : -1;
}

bool is_glob(const char* topic) {
    return topic == nullptr || *topic == '\0' || std::strpbrk(topic, "*?[") != nullptr;
}

bool fits_topic(const char* glob, const char* topic) {
    if (glob == nullptr || *glob == '\0' || std::strcmp(glob, "*") == 0) {
        return true;
    }
    if (topic == nullptr) {
        return false;
    }
    return is_glob(glob) ? fnmatch(glob, topic, 0) == 0 : std::strcmp(glob, topic) == 0;
}

bool matches(const Message& msg, const flux_match& match) {
    if (match.typemask != 0 && (msg.type & match.typemask) == 0) {
        return false;
    }
    if (match.matchtag != FLUX_MATCHTAG_NONE) {
        const bool tagged = msg.type == FLUX_MSGTYPE_REQUEST || msg.type == FLUX_MSGTYPE_RESPONSE;
        // A message with routes carries the matchtag of another sender's domain.
        if (!tagged || !msg.routes.empty() || msg.aux2 != match.matchtag) {
            return false;
        }
    }
    return fits_topic(match.topic_glob, msg.has(FLUX_MSGFLAG_TOPIC) ? msg.topic_text() : nullptr);
}

const char* type_name(int type) {
    switch (type) {
        case FLUX_MSGTYPE_REQUEST:
            return "request";
        case FLUX_MSGTYPE_RESPONSE:
            return "response";
        case FLUX_MSGTYPE_EVENT:
            return "event";
        case FLUX_MSGTYPE_CONTROL:
            return "control";
        default:
            return "unknown";
    }
}

}  // namespace weir::broker
