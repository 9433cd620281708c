// SPDX-License-Identifier: LGPL-3.0-only
// Owns: URIs of instances that a stock Flux publishes for other hosts, "ssh://HOST/SOCKET". Must not open anything.
// Source: flux-uri(1).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::cmd {

struct SshUri {
    std::string host;  ///< without user and port
    std::string path;  ///< of the socket on that host
};
/// Nothing for another scheme, and where host or path is missing.
std::optional<SshUri> parse_ssh_uri(std::string_view uri);

/// Whether a host's name is this one's, `own`, or "localhost". Where one of the two has no domain the first labels
/// count.
bool is_same_host(std::string_view name, std::string_view own);

}  // namespace weir::cmd
