// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see marks.hpp.
#include "libfairshare/base/marks.hpp"

#include <algorithm>

namespace weir {
namespace {

constexpr std::string_view mark_begin = "{{";
constexpr std::string_view mark_end = "}}";

}  // namespace

std::string filled_in(std::string_view text, const Marks& marks) {
    std::string out;
    for (;;) {
        const std::size_t begin = text.find(mark_begin);
        out += text.substr(0, begin);
        if (begin == std::string_view::npos) {
            return out;
        }
        text.remove_prefix(begin + 1);
        const std::string_view inside = text.substr(1);
        const auto mark = std::find_if(marks.begin(), marks.end(), [inside](const auto& one) {
            return inside.starts_with(one.first) && inside.substr(one.first.size()).starts_with(mark_end);
        });
        if (mark == marks.end()) {
            out += mark_begin.front();
            continue;
        }
        out += mark->second;
        text = inside.substr(mark->first.size() + mark_end.size());
    }
}

}  // namespace weir
