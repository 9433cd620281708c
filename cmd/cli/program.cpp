// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see program.hpp.
#include "cmd/cli/program.hpp"

#include <poll.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "cmd/cli/help.hpp"
#include "cmd/cli/parse.hpp"

namespace weir::cmd {
namespace {

/// Whether the reader of stdout has closed it, as `head` does once it has its lines.
bool is_reader_gone() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/// The command's exit code, if its output was written or its reader has closed.
int flushed(const Context& context, Exit code) {
    const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!is_written && code == Exit::ok && !is_reader_gone()) {
        return static_cast<int>(context.fail(Exit::failed, "cannot write the output."));
    }
    return static_cast<int>(code);
}

int run_words(const std::vector<std::string>& words, const std::vector<Command>& table) {
    Context context;
    context.words = words;
    context.out = screen_of(stream_facts(1));
    context.err = screen_of(stream_facts(2));
    context.table = &table;
    auto request = parse(words, table);
    if (!request) {
        return static_cast<int>(context.fail(Exit::usage, request.error().message));
    }
    if (request->what == Request::What::help) {
        context.print(request->command != nullptr ? command_help(*request->command)
                      : !request->group.empty()   ? group_help(request->group, table)
                                                  : overview(table));
        return flushed(context, Exit::ok);
    }
    context.args = std::move(request->args);
    context.uri = context.args.text("uri");
    context.json = context.args.has("json");
    return flushed(context, request->command->run(context));
}

}  // namespace

int run_program(const std::vector<std::string>& words, const std::vector<Command>& table) {
    std::setlocale(LC_CTYPE, "");  // for the ƒ of job ids; numbers stay as they are
    std::signal(
        SIGPIPE,
        SIG_IGN);  // a write reports it: the end of an instance is an error, that of a reader such as `head` is not
    try {
        return run_words(words, table);
    } catch (const std::bad_alloc&) {
        std::fputs("weir: there is not enough memory for this (ulimit -v tells its limit).\n", stderr);
        return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "weir: %s\n", e.what());
        return 1;
    }
}

}  // namespace weir::cmd
