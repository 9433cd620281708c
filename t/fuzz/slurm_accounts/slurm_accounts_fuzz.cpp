// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for any text that claims to be a file of sacctmgr dump.
#include <cstdint>
#include <string_view>

#include "cmd/accounting/slurm_accounts.hpp"
#include "libfairshare/base/check.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"

using namespace weir;
using namespace weir::cmd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = read_slurm_accounts({reinterpret_cast<const char*>(data), size}, "any.cfg");
    if (!read) {
        WEIR_CHECK(read.error().message.starts_with("any.cfg:"));
        return 0;
    }
    for (const std::string& line : read->left_out) {
        WEIR_CHECK(line.starts_with("any.cfg:"));
    }
    const auto again = parse_share_tree(write_share_tree(read->tree));
    WEIR_CHECK(std::holds_alternative<ShareTree>(again));
    WEIR_CHECK(diff_trees(read->tree, std::get<ShareTree>(again)).empty());
    return 0;
}
