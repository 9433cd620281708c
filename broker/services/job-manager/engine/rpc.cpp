// SPDX-License-Identifier: LGPL-3.0-only
// Owns: decoding requests and sending answers.
// Must not know: jobs. RFC 6.
#include "broker/services/job-manager/engine/rpc.hpp"

#include <syslog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace weir::broker::jobs {
namespace {

constexpr int levels_max = 1000;

bool has_more_levels(const json_t* value, int levels) {
    const char* key = nullptr;
    json_t* member = nullptr;
    std::size_t index = 0;
    if (levels == 0 && (json_is_object(value) || json_is_array(value))) {
        return true;
    }
    json_object_foreach(const_cast<json_t*>(value), key, member) {
        if (has_more_levels(member, levels - 1)) {
            return true;
        }
    }
    json_array_foreach(value, index, member) {
        if (has_more_levels(member, levels - 1)) {
            return true;
        }
    }
    return false;
}

}  // namespace

Outbox::~Outbox() {
    for (const std::vector<Item>* items : {&held_, &items_}) {
        for (const Item& item : *items) {
            flux_msg_destroy(item.to_send);
        }
    }
}

void Outbox::put(Item item) {
    bytes_ += item.text.size();
    items_.push_back(std::move(item));
}

Outbox::Place Outbox::respond(const flux_msg_t* request, std::string payload) {
    if (flux_msg_is_noresponse(request)) {
        return {};
    }
    put({MessageRef(request), 0, true, std::move(payload), nullptr, {}, {}});
    return {batch_, items_.size() - 1};
}

bool Outbox::extend(Place place, std::size_t tail, std::string_view text) {
    if (place.batch != batch_) {
        return false;
    }
    std::string& payload = items_[place.index].text;
    if (payload.size() + text.size() > extended_max) {
        return false;
    }
    payload.insert(payload.size() - tail, text);
    bytes_ += text.size();
    return true;
}

void Outbox::respond_empty(const flux_msg_t* request) {
    if (flux_msg_is_noresponse(request)) {
        return;
    }
    put({MessageRef(request), 0, false, {}, nullptr, {}, {}});
}

void Outbox::respond_error(const flux_msg_t* request, int errnum, std::string message) {
    if (flux_msg_is_noresponse(request)) {
        return;
    }
    put({MessageRef(request), errnum, !message.empty(), std::move(message), nullptr, {}, {}});
}

void Outbox::answer_query(const flux_msg_t* request, std::string payload, int errnum) {
    if (flux_msg_is_noresponse(request)) {
        return;
    }
    const bool has_payload = !payload.empty();
    put({MessageRef(request), errnum, has_payload, std::move(payload), nullptr, {}, {}, true});
}

void Outbox::request(const char* topic, const std::string& payload) {
    flux_msg_t* msg = flux_request_encode(topic, payload.c_str());
    if (!msg) {
        flux_log(h_, LOG_ERR, "encoding %s: %s", topic, std::strerror(errno));
        return;
    }
    pass(msg);
}

void Outbox::pass(flux_msg_t* msg) {
    put({MessageRef(msg), 0, false, {}, msg, {}, {}});
}

void Outbox::publish(const char* topic, Json payload) {
    put({MessageRef(nullptr), 0, false, {}, nullptr, topic, std::move(payload)});
}

void Outbox::send_event(const Item& item) {
    flux_future_t* f = flux_event_publish_pack(h_, item.event.c_str(), FLUX_MSGFLAG_PRIVATE, "O", item.payload.get());
    if (!f || flux_future_then(
                  f, -1., [](flux_future_t* done, void*) { flux_future_destroy(done); }, nullptr) < 0) {
        flux_log(h_, LOG_ERR, "cannot publish %s", item.event.c_str());
        flux_future_destroy(f);
    }
}

void Outbox::send(const Item& item) {
    int rc = 0;
    if (!item.event.empty()) {
        send_event(item);
    } else if (item.to_send) {
        rc = flux_send(h_, item.to_send, 0);
    } else if (item.errnum != 0) {
        rc = flux_respond_error(h_, item.request.get(), item.errnum, item.has_payload ? item.text.c_str() : nullptr);
    } else {
        rc = flux_respond(h_, item.request.get(), item.has_payload ? item.text.c_str() : nullptr);
    }
    if (rc < 0) {
        flux_log(h_, LOG_ERR, "error sending a message: %s", std::strerror(errno));
    }
}

void Outbox::send_each(std::vector<Item> items) {
    for (Item& item : items) {
        send(item);
        flux_msg_destroy(std::exchange(item.to_send, nullptr));
    }
    if (items_.empty()) {
        items.clear();
        items_.swap(items);  // keeps the capacity
    }
}

void Outbox::send_all() {
    bytes_ = 0;
    ++batch_;
    send_held();
    send_each(std::exchange(items_, {}));
}

void Outbox::hold() {
    bytes_ = 0;
    ++batch_;
    held_.insert(held_.end(), std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
    items_.clear();
}

void Outbox::send_held() {
    send_each(std::exchange(held_, {}));
}

void Outbox::send_answers_to_queries() {
    const auto is_kept = [](const Item& item) { return !item.is_of_query; };
    const auto first = std::stable_partition(items_.begin(), items_.end(), is_kept);
    std::vector<Item> leaving(std::make_move_iterator(first), std::make_move_iterator(items_.end()));
    items_.erase(first, items_.end());
    batch_ += leaving.empty() ? 0 : 1;
    for (const Item& item : leaving) {
        bytes_ -= item.text.size();
        send(item);
    }
}

Error protocol_error(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

Error too_many_wait(const std::string& what) {
    return {std::errc::resource_unavailable_try_again,
            std::to_string(waiting_of_guest_max) + " of your requests wait for " + what + ": end one, then ask again"};
}

Result<Json> read_bounded(std::string_view text) {
    auto value = Json::parse(text, SameKeys::last_counts);
    if (value && has_more_levels(value->get(), levels_max)) {
        return Error{std::errc::invalid_argument,
                     "objects and lists may be nested at most " + std::to_string(levels_max) + " levels deep"};
    }
    return value;
}

Result<Request> decode_request(const flux_msg_t* msg) {
    Request request;
    request.msg = msg;
    const char* text = nullptr;
    struct flux_msg_cred cred;
    if (flux_request_decode(msg, &request.topic, &text) < 0 || flux_msg_get_cred(msg, &cred) < 0) {
        return protocol_error("malformed request");
    }
    request.userid = cred.userid;
    request.roles = cred.rolemask;
    if (text && *text) {
        auto payload = read_bounded(text);
        if (!payload) {
            return protocol_error(payload.error().message);
        }
        request.payload = std::move(*payload);
    }
    return request;
}

bool is_from_owner(const flux_msg_t* msg) {
    struct flux_msg_cred cred;
    return flux_msg_get_cred(msg, &cred) == 0 && (cred.rolemask & FLUX_ROLE_OWNER) != 0;
}

std::size_t payload_size(const flux_msg_t* request) {
    const char* text = nullptr;
    return flux_request_decode(request, nullptr, &text) == 0 && text ? std::strlen(text) : 0;
}

/// A guest's errors are not logged: he could fill the log.
void answer(flux_t* h, Outbox& outbox, const flux_msg_t* msg, const Answer& given, bool is_query) {
    if (flux_msg_is_noresponse(msg)) {
        if (!given && is_from_owner(msg)) {  // that a job has ended meanwhile is no error of anybody
            const bool is_late = given.error().code == std::errc::no_such_file_or_directory ||
                                 given.error().message == "job is inactive";
            const char* topic = nullptr;
            (void)flux_msg_get_topic(msg, &topic);
            flux_log(h, is_late ? LOG_DEBUG : LOG_ERR, "%s without response failed: %s",
                     topic != nullptr ? topic : "a request", given.error().message.c_str());
        }
        return;
    }
    if (!given) {
        outbox.answer_query(msg, given.error().message, static_cast<int>(given.error().code));
    } else if (is_query && given->kind == Reply::Kind::text) {
        outbox.answer_query(msg, given->text);
    } else if (given->kind == Reply::Kind::text) {
        outbox.respond(msg, given->text);
    } else if (given->kind == Reply::Kind::empty) {
        outbox.respond_empty(msg);
    }
}

}  // namespace weir::broker::jobs
