// SPDX-License-Identifier: LGPL-3.0-only
// Owns: keys from the bytes that a terminal sends: ECMA-48 and VT sequences of cursor keys. Pure. Must not know what a
// key does.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::cmd {

enum class KeyName { character, up, down, left, right, page_up, page_down, home, end, enter, tab, backspace, escape };
struct Key {
    KeyName name = KeyName::character;
    std::string text;  ///< of a character: its UTF-8
};

class KeyReader {
  public:
    void add(std::string_view bytes) { bytes_ += bytes; }
    /// The next whole key; none where more bytes are needed. Sequences of no known key are dropped.
    std::optional<Key> next();
    /// Whether an escape is there that is either the key or the beginning of a sequence.
    bool is_undecided() const { return !bytes_.empty(); }
    /// No further byte has arrived for a while: the pending byte is the key Escape.
    Key decide();

  private:
    std::optional<Key> sequence();
    std::string bytes_;
};

}  // namespace weir::cmd
