// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir serve`: the options of the page's server, and its life until Ctrl-C.
#include <pwd.h>
#include <unistd.h>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/serve/comparison_part.hpp"
#include "cmd/serve/server.hpp"

namespace weir::cmd {
namespace {

constexpr int default_port = 8917;

Result<ServeOptions> serve_options(const Args& args) {
    ServeOptions options;
    options.may_edit = args.has("edit");
    options.socket = args.text("socket");
    options.host = args.text("listen", "127.0.0.1");
    options.port = static_cast<int>(args.integer("port", default_port));
    if (args.has("compare")) {
        const auto part = comparison_part(args.text("compare"));
        if (!part) {
            return part.error();
        }
        options.comparison = *part;
    }
    if (args.has("cert") != args.has("key")) {
        return Error{std::errc::invalid_argument, "--cert and --key go together"};
    }
    if (args.has("cert")) {
        options.tls = TlsFiles{args.text("cert"), args.text("key")};
    }
    if (args.has("proxy-user")) {
        const passwd* entry = getpwnam(args.text("proxy-user").c_str());
        if (entry == nullptr || !args.has("socket")) {
            return Error{std::errc::invalid_argument,
                         entry == nullptr ? "there is no user " + args.text("proxy-user") + " on this machine"
                                          : "--proxy-user is the user who connects to a --socket"};
        }
        options.proxy = entry->pw_uid;
    }
    if (!args.has("socket") && options.host != "127.0.0.1" && options.host != "localhost" && options.host != "::1" &&
        !options.tls) {
        return Error{std::errc::invalid_argument,
                     "other machines reach " + options.host +
                         ": the token would cross the network in the clear. Give --cert and --key, or listen on a "
                         "--socket behind a proxy that has TLS"};
    }
    return options;
}

Exit run_serve(Context& context) {
    auto options = serve_options(context.args);
    if (!options) {
        return context.fail(Exit::usage, options.error().message);
    }
    options->uri = context.uri;
    const auto done = serve(*options, [&](const ServeAddress& address) {
        Json answer = Json::object();
        answer.set("listens", address.listens).set("url", address.url).set("may_edit", options->may_edit);
        context.print(context.json          ? json_text("weir.serve/1", answer)
                      : address.url.empty() ? "weir serves its page at the socket " + address.listens + "\n"
                                            : "weir serves its page at " + address.listens +
                                                  ". Open this address, and keep it secret:\n  " + address.url + "\n");
        (void)std::fflush(stdout);
    });
    return done ? Exit::ok : context.fail(done.error());
}

}  // namespace

Command serve_command() {
    Command command;
    command.name = "serve";
    command.summary = "a live page of shares, queue and instances for a browser";
    command.examples = {
        "weir serve  # prints the page's address, which holds a token; Ctrl-C ends it",
        "weir serve --socket /run/weir/page.sock --proxy-user www-data  # behind nginx, which names the users",
        "weir serve --listen 0.0.0.0 --cert host.pem --key host.key  # over the network, by TLS"};
    command.options = {{"port", 'p', "N", "TCP port (default 8917; 0: any free one)", Kind::integer, 0, 65535},
                       {"listen", 0, "ADDRESS", "address to listen at (default 127.0.0.1); others need TLS"},
                       {"cert", 0, "FILE", "TLS certificate, PEM"},
                       {"key", 0, "FILE", "its key, PEM"},
                       {"socket", 's', "PATH", "listen on a Unix socket instead; the peer's user is checked"},
                       {"proxy-user", 0, "NAME", "whose X-Remote-User is believed on the socket"},
                       {"compare", 0, "FILE", "also show what policies do on one log: the JSON of weir sim compare"},
                       {"edit", 0, "", "allow changes of the share tree from the page", Kind::flag}};
    command.run = run_serve;
    return command;
}

}  // namespace weir::cmd
