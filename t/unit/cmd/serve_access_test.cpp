// SPDX-License-Identifier: LGPL-3.0-only
// Who is admitted by weir serve, and what a query says.
#include <catch2/catch.hpp>

#include "cmd/serve/access.hpp"

namespace weir::cmd {
namespace {

Result<std::uint32_t> alice_alone(const std::string& name) {
    return name == "alice" ? Result<std::uint32_t>(5001U) : Error{std::errc::no_such_file_or_directory, "no " + name};
}

std::optional<uid_t> asker(const AccessRules& rules, const HttpRequest& request) {
    const auto found = asker_of(rules, request, alice_alone);
    return found ? std::optional<uid_t>(*found) : std::nullopt;
}

HttpRequest with_token(const std::string& authorization) {
    HttpRequest request;
    request.authorization = authorization;
    return request;
}

HttpRequest of_peer(uid_t peer, const std::string& remote_user) {
    HttpRequest request;
    request.peer = peer;
    request.remote_user = remote_user;
    return request;
}

}  // namespace

TEST_CASE("access: tokens are long, differ, and stand in an address as they are") {
    const std::string token = new_token();
    CHECK(token.size() == 43);
    CHECK(token != new_token());
    CHECK(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string::npos);
}

TEST_CASE("access: over TCP only the token lets in, as who started the server") {
    const AccessRules rules{1000, "secret", std::nullopt};
    CHECK(asker(rules, with_token("Bearer secret")) == uid_t{1000});
    for (const char* wrong : {"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secret2", "bearer secret"}) {
        CHECK(!asker(rules, with_token(wrong)));
    }
    HttpRequest named = with_token("Bearer secret");
    named.remote_user = "alice";
    CHECK(asker(rules, named) == uid_t{1000});
}

TEST_CASE("access: without a token nobody is admitted over TCP") {
    CHECK(!asker({1000, "", std::nullopt}, with_token("Bearer ")));
}

TEST_CASE("access: a peer is the server's own user or the proxy, and only a proxy has to name a user") {
    const AccessRules rules{1000, "", uid_t{33}};
    CHECK(asker(rules, of_peer(1000, "")) == uid_t{1000});
    CHECK(asker(rules, of_peer(1000, "alice")) == uid_t{5001});
    CHECK(asker(rules, of_peer(33, "alice")) == uid_t{5001});
    CHECK(!asker(rules, of_peer(33, "")));
    CHECK(!asker(rules, of_peer(33, "mallory")));
    CHECK(!asker(rules, of_peer(34, "alice")));
    CHECK(!asker({1000, "", std::nullopt}, of_peer(33, "alice")));
}

TEST_CASE("query: values are decoded, and what is not well formed is no value") {
    CHECK(query_value("job=%C6%92A&x=1+2", "job") == "ƒA");
    CHECK(query_value("job=%C6%92A&x=1+2", "x") == "1 2");
    CHECK(query_value("a=&b", "a") == "");
    CHECK(query_value("a=&b", "b") == "");
    CHECK(!query_value("ab=1", "a"));
    CHECK(!query_value("a=%4", "a"));
    CHECK(!query_value("a=%zz", "a"));
    CHECK(!query_value("", "a"));
}

}  // namespace weir::cmd
