// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a streaming request that ends with its owner. Must not know any service. RFC 6.
#pragma once
#include <string>
#include <utility>

#include "modules/common/flux_cpp.hpp"

namespace weir::flux {

/// Destroying the future alone tells nobody: the service would keep the request until the module is unloaded, and send
/// every response to it.
struct EndStream {
    std::string topic;  ///< its service answers topic-cancel, too
    void operator()(flux_future_t* f) const {
        const bool has_ended = flux_future_is_ready(f) && flux_rpc_get(f, nullptr) < 0;
        if (!has_ended) {
            const Future cancel(flux_rpc_pack(flux_future_get_flux(f), (topic + "-cancel").c_str(), FLUX_NODEID_ANY,
                                              FLUX_RPC_NORESPONSE, "{s:i}", "matchtag",
                                              static_cast<int>(flux_rpc_get_matchtag(f))));
        }
        flux_future_destroy(f);
    }
};
/// reset() cancels the request, unless the service has ended it with an error.
using Stream = std::unique_ptr<flux_future_t, EndStream>;

/// Starts a streaming request (empty Json: no payload).
inline Stream open_stream(flux_t* h, const std::string& topic, const Json& payload) {
    return Stream(rpc(h, topic, payload, FLUX_RPC_STREAMING).release(), EndStream{topic});
}

}  // namespace weir::flux
