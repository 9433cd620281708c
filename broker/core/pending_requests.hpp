// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests that a guest's service received and has not answered to the end. A guest may answer only these, so
// that he cannot speak for another service to a client whose uuid he knows. Must not know endpoints.
// Source: RFC 6.
#pragma once
#include <flux/core.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "broker/core/packet.hpp"

namespace weir::broker {

/// The size is bounded by the callers' quotas: an entry ends with its caller's open request, which is charged to the
/// caller with more than the entry takes.
class PendingRequests {
  public:
    /// Remembers a request that was delivered. No effect if it wants no response. O(log n + routes).
    void add(const Packet& request) {
        if (!request.has(FLUX_MSGFLAG_NORESPONSE)) {
            streaming_.insert_or_assign(key_of(request), request.has(FLUX_MSGFLAG_STREAMING));
        }
    }
    /// True if the response answers one of these requests; its last response ends the request. O(log n + routes).
    bool take(const Packet& response) {
        const auto request = streaming_.find(key_of(response));
        if (request == streaming_.end()) {
            return false;
        }
        const bool is_last = !request->second || response.aux1() != 0;
        if (is_last) {
            streaming_.erase(request);
        }
        return true;
    }
    /// Forgets the requests of a caller that has left.
    void drop(std::string_view caller) {
        auto request = streaming_.lower_bound(Key{std::string(caller), {}, 0});
        while (request != streaming_.end() && request->first.caller == caller) {
            request = streaming_.erase(request);
        }
    }
    std::size_t size() const { return streaming_.size(); }

  private:
    struct Key {
        std::string caller;  ///< the endpoint that sent it; empty: the broker
        std::string routes;  ///< the whole route stack: the caller may speak for others
        std::uint32_t matchtag = 0;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    static Key key_of(const Packet& packet) {
        return {std::string(packet.route_last()), std::string(packet.routes()), packet.aux2()};
    }
    std::map<Key, bool> streaming_;  ///< whether it takes more than one response
};

}  // namespace weir::broker
