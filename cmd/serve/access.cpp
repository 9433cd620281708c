// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see access.hpp.
#include "cmd/serve/access.hpp"

#include <sodium.h>

#include <array>

namespace weir::cmd {

std::string new_token() {
    std::array<unsigned char, 32> bits{};
    randombytes_buf(bits.data(), bits.size());
    std::array<char, sodium_base64_ENCODED_LEN(32, sodium_base64_VARIANT_URLSAFE_NO_PADDING)> text{};
    sodium_bin2base64(text.data(), text.size(), bits.data(), bits.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return text.data();
}

bool is_same_secret(const std::string& given, const std::string& secret) {
    return !secret.empty() && given.size() == secret.size() &&
           sodium_memcmp(given.data(), secret.data(), secret.size()) == 0;
}

bool is_peer_let_in(const AccessRules& rules, uid_t peer) {
    return peer == rules.server || peer == rules.proxy;
}

Result<uid_t> asker_of(const AccessRules& rules, const HttpRequest& request,
                       const std::function<Result<std::uint32_t>(const std::string&)>& id_of) {
    if (!request.peer) {
        const std::string bearer = "Bearer ";
        const bool is_right = request.authorization.compare(0, bearer.size(), bearer) == 0 &&
                              is_same_secret(request.authorization.substr(bearer.size()), rules.token);
        return is_right ? Result<uid_t>(rules.server)
                        : Error{std::errc::operation_not_permitted,
                                "the token is missing or wrong: open the address that weir serve printed"};
    }
    if (!is_peer_let_in(rules, *request.peer)) {
        return Error{std::errc::permission_denied, "this user may not connect to the socket"};
    }
    if (request.remote_user.empty()) {
        return *request.peer == rules.server
                   ? Result<uid_t>(rules.server)
                   : Error{std::errc::permission_denied, "the proxy names no user: it must set X-Remote-User"};
    }
    const auto id = id_of(request.remote_user);
    return id ? Result<uid_t>(*id) : Error{std::errc::permission_denied, id.error().message};
}

}  // namespace weir::cmd
