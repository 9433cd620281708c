// SPDX-License-Identifier: LGPL-3.0-only
// Owns: J with mechanism "none". RFC 15.
#include "libfairshare/base/signed_jobspec.hpp"

#include <charconv>

#include "libfairshare/base/base64.hpp"

namespace weir {
namespace {

Error bad(const std::string& what) {
    return Error{std::errc::invalid_argument, "could not unwrap jobspec: " + what};
}

/// The value of `key` in NUL-separated "key\0value\0..." pairs; empty when absent.
std::string_view header_value(std::string_view header, std::string_view key) {
    while (!header.empty()) {
        const std::size_t key_end = header.find('\0');
        if (key_end == std::string_view::npos) {
            return {};
        }
        const std::size_t value_end = header.find('\0', key_end + 1);
        if (value_end == std::string_view::npos) {
            return {};
        }
        if (header.substr(0, key_end) == key) {
            return header.substr(key_end + 1, value_end - key_end - 1);
        }
        header.remove_prefix(value_end + 1);
    }
    return {};
}

}  // namespace

Result<SignedJobspec> unwrap_signed(std::string_view signed_text) {
    const std::size_t first = signed_text.find('.');
    const std::size_t last = signed_text.rfind('.');
    if (first == std::string_view::npos || first == last) {
        return bad("J must be HEADER.PAYLOAD.SIGNATURE");
    }
    auto header = base64_decode(signed_text.substr(0, first));
    auto payload = base64_decode(signed_text.substr(first + 1, last - first - 1));
    if (!header) {
        return bad("header: " + header.error().message);
    }
    if (!payload) {
        return bad("payload: " + payload.error().message);
    }
    if (header_value(*header, "version") != "i1") {
        return bad("the header's version must be 1");
    }
    const std::string_view mechanism = header_value(*header, "mechanism");
    if (mechanism != "snone" || signed_text.substr(last + 1) != "none") {
        return bad("mechanism \"" + std::string(mechanism.substr(mechanism.empty() ? 0 : 1)) +
                   "\" is not supported here; sign with \"none\"");
    }
    const std::string_view userid = header_value(*header, "userid");
    SignedJobspec result;
    const char* end = userid.data() + userid.size();
    if (userid.size() < 2 || userid[0] != 'i' || std::from_chars(userid.data() + 1, end, result.userid).ptr != end) {
        return bad("the header's userid must be a non-negative integer");
    }
    while (!payload->empty() && payload->back() == '\0') {
        payload->pop_back();
    }
    result.jobspec = std::move(*payload);
    return result;
}

std::string sign_none(std::string_view jobspec, std::uint32_t userid) {
    using namespace std::string_literals;
    const std::string header = "version\0i1\0userid\0i"s + std::to_string(userid) + "\0mechanism\0snone\0"s;
    return base64_encode(header) + "." + base64_encode(jobspec) + ".none";
}

}  // namespace weir
