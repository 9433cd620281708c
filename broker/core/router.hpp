// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the routing of messages: requests to the endpoint that has the service (or to a method of the broker itself),
// responses back along their route stack, events to subscribers, disconnect notices when an endpoint leaves.
// Must not know sockets, threads or what any service does. One thread only.
// Source: RFC 3, RFC 6.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "broker/core/guest_payloads.hpp"
#include "broker/core/packet.hpp"
#include "broker/core/pending_requests.hpp"
#include "broker/core/service_table.hpp"
#include "broker/core/subscriptions.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker {

/// A sender and receiver of messages: a module or a connected client.
class Endpoint {
  public:
    /// \param module_name empty: it is a connected client.
    explicit Endpoint(std::string uuid, std::string module_name = {})
        : uuid_(std::move(uuid)), module_name_(std::move(module_name)) {}
    virtual ~Endpoint() = default;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;
    /// Queues a message for it; must neither block nor call the router. \return false if it takes no such message any
    /// more.
    virtual bool deliver(const Packet& packet) = 0;
    /// Calls `then` once, when the endpoint has read most of what was delivered to it, or has gone. A module reads
    /// always.
    virtual void when_read(std::function<void()> then) { then(); }
    const std::string& uuid() const { return uuid_; }
    const std::string& module_name() const { return module_name_; }
    /// A guest's request to a module has at most guest_payload_max() bytes.
    bool is_module() const { return !module_name_.empty(); }
    bool is_owner() const { return (cred.rolemask & FLUX_ROLE_OWNER) != 0; }
    /// Its credentials; they decide which private events it receives.
    Cred cred;
    Subscriptions subscriptions;

  private:
    friend class Router;
    std::string uuid_;
    std::string module_name_;
    PendingRequests pending_;  // of a guest's services; the owner's are trusted
    std::map<std::string, Cred, std::less<>>
        disconnects_;  // disconnect topic -> credentials, one for each service that it used
};

class Router;

/// A request to the broker itself. Copies may be kept to answer later, or several times if it is a streaming one.
class Call {
  public:
    Call(Router& router, Packet request) : router_(&router), request_(std::move(request)) {}
    const Packet& request() const { return request_; }
    bool is_streaming() const;
    /// The payload; nothing if it is absent or no JSON.
    Json payload() const { return Json::parse_payload(request_.text()); }
    /// The uuid of the endpoint that sent the request.
    std::string_view sender() const { return request_.route_last(); }
    /// True if this request, SERVICE.cancel {matchtag:i}, ends that stream.
    bool cancels(const Call& stream) const;
    void respond() const { send(0, std::nullopt); }
    void respond(const Json& payload) const { respond_text(payload.dump()); }
    /// Sends text (JSON or not) with its trailing NUL.
    void respond_text(std::string_view text) const;
    /// \param errnum as errno(3); \param message for people, empty: the receiver uses strerror.
    void fail(int errnum, std::string_view message = {}) const;
    void fail(const Error& error) const;
    /// An empty response, or the error.
    void answer(const Status& how) const;

  private:
    void send(int errnum, std::optional<std::string_view> payload) const;
    Router* router_;
    Packet request_;
};

class Router {
  public:
    using Method = std::function<void(const Call&)>;
    using Reply = std::function<void(int errnum, std::string_view text)>;
    /// Sees a message that a module got ("rx") or sent ("tx"). May respond to calls, but not add or remove endpoints.
    using Tap = std::function<void(const Endpoint& module, const char* way, const Packet& packet)>;

    /// \param owner credentials of what the broker itself sends.
    explicit Router(Cred owner) : owner_(owner) {}

    ServiceTable& services() { return services_; }
    const Cred& owner() const { return owner_; }

    /// From now on the endpoint receives. The endpoint must outlive its `detach`.
    void attach(Endpoint& endpoint);
    /// The endpoint's services and subscriptions end, the services that it used are notified, and open requests of the
    /// broker to it fail with ECONNRESET.
    void detach(Endpoint& endpoint);
    Endpoint* find(std::string_view uuid) const;

    /// Routes a message that an endpoint sent; its credentials are final.
    void receive(Endpoint& from, Packet packet);

    /// Adds a method of the broker itself and, at its first method, the service. \param rolemask roles besides the
    /// owner. \param guest_bytes_max a guest's longer payload is refused before anything reads it.
    void add_method(const std::string& topic, std::uint32_t rolemask, Method method,
                    std::size_t guest_bytes_max = guest_payload_bytes_max);
    /// Sends a request of the broker to a service. `reply` is called once, also on failure; empty: no response wanted.
    void call(const std::string& topic, const Json& payload, Reply reply);
    /// Routes a response along its route stack.
    void respond(Packet response);
    /// Stamps a sequence number and distributes. \return the number, from 1 on.
    std::uint32_t publish(Packet event);

    /// From now on `tap` sees the messages of all modules. Empty: none does, which costs a message one comparison.
    void set_tap(Tap tap) { tap_ = std::move(tap); }

    struct Counters {
        std::uint64_t requests = 0, responses = 0, events = 0, dropped = 0;
    };
    const Counters& counters() const { return counters_; }

    /// "a.b.c" -> "a.b.disconnect", "a" -> "disconnect".
    static std::string disconnect_topic(std::string_view topic);

  private:
    struct MethodEntry {
        std::uint32_t rolemask;
        Method method;
        std::size_t guest_bytes_max;
    };
    struct OpenCall {
        std::string target;  // uuid of the endpoint that was asked
        Reply reply;
    };
    static constexpr std::size_t services_used_max = 1024;  // disconnect notices kept for one endpoint

    void route_request(Packet packet);
    void dispatch(Packet packet);
    bool refuses_length(const Packet& request, std::size_t guest_bytes_max);
    bool arm_disconnect(Endpoint& from, const Packet& packet);
    bool may_respond(Endpoint& from, const Packet& response);
    bool answers_open_call(const Endpoint& from, const Packet& response) const;
    void refuse(const Packet& request, int errnum, std::string_view message);
    bool hand(Endpoint& to, const Packet& packet);

    Cred owner_;
    ServiceTable services_;
    std::unordered_map<std::string, Endpoint*> endpoints_;
    std::unordered_map<std::string, MethodEntry> methods_;
    std::unordered_map<std::uint32_t, OpenCall> open_calls_;
    Tap tap_;
    std::uint32_t next_matchtag_ = 1;
    std::uint32_t next_sequence_ = 1;
    Counters counters_;
};

}  // namespace weir::broker
