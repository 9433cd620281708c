// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see open_wish.hpp.
#include "cmd/serve/open_wish.hpp"

#include "cmd/common/reader.hpp"

namespace weir::cmd {

Result<OpenWish> open_wish_from(const std::string& json) {
    const auto read = Json::parse(json);
    if (!read || !json_is_object(read->get())) {
        return Error{std::errc::invalid_argument, "send a JSON object"};
    }
    OpenWish wish;
    wish.viewer = id_at(read->get(), "viewer");
    wish.opened.is_all = json_is_true(json_object_get(read->get(), "all"));
    wish.opened.search = text_at(read->get(), "search").substr(0, search_bytes_max);
    for (const json_t* path : items_at(read->get(), "open")) {
        if (json_is_string(path) && wish.opened.paths.size() < opened_max) {
            wish.opened.paths.insert(json_string_value(path));
        }
    }
    return wish;
}

}  // namespace weir::cmd
