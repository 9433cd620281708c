// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an HTTP request and its answer as values. Must not know sockets, nor what is asked for.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::cmd {

/// A request that came in whole, within the server's bounds.
struct HttpRequest {
    std::string method;  ///< "GET", "HEAD", "POST"; anything else is "OTHER"
    std::string path;    ///< "/api/state", without the query
    std::string query;   ///< "job=f1", as it was sent
    std::string body;
    std::string content_type;
    std::string authorization;  ///< the header's value
    std::string remote_user;    ///< X-Remote-User: believed only from a permitted peer
    std::string if_none_match;
    bool takes_gzip = false;
    std::optional<uid_t> peer;  ///< who connected to a Unix socket; nullopt for TCP
};

struct HttpAnswer {
    int status = 200;
    std::string type = "application/json";
    /// None: the status has no body (304), or nobody knows its length (HEAD of a stream of events).
    std::shared_ptr<const std::string> body;
    bool is_gzip = false;
    std::string etag;   ///< empty: must not be cached
    std::string allow;  ///< of 405: the methods that the address takes (RFC 9110, 15.5.6)

    static HttpAnswer of(int status, std::string text, std::string type = "application/json") {
        HttpAnswer answer;
        answer.status = status;
        answer.type = std::move(type);
        answer.body = std::make_shared<const std::string>(std::move(text));
        return answer;
    }
};

/// The decoded value of "name" in "a=1&name=%C6%92"; nullopt if it is not there, or is not well formed.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace weir::cmd
