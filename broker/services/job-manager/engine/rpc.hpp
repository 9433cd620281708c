// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the thin edge between Flux messages and the manager: a decoded request, a reply, and a trampoline that no
//   exception leaves. Everything sent goes through the Outbox.
// Must not know: jobs.
// RFC 6. One flush a reactor iteration.
#pragma once
#include <flux/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/handlers.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker::jobs {

/// A counted reference to a message.
class MessageRef {
  public:
    explicit MessageRef(const flux_msg_t* msg) : msg_(msg ? flux_msg_incref(msg) : nullptr) {}
    MessageRef(MessageRef&& other) noexcept : msg_(std::exchange(other.msg_, nullptr)) {}
    MessageRef(const MessageRef& other) : msg_(other.msg_ ? flux_msg_incref(other.msg_) : nullptr) {}
    MessageRef& operator=(MessageRef other) noexcept {
        std::swap(msg_, other.msg_);
        return *this;
    }
    ~MessageRef() {
        if (msg_) {
            flux_msg_decref(msg_);
        }
    }
    const flux_msg_t* get() const { return msg_; }

  private:
    const flux_msg_t* msg_;
};

/// Messages in the order in which they will be sent, at the end of the reactor iteration.
class Outbox {
  public:
    explicit Outbox(flux_t* h) : h_(h) {}
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    /// A message that is not sent yet.
    struct Place {
        std::uint64_t batch = 0;  ///< 0: none
        std::size_t index = 0;
    };
    /// Requests that expect no answer are not answered.
    Place respond(const flux_msg_t* request, std::string payload);
    /// Inserts `text` before the last `tail` bytes of a payload. False if it is sent, or waits for a sync, or would
    /// have more than 1 MiB.
    bool extend(Place place, std::size_t tail, std::string_view text);
    void respond_empty(const flux_msg_t* request);
    void respond_error(const flux_msg_t* request, int errnum, std::string message);
    void request(const char* topic, const std::string& payload);
    /// Takes over a reference to a message.
    void pass(flux_msg_t* msg);
    /// An event, which must not overtake a request that was made before it.
    void publish(const char* topic, Json payload);
    /// An answer that reports and causes no change: it may be sent before earlier messages.
    void answer_query(const flux_msg_t* request, std::string payload, int errnum = 0);
    /// `flush` is called between two requests when the answers reach 16 MiB.
    void when_large(std::function<void()> flush) { when_large_ = std::move(flush); }
    void relieve() const {
        if (bytes_ > bytes_large) {
            when_large_();
        }
    }
    void send_all();
    /// Sends only those; the others stay.
    void send_answers_to_queries();
    /// The messages until now wait for send_held(), those from now on for the flush after it. So do those that wait
    /// since a sync that failed.
    void hold();
    void send_held();
    bool empty() const { return items_.empty() && held_.empty(); }

  private:
    struct Item {
        MessageRef request;
        int errnum;
        bool has_payload;
        std::string text;
        flux_msg_t* to_send;
        std::string event;  ///< topic
        Json payload;       ///< the event's
        bool is_of_query = false;
    };
    static constexpr std::size_t bytes_large = 16u << 20;
    static constexpr std::size_t extended_max = 1u << 20;
    void put(Item item);
    void send_event(const Item& item);
    void send(const Item& item);
    void send_each(std::vector<Item> items);

    flux_t* h_;
    std::vector<Item> items_;
    std::vector<Item> held_;
    std::uint64_t batch_ = 1;  // grows whenever a message of items_ moves
    std::size_t bytes_ = 0;    // of the texts of items_
    std::function<void()> when_large_ = [] {};
};

struct Request {
    const flux_msg_t* msg = nullptr;
    const char* topic = "";
    Json payload;
    std::uint32_t userid = FLUX_USERID_UNKNOWN;
    std::uint32_t roles = 0;

    bool is_owner() const { return (roles & FLUX_ROLE_OWNER) != 0; }
    /// The owner, or the user in question.
    bool may_act_for(std::uint32_t user) const { return is_owner() || ((roles & FLUX_ROLE_USER) && userid == user); }
    const json_t* body() const { return payload.get(); }
};

/// A handler's answer: nothing yet (Later), an empty response, or a payload.
struct Reply {
    enum class Kind { later, empty, text } kind = Kind::empty;
    std::string text;
    static Reply later() { return {Kind::later, {}}; }
    static Reply empty() { return {Kind::empty, {}}; }
    static Reply of(std::string text) { return {Kind::text, std::move(text)}; }
    static Reply of(const Json& value) { return {Kind::text, value.dump()}; }
};
using Answer = Result<Reply>;

/// The text of a message, as Flux decodes it, of at most 1,000 levels. Parts of it go into journal lines and messages
/// with some more levels, whose readers stop at 2,048. Errors: EINVAL with what is wrong.
Result<Json> read_bounded(std::string_view text);
/// EPROTO with the sentence that says which key is missing.
Error protocol_error(const std::string& what);
/// Of a private instance, for requests whose answers count other users' jobs.
inline constexpr const char* restricted_words = "the instance is private: guests are not told of all jobs together";
inline Error not_permitted(const std::string& what) {
    return Error{std::errc::operation_not_permitted, what};
}

/// Requests of one guest that may wait for the same thing, a job or the counts of jobs: each has a copy of what comes,
/// at once. The copies of one event are so bounded, for he writes at most 256 KiB to a job.
inline constexpr std::size_t waiting_of_guest_max = 64;
/// Whether `request` is a guest's and may not be added to those in `list`, whose messages `message` returns.
template <typename List, typename Message>
bool is_surplus(const Request& request, const List& list, const Message& message) {
    const auto is_his = [&](const auto& other) {
        struct flux_msg_cred cred;
        return flux_msg_get_cred(message(other), &cred) == 0 && cred.userid == request.userid;
    };
    return !request.is_owner() &&
           std::count_if(list.begin(), list.end(), is_his) >= std::ptrdiff_t{waiting_of_guest_max};
}
/// EAGAIN. \param what they wait for
Error too_many_wait(const std::string& what);

Result<Request> decode_request(const flux_msg_t* msg);
bool is_from_owner(const flux_msg_t* msg);
/// Bytes of the request's text.
std::size_t payload_size(const flux_msg_t* request);
/// Errors, and all answers of handlers that only read, count as answers to queries.
void answer(flux_t* h, Outbox& outbox, const flux_msg_t* msg, const Answer& given, bool is_query = false);

/// C callback for `Answer (T::*)(const Request&)`; T has handle() and outbox().
template <typename T, Answer (T::*method)(const Request&), bool is_query = false>
void on_request(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
    T& self = *static_cast<T*>(arg);
    try {
        auto request = decode_request(msg);
        answer(h, self.outbox(), msg, request ? (self.*method)(*request) : Answer(request.error()), is_query);
    } catch (const std::exception& error) {
        answer(h, self.outbox(), msg, Error{std::errc::io_error, std::string("job-manager: ") + error.what()});
    }
    self.outbox().relieve();
}

/// The same for a handler that changes nothing and answers at once: it answers even if the disk is full.
template <typename T, Answer (T::*method)(const Request&)>
void on_query(flux_t* h, flux_msg_handler_t* mh, const flux_msg_t* msg, void* arg) noexcept {
    on_request<T, method, true>(h, mh, msg, arg);
}

/// C callback for `void (T::*)(const flux_msg_t*)`, for responses.
template <typename T, void (T::*method)(const flux_msg_t*)>
void on_message(flux_t* h, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) noexcept {
    try {
        (static_cast<T*>(arg)->*method)(msg);
    } catch (const std::exception& error) {
        flux_log(h, 3, "job-manager: %s", error.what());
    }
}

}  // namespace weir::broker::jobs
