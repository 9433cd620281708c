// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for every text that claims to be a share tree in JSON, however broken.
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libfairshare/json/share_tree_json.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"

using namespace weir;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto parsed = parse_share_tree_json(text);
    if (const auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        WEIR_CHECK(!diagnostics->empty());
        for (const Diagnostic& diagnostic : *diagnostics) {
            WEIR_CHECK(!diagnostic.message.empty());
            WEIR_CHECK(diagnostic.position.line > 0 && diagnostic.position.column > 0);
        }
        return 0;
    }
    const auto& tree = std::get<ShareTree>(parsed);
    const std::string canonical = write_share_tree_json(tree);
    const auto again = parse_share_tree_json(canonical);
    WEIR_CHECK(std::holds_alternative<ShareTree>(again));
    WEIR_CHECK(diff_trees(tree, std::get<ShareTree>(again)).empty());
    WEIR_CHECK(write_share_tree_json(std::get<ShareTree>(again)) == canonical);
    const auto as_toml = parse_share_tree(write_share_tree(tree));
    WEIR_CHECK(std::holds_alternative<ShareTree>(as_toml));
    WEIR_CHECK(write_share_tree_json(std::get<ShareTree>(as_toml)) == canonical);
    return 0;
}
