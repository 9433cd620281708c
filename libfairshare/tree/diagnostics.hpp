// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the errors in a text that an operator wrote, with positions and hints.
// Must not know: share trees, TOML, JSON.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Position in a text, both from 1, columns in characters (UTF-8 code points). 0 means "not from a text".
struct SourcePosition {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

/// One error. `hint` says what would be right and may be empty.
struct Diagnostic {
    std::string file;
    SourcePosition position;
    std::string message;
    std::string hint;
};

/// All errors of one text; sort_by_position() sorts them.
using Diagnostics = std::vector<Diagnostic>;

/// "shares.toml:3:1: message; hint". Without a position the file alone, without a file the message alone.
std::string to_string(const Diagnostic& diagnostic);
/// One line for each error, without a newline at the end.
std::string to_string(const Diagnostics& diagnostics);
/// By line, then column, then message.
void sort_by_position(Diagnostics& diagnostics);

/// In double quotes, as messages show parts of a text.
inline std::string quoted(std::string_view text) {
    return '"' + std::string{text} + '"';
}

}  // namespace weir
