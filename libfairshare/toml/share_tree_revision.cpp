// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_revision.hpp.
#include "libfairshare/toml/share_tree_revision.hpp"

#include <charconv>

namespace weir {
namespace {

constexpr std::string_view before = "# Revision ";
constexpr std::string_view leading_mark = "\xef\xbb\xbf";
constexpr std::string_view after =
    " of the share tree; `weir share apply` refuses this text once there is a newer one.";

}  // namespace

std::string with_revision(std::string_view text, std::int64_t revision) {
    text.remove_prefix(text.starts_with(leading_mark) ? leading_mark.size() : 0);
    return std::string(before) + std::to_string(revision) + std::string(after) + "\n" + std::string(text);
}

RevisedText split_revision(std::string_view text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    std::int64_t revision = -1;
    if (line.starts_with(before) && line.ends_with(after)) {
        const char* const stop = line.data() + line.size() - after.size();
        const auto read = std::from_chars(line.data() + before.size(), stop, revision);
        revision = read.ec == std::errc{} && read.ptr == stop ? revision : -1;
    }
    if (revision < 0) {
        return {std::nullopt, std::string(text)};
    }
    return {revision, std::string(end == std::string_view::npos ? std::string_view{} : text.substr(end + 1))};
}

}  // namespace weir
