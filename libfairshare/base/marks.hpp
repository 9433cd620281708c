// SPDX-License-Identifier: LGPL-3.0-only
// Owns: {{NAME}} in a text. Must not know which names there are. Source: flux-submit(1), "MUSTACHE TEMPLATES".
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

/// Names, and what {{NAME}} stands for.
using Marks = std::vector<std::pair<std::string, std::string>>;

/// The text with each {{NAME}} replaced. Unknown names stay as they are, and so does a {{NAME}} in what another one
/// stands for. O(length x marks).
std::string filled_in(std::string_view text, const Marks& marks);

}  // namespace weir
