// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the line that says of an exported share tree which revision it was, so that whoever brings it back edited is
// told when the tree has changed meanwhile. Must not know: the tree's lines, files, who changed what. doc/adr/0196.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// The text with a first line that carries the revision. REQUIRES: revision >= 0.
std::string with_revision(std::string_view text, std::int64_t revision);

/// A text with its line taken off, all other bytes as they were.
struct RevisedText {
    std::optional<std::int64_t> revision;  ///< none: the text was not exported, or somebody took the line away
    std::string text;
};
RevisedText split_revision(std::string_view text);

}  // namespace weir
