// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see ssh_uri.hpp.
#include "cmd/common/ssh_uri.hpp"

namespace weir::cmd {

std::optional<SshUri> parse_ssh_uri(std::string_view uri) {
    constexpr std::string_view scheme = "ssh://";
    if (!uri.starts_with(scheme)) {
        return std::nullopt;
    }
    uri.remove_prefix(scheme.size());
    const std::size_t slash = uri.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view host = uri.substr(0, slash);
    host.remove_prefix(host.find('@') + 1);  // npos + 1 is 0
    host = host.substr(0, host.find(':'));
    const std::string_view path = uri.substr(slash, uri.find('?') - slash);
    return host.empty() || path.size() < 2 ? std::nullopt : std::optional(SshUri{std::string(host), std::string(path)});
}

bool is_same_host(std::string_view name, std::string_view own) {
    const bool is_short = name.find('.') == std::string_view::npos || own.find('.') == std::string_view::npos;
    return name == "localhost" || name == own ||
           (is_short && name.substr(0, name.find('.')) == own.substr(0, own.find('.')));
}

}  // namespace weir::cmd
