// SPDX-License-Identifier: LGPL-3.0-only
// Owns: J with mechanism "none".
// Must not know: jobs, flux_t. RFC 15.
#include "broker/services/job-manager/codecs/signed_jobspec.hpp"

#include <array>
#include <charconv>

namespace weir::broker::jobs {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> make_values() {
    std::array<signed char, 256> values{};
    for (auto& value : values) {
        value = -1;
    }
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<signed char>(i);
    }
    return values;
}
constexpr auto values_of = make_values();

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

Result<std::string> base64_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size() / 4 * 3);
    if (text.size() % 4 != 0) {
        return bad("base64 of a length that is no multiple of 4");
    }
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const bool is_last = i + 4 == text.size();
        const int padding = is_last ? (text[i + 3] == '=') + (text[i + 2] == '=' && text[i + 3] == '=') : 0;
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const int value =
                k >= 4 - static_cast<std::size_t>(padding) ? 0 : values_of[static_cast<unsigned char>(text[i + k])];
            if (value < 0) {
                return bad("a character that is not base64 at offset " + std::to_string(i + k));
            }
            bits = bits << 6 | static_cast<std::uint32_t>(value);
        }
        out += static_cast<char>(bits >> 16 & 255);
        if (padding < 2) {
            out += static_cast<char>(bits >> 8 & 255);
        }
        if (padding < 1) {
            out += static_cast<char>(bits & 255);
        }
    }
    return out;
}

std::string base64_encode(std::string_view bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += i + k <= bytes.size() ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
        }
    }
    return out;
}

Result<SignedJobspec> unwrap(std::string_view signed_text) {
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

std::string wrap(std::uint32_t userid, std::string_view jobspec) {
    std::string header;
    for (const std::string& field : {std::string("version"), std::string("i1"), std::string("userid"),
                                     "i" + std::to_string(userid), std::string("mechanism"), std::string("snone")}) {
        header += field;
        header += '\0';
    }
    return base64_encode(header) + "." + base64_encode(jobspec) + ".none";
}

}  // namespace weir::broker::jobs
