// SPDX-License-Identifier: LGPL-3.0-only
// Owns: routing decisions. Must not know sockets or threads.
#include "broker/core/router.hpp"

#include <flux/core.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace weir::broker {

bool Call::is_streaming() const {
    return request_.has(FLUX_MSGFLAG_STREAMING);
}

bool Call::cancels(const Call& stream) const {
    const auto matchtag = payload().integer_at("matchtag");
    return stream.sender() == sender() && stream.request_.aux2() == matchtag;
}

void Call::send(int errnum, std::optional<std::string_view> payload) const {
    if (!request_.has(FLUX_MSGFLAG_NORESPONSE)) {
        router_->respond(request_.response(static_cast<std::uint32_t>(errnum), payload, router_->owner()));
    }
}

void Call::respond_text(std::string_view text) const {
    send(0, std::string(text) + '\0');
}

void Call::fail(int errnum, std::string_view message) const {
    if (message.empty()) {
        send(errnum, std::nullopt);
    } else {
        send(errnum, std::string(message) + '\0');
    }
}

void Call::fail(const Error& error) const {
    fail(static_cast<int>(error.code), error.message);
}

void Call::answer(const Status& how) const {
    if (how) {
        respond();
    } else {
        fail(how.error());
    }
}

void Router::attach(Endpoint& endpoint) {
    endpoints_[endpoint.uuid()] = &endpoint;
}

void Router::detach(Endpoint& endpoint) {
    if (endpoints_.erase(endpoint.uuid()) == 0) {
        return;
    }
    services_.remove_all(endpoint.uuid());
    for (const auto& [uuid, other] : endpoints_) {
        other->pending_.drop(endpoint.uuid());
    }
    for (const auto& [topic, cred] : std::exchange(endpoint.disconnects_, {})) {
        Packet notice =
            Packet::make({FLUX_MSGTYPE_REQUEST, FLUX_MSGFLAG_NORESPONSE, cred, FLUX_NODEID_ANY, 0}, topic, {});
        notice.push_route(endpoint.uuid());
        route_request(std::move(notice));
    }
    std::vector<Reply> lost;
    for (auto it = open_calls_.begin(); it != open_calls_.end();) {
        if (it->second.target == endpoint.uuid()) {
            lost.push_back(std::move(it->second.reply));
            it = open_calls_.erase(it);
        } else {
            ++it;
        }
    }
    for (const Reply& reply : lost) {
        reply(ECONNRESET, "the service went away");
    }
}

Endpoint* Router::find(std::string_view uuid) const {
    const auto it = endpoints_.find(std::string(uuid));
    return it == endpoints_.end() ? nullptr : it->second;
}

void Router::receive(Endpoint& from, Packet packet) {
    if (tap_ && from.is_module()) {
        tap_(from, "tx", packet);
    }
    switch (packet.type()) {
        case FLUX_MSGTYPE_REQUEST:
            packet.push_route(from.uuid());
            if (!arm_disconnect(from, packet)) {
                refuse(packet, EOVERFLOW, "this connection uses too many services");
                return;
            }
            route_request(std::move(packet));
            break;
        case FLUX_MSGTYPE_RESPONSE:
            if (!may_respond(from, packet)) {
                ++counters_.dropped;  // no request was sent to this endpoint
                return;
            }
            respond(std::move(packet));
            break;
        case FLUX_MSGTYPE_EVENT:
            publish(std::move(packet));
            break;
        default:
            ++counters_.dropped;
            break;
    }
}

std::string Router::disconnect_topic(std::string_view topic) {
    const auto dot = topic.rfind('.');
    return dot == std::string_view::npos ? "disconnect" : std::string(topic.substr(0, dot)) + ".disconnect";
}

bool Router::arm_disconnect(Endpoint& from, const Packet& packet) {
    if (packet.has(FLUX_MSGFLAG_NORESPONSE) || services_.find(service_of(packet.topic())).empty()) {
        return true;
    }
    std::string topic = disconnect_topic(packet.topic());
    if (from.disconnects_.find(topic) != from.disconnects_.end()) {
        return true;
    }
    if (from.disconnects_.size() >= services_used_max) {
        return false;
    }
    from.disconnects_.emplace(std::move(topic), packet.cred());
    return true;
}

bool Router::may_respond(Endpoint& from, const Packet& response) {
    if (response.route_count() == 0 && !answers_open_call(from, response)) {
        return false;
    }
    return from.is_owner() || from.pending_.take(response);
}

bool Router::answers_open_call(const Endpoint& from, const Packet& response) const {
    const auto it = open_calls_.find(response.aux2());
    return it != open_calls_.end() && it->second.target == from.uuid();
}

void Router::refuse(const Packet& request, int errnum, std::string_view message) {
    Call(*this, request).fail(errnum, message);
}

/// \return false: the endpoint takes no such message any more.
bool Router::hand(Endpoint& to, const Packet& packet) {
    if (!to.deliver(packet)) {
        return false;
    }
    if (tap_ && to.is_module()) {
        tap_(to, "rx", packet);
    }
    return true;
}

namespace {

/// The reason why this broker leaves out a service of flux-core; nothing for other names.
std::string why_missing(std::string_view service) {
    static const std::map<std::string_view, const char*> reasons = {
        {"rexec", "programs run as jobs alone: flux run"},
        {"runat", "the broker runs no scripts of its own"},
        {"cron", "there are no timed tasks"},
        {"content", "values are kept in memory, not by content"},
        {"content-backing", "values are kept in memory, not by content"},
        {"kvs-watch", "keys cannot be watched"},
        {"heartbeat", "there is one broker and no heartbeat"},
        {"sdexec", "jobs are not units of systemd"},
        {"sdbus", "jobs are not units of systemd"},
    };
    const auto found = reasons.find(service);
    return found == reasons.end() ? "" : std::string(": weir-broker leaves it out, for ") + found->second;
}

}  // namespace

void Router::route_request(Packet packet) {
    ++counters_.requests;
    const std::uint32_t nodeid = packet.aux1();
    if (packet.has(FLUX_MSGFLAG_UPSTREAM) || (nodeid != FLUX_NODEID_ANY && nodeid != 0)) {
        refuse(packet, EHOSTUNREACH, "this instance has one broker, rank 0");
        return;
    }
    const std::string_view service = service_of(packet.topic());
    const std::string_view owner = services_.find(service);
    if (owner == ServiceTable::broker_id) {
        dispatch(std::move(packet));
        return;
    }
    Endpoint* target = owner.empty() ? nullptr : find(owner);
    if (target != nullptr && target->is_module() && refuses_length(packet, guest_payload_max(packet.topic()))) {
        return;
    }
    if (target != nullptr && hand(*target, packet)) {
        if (!target->is_owner()) {
            target->pending_.add(packet);
        }
    } else {
        refuse(packet, ENOSYS, "No service matching " + std::string(service) + " is registered" + why_missing(service));
    }
}

void Router::dispatch(Packet packet) {
    const auto it = methods_.find(std::string(packet.topic()));
    if (it == methods_.end()) {
        refuse(packet, ENOSYS, "Unknown service method '" + std::string(packet.topic()) + "'");
        return;
    }
    const std::uint32_t roles = packet.cred().rolemask;
    if ((roles & (FLUX_ROLE_OWNER | it->second.rolemask)) == 0) {
        refuse(packet, EPERM, "Request requires owner credentials");
        return;
    }
    if (!refuses_length(packet, it->second.guest_bytes_max)) {
        it->second.method(Call(*this, std::move(packet)));
    }
}

/// Answers a guest's request that is too long, before anything parses it. \return false: it is not.
bool Router::refuses_length(const Packet& request, std::size_t guest_bytes_max) {
    if ((request.cred().rolemask & FLUX_ROLE_OWNER) != 0 || request.text().size() <= guest_bytes_max) {
        return false;
    }
    refuse(request, EMSGSIZE,
           "a guest's " + std::string(request.topic()) + " has at most " + std::to_string(guest_bytes_max) + " bytes");
    return true;
}

void Router::add_method(const std::string& topic, std::uint32_t rolemask, Method method, std::size_t guest_bytes_max) {
    const std::string service(service_of(topic));
    if (services_.find(service).empty()) {
        WEIR_CHECK(services_.add(service, ServiceTable::broker_id).has_value());
    }
    methods_[topic] = MethodEntry{rolemask, std::move(method), guest_bytes_max};
}

void Router::call(const std::string& topic, const Json& payload, Reply reply) {
    const std::uint32_t matchtag = reply ? next_matchtag_++ : std::uint32_t{FLUX_MATCHTAG_NONE};
    if (next_matchtag_ == 0) {
        next_matchtag_ = 1;
    }
    const std::string text = payload ? payload.dump() + '\0' : std::string();
    const std::uint8_t flags = reply ? 0 : FLUX_MSGFLAG_NORESPONSE;
    Packet request = Packet::make({FLUX_MSGTYPE_REQUEST, flags, owner_, FLUX_NODEID_ANY, matchtag}, topic,
                                  payload ? std::optional<std::string_view>(text) : std::nullopt);
    if (reply) {
        open_calls_.emplace(matchtag, OpenCall{std::string(services_.find(service_of(topic))), std::move(reply)});
    }
    route_request(std::move(request));
}

void Router::respond(Packet response) {
    ++counters_.responses;
    if (response.route_count() == 0) {  // one of the broker's own calls
        const auto it = open_calls_.find(response.aux2());
        if (it == open_calls_.end()) {
            ++counters_.dropped;
            return;
        }
        const Reply reply = std::move(it->second.reply);
        open_calls_.erase(it);
        reply(static_cast<int>(response.aux1()), response.text());
        return;
    }
    Endpoint* target = find(response.route_last());
    if (target == nullptr) {  // it has left
        ++counters_.dropped;
        return;
    }
    response.pop_route();
    if (!hand(*target, response)) {
        ++counters_.dropped;
    }
}

std::uint32_t Router::publish(Packet event) {
    ++counters_.events;
    const std::uint32_t sequence = next_sequence_++;
    event.set_aux1(sequence);
    const bool is_private = event.has(FLUX_MSGFLAG_PRIVATE);
    for (const auto& [uuid, endpoint] : endpoints_) {
        const bool may_see = !is_private || endpoint->is_owner() || endpoint->cred.userid == event.cred().userid;
        if (may_see && endpoint->subscriptions.match(event.topic()) && !hand(*endpoint, event)) {
            ++counters_.dropped;
        }
    }
    return sequence;
}

}  // namespace weir::broker
