// SPDX-License-Identifier: LGPL-3.0-only
// Owns: coding of idsets and hostlists. Must not know resources.
#include "broker/services/idset.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weir::broker {
namespace {

constexpr std::size_t MEMBERS_MAX = 1u << 20;

Error bad(const char* kind, std::string_view text, const char* right) {
    return {std::errc::invalid_argument, std::string(kind) + " '" + std::string(text) + "': " + right};
}

std::optional<std::uint32_t> number(std::string_view digits) {
    std::uint32_t value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failed != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
        return std::nullopt;
    }
    return value;
}

/// The pieces of a comma-separated list; commas inside brackets do not separate.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> pieces;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            pieces.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        } else if (text[i] == '[') {
            ++depth;
        } else if (text[i] == ']') {
            --depth;
        }
    }
    return pieces;
}

struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::size_t width = 1;  // digits, zero padded
};

/// "3" or "3-7"; nothing if it is neither or far too long.
std::optional<Range> read_range(std::string_view text) {
    const auto dash = text.find('-');
    const std::string_view from = text.substr(0, dash);
    const auto first = number(from);
    const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= MEMBERS_MAX) {
        return std::nullopt;
    }
    return Range{*first, *last, from.size() > 1 && from[0] == '0' ? from.size() : 1};
}

std::string padded(std::uint32_t value, std::size_t width) {
    const std::string digits = std::to_string(value);
    return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// A host name taken apart before its last digits.
struct HostName {
    std::string head;
    std::optional<std::uint32_t> value;
    std::size_t width = 1;
};

HostName take_apart(const std::string& host) {
    std::size_t digits = host.size();
    while (digits > 0 && host[digits - 1] >= '0' && host[digits - 1] <= '9' && host.size() - digits < 9) {
        --digits;
    }
    const std::string_view tail = std::string_view(host).substr(digits);
    const auto value = number(tail);
    return {host.substr(0, digits), value, tail.size() > 1 && tail[0] == '0' ? tail.size() : 1};
}

}  // namespace

Result<Ids> decode_idset(std::string_view text) {
    std::string_view inner = text;
    if (inner.size() >= 2 && inner.front() == '[' && inner.back() == ']') {
        inner = inner.substr(1, inner.size() - 2);
    }
    Ids ids;
    if (inner.empty()) {
        return ids;
    }
    for (const std::string_view piece : split(inner)) {
        const auto range = read_range(piece);
        if (!range || ids.size() + (range->last - range->first) >= MEMBERS_MAX) {
            return bad("idset", text, "write numbers and ranges such as 0-3,7");
        }
        for (std::uint32_t id = range->first; id <= range->last; ++id) {
            ids.push_back(id);
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::string encode_idset(const Ids& ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size();) {
        std::size_t j = i;
        while (j + 1 < ids.size() && ids[j + 1] == ids[j] + 1) {
            ++j;
        }
        text += (text.empty() ? "" : ",") + std::to_string(ids[i]);
        if (j > i) {
            text += "-" + std::to_string(ids[j]);
        }
        i = j + 1;
    }
    return text;
}

Result<std::vector<std::string>> decode_hostlist(std::string_view text) {
    std::vector<std::string> hosts;
    for (const std::string_view piece : split(text)) {
        const auto open = piece.find('[');
        const auto close = piece.find(']');
        if (open == std::string_view::npos && close == std::string_view::npos && !piece.empty()) {
            hosts.emplace_back(piece);
            continue;
        }
        if (piece.empty() || open == std::string_view::npos || close == std::string_view::npos || close < open) {
            return bad("hostlist", text, "write names such as node[0-3],login");
        }
        for (const std::string_view part : split(piece.substr(open + 1, close - open - 1))) {
            const auto range = read_range(part);
            if (!range || hosts.size() + (range->last - range->first) >= MEMBERS_MAX) {
                return bad("hostlist", text, "write ranges such as node[0-3,7] in the brackets");
            }
            for (std::uint32_t id = range->first; id <= range->last; ++id) {
                hosts.push_back(std::string(piece.substr(0, open)) + padded(id, range->width) +
                                std::string(piece.substr(close + 1)));
            }
        }
    }
    return hosts;
}

std::string encode_hostlist(const std::vector<std::string>& hosts) {
    std::string text;
    for (std::size_t i = 0; i < hosts.size();) {
        const HostName first = take_apart(hosts[i]);
        std::string ranges;
        std::size_t j = i;  // behind what is folded with host i
        while (first.value && j < hosts.size()) {
            const HostName from = take_apart(hosts[j]);
            if (from.head != first.head || !from.value || from.width != first.width) {
                break;
            }
            std::size_t k = j;
            while (k + 1 < hosts.size() &&
                   hosts[k + 1] == first.head + padded(*from.value + (k + 1 - j), first.width)) {
                ++k;
            }
            ranges += (ranges.empty() ? "" : ",") + padded(*from.value, first.width);
            if (k > j) {
                ranges += "-" + padded(*from.value + (k - j), first.width);
            }
            j = k + 1;
        }
        text += text.empty() ? "" : ",";
        text += j > i + 1 ? first.head + "[" + ranges + "]" : hosts[i];
        i = std::max(j, i + 1);
    }
    return text;
}

}  // namespace weir::broker
