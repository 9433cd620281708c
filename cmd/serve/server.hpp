// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the life of the page's server: its loop, sockets, thread and end. Must not know a command line.
#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "cmd/serve/http_server.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

struct ServeOptions {
    std::string uri;  ///< of the instance; empty: the default one
    std::string host = "127.0.0.1";
    int port = 0;  ///< 0: any
    std::optional<TlsFiles> tls;
    std::string socket;          ///< a path: instead of TCP
    std::optional<uid_t> proxy;  ///< whose X-Remote-User is believed on the socket
    bool may_edit = false;
    std::string comparison;  ///< HTML that the page shows; empty: none
};
struct ServeAddress {
    std::string listens;  ///< "127.0.0.1:8917", or the socket's path
    std::string url;      ///< with the token; empty for a socket
};

/// Serves until SIGINT, SIGTERM, SIGQUIT or SIGHUP. `told` is called once, when connections are accepted. Errors: no
/// instance, no permission, an address in use.
Status serve(const ServeOptions& options, const std::function<void(const ServeAddress&)>& told);

}  // namespace weir::cmd
