// SPDX-License-Identifier: LGPL-3.0-only
// Owns: parsing of weir-broker's command line. Must not know what the options do.
#include "broker/core/options.hpp"

#include <charconv>
#include <cstddef>
#include <string_view>

namespace weir::broker {
namespace {

/// Takes `--name=VALUE`, `--name VALUE`, `-nVALUE` or `-n VALUE`, moving `i` behind the value.
bool take_value(const std::vector<std::string>& in, std::size_t& i, std::string_view name, std::string& value) {
    const std::string_view word = in[i];
    if (word == name) {
        if (i + 1 >= in.size()) {
            return false;
        }
        value = in[++i];
        return true;
    }
    const bool is_short = name.size() == 2;
    const std::string head = is_short ? std::string(name) : std::string(name) + "=";
    if (word.substr(0, head.size()) != head) {
        return false;
    }
    value = word.substr(head.size());
    return true;
}

Error bad(std::string what) {
    return {std::errc::invalid_argument, std::move(what) + "; see weir-broker --help"};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& in) {
    Options options;
    std::string value;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (in[i] == "-h" || in[i] == "--help") {
            options.wants_help = true;
        } else if (in[i] == "-V" || in[i] == "--version") {
            options.wants_version = true;
        } else if (take_value(in, i, "-c", value) || take_value(in, i, "--config", value)) {
            options.configs.push_back({value, false});
        } else if (take_value(in, i, "--inherit", value)) {
            options.configs.push_back({value, true});
        } else if (take_value(in, i, "-S", value) || take_value(in, i, "--setattr", value)) {
            const auto equals = value.find('=');
            if (equals == std::string::npos || equals == 0) {
                return bad("-S " + value + ": write -S attribute=value");
            }
            options.attributes.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        } else if (take_value(in, i, "--rundir", value)) {
            options.rundir = value;
        } else if (take_value(in, i, "--ready-fd", value)) {
            const auto end = value.data() + value.size();
            const auto [stop, failed] = std::from_chars(value.data(), end, options.ready_fd);
            if (failed != std::errc() || stop != end || options.ready_fd < 0) {
                return bad("--ready-fd " + value + ": write the number of an open file descriptor");
            }
        } else {
            return bad("argument '" + in[i] + "' is unknown or lacks its value");
        }
    }
    return options;
}

std::string usage() {
    return "usage: weir-broker [OPTIONS]\n"
           "Runs one instance on this node until SIGTERM, SIGINT or the request broker.shutdown.\n"
           "  -c, --config FILE      read configuration (TOML; a directory means its *.toml); may be repeated\n"
           "      --inherit FILE     read from this file what a partition shares with its parent: [weir] without "
           "route, state and parent-factors, [exec]\n"
           "  -S, --setattr A=VALUE  set broker attribute A; may be repeated\n"
           "      --rundir DIR       directory of the socket local-0; made if missing, default a fresh one in TMPDIR\n"
           "      --ready-fd N       write the instance's URI and a newline to file descriptor N when all modules run\n"
           "  -V, --version          print the version\n"
           "  -h, --help             print this\n";
}

}  // namespace weir::broker
