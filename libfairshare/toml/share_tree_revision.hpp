// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the line in an exported share tree that names its revision, so that an edited text is refused if the tree has
// changed meanwhile. Must not know: the tree's lines, files, who changed what.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// The text with a first line that carries the revision. Without a byte order mark, which is valid only at the begin of
/// a text. REQUIRES: revision >= 0.
std::string with_revision(std::string_view text, std::int64_t revision);

/// A text without its revision line, all other bytes unchanged.
struct RevisedText {
    std::optional<std::int64_t> revision;  ///< none: the text was not exported, or the line was removed
    std::string text;
};
RevisedText split_revision(std::string_view text);

}  // namespace weir
