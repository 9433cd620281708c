// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for any two texts that claim to be tables of flux-accounting. The input is both, with a line "%"
// between them.
#include <cstdint>
#include <string>
#include <string_view>

#include "cmd/accounting/flux_accounting.hpp"
#include "libfairshare/base/check.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

std::optional<std::uint32_t> userid_5000(const std::string&) {
    return 5000;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view both{reinterpret_cast<const char*>(data), size};
    const std::size_t border = both.find("\n%\n");
    const std::string banks(both.substr(0, border == std::string_view::npos ? border : border + 1));
    const std::string associations(border == std::string_view::npos ? std::string_view{} : both.substr(border + 3));
    const auto read = read_flux_accounting(banks, associations);
    if (!read) {
        WEIR_CHECK(!read.error().message.empty());
        return 0;
    }
    const auto tables = flux_accounting_tables(read->tree, userid_5000);
    if (!tables) {  // a bank called root that is not the uppermost
        WEIR_CHECK(tables.error().message.find("called root") != std::string::npos);
        return 0;
    }
    const auto again = read_flux_accounting(tables->banks, tables->associations);
    WEIR_CHECK(again);
    WEIR_CHECK(diff_trees(read->tree, again->tree).empty());
    return 0;
}
