// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see memos.hpp.
#include "modules/common/memos.hpp"

namespace weir::flux {

std::vector<std::pair<std::uint64_t, std::string>> Memos::take(std::size_t count, const Reason& reason_of) {
    std::vector<std::pair<std::uint64_t, std::string>> memos;
    while (memos.size() < count && !dirty_.empty()) {
        const std::uint64_t id = *dirty_.begin();
        dirty_.erase(dirty_.begin());
        std::string text = reason_of(id);
        const bool was_told = told_.count(id) != 0;
        if (text.empty() && !was_told) {
            continue;
        }
        if (text.empty()) {
            told_.erase(id);
        } else {
            told_.insert(id);
        }
        memos.emplace_back(id, std::move(text));
    }
    return memos;
}

}  // namespace weir::flux
