// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as the body of a POST to weir serve, and as the query of an address: what is accepted is within its bounds,
// and what is refused is refused with a sentence.
#include <cstdint>
#include <string>

#include "cmd/serve/http.hpp"
#include "cmd/serve/open_wish.hpp"
#include "cmd/serve/share_edit.hpp"
#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/share_tree.hpp"

using namespace weir;
using namespace weir::cmd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string body(reinterpret_cast<const char*>(data), size);
    if (const auto edit = share_edit_from(body)) {
        WEIR_CHECK(edit->is_undo ||
                   (!edit->path.empty() && edit->shares >= 0 && edit->shares <= ShareTree::shares_max));
        WEIR_CHECK(edit->reason.size() <= 500 && edit->author.empty());
    } else {
        WEIR_CHECK(!edit.error().message.empty());
    }
    if (const auto wish = open_wish_from(body)) {
        WEIR_CHECK(wish->opened.paths.size() <= opened_max && wish->opened.search.size() <= search_bytes_max);
        const TreeLevels levels(std::vector<ShareNode>(1));
        WEIR_CHECK(levels.places(std::vector<ShareNode>(1), wish->opened).size() == 1);
    } else {
        WEIR_CHECK(!wish.error().message.empty());
    }
    for (const char* name : {"in", "job", ""}) {
        const auto value = query_value(body, name);
        WEIR_CHECK(!value || value->size() <= size);
    }
    return 0;
}
