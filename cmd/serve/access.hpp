// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the user of a request: the rules for requests over TCP and over a Unix socket. Pure. Must not know what is
// requested.
#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "cmd/serve/http.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// The settings of the server.
struct AccessRules {
    uid_t server = 0;            ///< the user who runs it
    std::string token;           ///< what a client over TCP must show; never empty if there is such a socket
    std::optional<uid_t> proxy;  ///< whose X-Remote-User is believed over the Unix socket, beside the server's own user
};

/// 256 random bits as 43 characters that stand in a URL as they are.
std::string new_token();
/// Takes the same time for every text of the same length, so that a token cannot be guessed letter by letter.
bool is_same_secret(const std::string& given, const std::string& secret);
/// Whether a connection to the Unix socket is accepted.
bool is_peer_let_in(const AccessRules& rules, uid_t peer);
/// The user for whom the request is answered. `id_of` looks a name up. Errors: operation_not_permitted for a token that
/// is missing or wrong; permission_denied for a peer or a name that is not believed.
Result<uid_t> asker_of(const AccessRules& rules, const HttpRequest& request,
                       const std::function<Result<std::uint32_t>(const std::string&)>& id_of);

}  // namespace weir::cmd
