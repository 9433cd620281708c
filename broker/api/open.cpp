// SPDX-License-Identifier: LGPL-3.0-only
// Owns: flux_open: from a URI to a handle. Schemes: local://PATH; "..", "." and "/" name instances relative to
// $FLUX_URI (flux_open(3)). Must not know what a handle does.
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "broker/api/handle.hpp"

namespace {

using weir::Error;
using weir::Result;
using Opened = Result<flux_t*>;

constexpr int flags_known = FLUX_O_TRACE | FLUX_O_CLONE | FLUX_O_NONBLOCK | FLUX_O_MATCHDEBUG | FLUX_O_TEST_NOSUB |
                            FLUX_O_RPCTRACK | FLUX_O_NOREQUEUE;

/// FLUX_HANDLE_USERID and FLUX_HANDLE_ROLEMASK: credentials for tests, honoured for the instance owner.
std::optional<flux_msg_cred> stamp_from_environment() {
    const char* userid = std::getenv("FLUX_HANDLE_USERID");
    const char* rolemask = std::getenv("FLUX_HANDLE_ROLEMASK");
    if (userid == nullptr && rolemask == nullptr) {
        return std::nullopt;
    }
    flux_msg_cred cred{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
    if (userid != nullptr) {
        cred.userid = static_cast<uint32_t>(std::strtoul(userid, nullptr, 10));
    }
    if (rolemask != nullptr) {
        cred.rolemask = static_cast<uint32_t>(std::strtoul(rolemask, nullptr, 0));
    }
    return cred;
}

Opened open_uri(std::string_view uri, int flags) {
    constexpr std::string_view scheme = "local://";
    while (!uri.empty() && (uri.back() == ' ' || uri.back() == '\t')) {
        uri.remove_suffix(1);
    }
    if (uri.substr(0, scheme.size()) != scheme) {
        const std::string name(uri.substr(0, uri.find("://")));
        return Error{std::errc::no_such_file_or_directory,
                     "Unable to find connector name '" + name + "'; use local://PATH"};
    }
    auto connector = weir::broker::connect_local(std::string(uri.substr(scheme.size())), stamp_from_environment());
    if (!connector) {
        return connector.error();
    }
    return weir::broker::handle_create(std::move(connector).value(), flags);
}

Opened open_default(int flags) {
    const char* uri = std::getenv("FLUX_URI");
    if (uri == nullptr || *uri == '\0') {
        return Error{std::errc::no_such_file_or_directory, "FLUX_URI is not set: give a URI or run inside an instance"};
    }
    return open_uri(uri, flags);
}

/// Instances to climb for "..", "../..", "." ; -1: to the root ("/"). EINVAL for anything else.
Result<int> levels_up(std::string_view path) {
    if (path == "/") {
        return -1;
    }
    int levels = 0;
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        const auto element = path.substr(begin, end - begin);
        if (element == "..") {
            ++levels;
        } else if (element != "." && !element.empty()) {
            return Error{std::errc::invalid_argument,
                         std::string(path) + ": invalid URI path element '" + std::string(element) + "'"};
        }
        begin = end + 1;
    }
    return path.front() == '/' ? Result<int>(Error{std::errc::invalid_argument, std::string(path) + ": invalid URI"})
                               : Result<int>(levels);
}

Opened open_ancestor(std::string_view path, int flags) {
    const auto levels = levels_up(path);
    if (!levels) {
        return levels.error();
    }
    auto opened = open_default(flags);
    for (int i = 0; opened && i != *levels; ++i) {
        const char* level = flux_attr_get(*opened, "instance-level");
        if (level != nullptr && std::strtol(level, nullptr, 10) <= 0) {
            break;  // the root has no parent
        }
        const char* parent = flux_attr_get(*opened, "parent-uri");
        const std::string uri = parent != nullptr ? parent : "";
        flux_close(*opened);
        if (uri.empty()) {
            return Error{std::errc::no_such_file_or_directory, "the instance does not name its parent"};
        }
        opened = open_uri(uri, flags);
    }
    return opened;
}

}  // namespace

extern "C" {

flux_t* flux_open_ex(const char* uri, int flags, flux_error_t* error) {
    if (error != nullptr) {
        error->text[0] = '\0';
    }
    Opened opened = Error{std::errc::invalid_argument, "invalid flags specified"};
    if ((flags & ~flags_known) == 0) {
        if (std::getenv("FLUX_HANDLE_TRACE") != nullptr) {
            flags |= FLUX_O_TRACE;
        }
        const bool is_path = uri != nullptr && (uri[0] == '.' || uri[0] == '/');
        opened = uri == nullptr ? open_default(flags) : is_path ? open_ancestor(uri, flags) : open_uri(uri, flags);
    }
    if (!opened) {
        if (error != nullptr) {
            snprintf(error->text, sizeof error->text, "%s", opened.error().message.c_str());
        }
        errno = static_cast<int>(opened.error().code);
        return nullptr;
    }
    return *opened;
}

flux_t* flux_open(const char* uri, int flags) {
    return flux_open_ex(uri, flags, nullptr);
}

}  // extern "C"
