// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see accounting_row.hpp.
#include "cmd/accounting/accounting_row.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"

namespace weir::cmd {

Error table_error(const std::string& sentence) {
    return Error{std::errc::invalid_argument, sentence};
}

std::string in_quotes(const std::string& name) {
    return "\"" + printable(name) + "\"";
}

void note_dropped(const CsvRow& row, const DroppedColumn& column, std::vector<std::string>& left_out) {
    const std::string value = row.text(column.name);
    const bool says_something = std::find(column.nothing.begin(), column.nothing.end(), value) == column.nothing.end();
    if (says_something && std::find(left_out.begin(), left_out.end(), column.meaning) == left_out.end()) {
        left_out.emplace_back(column.meaning);
    }
}

bool is_active(const CsvRow& row, const std::string& what, std::vector<std::string>& left_out) {
    const bool is = row.text("active") != "0";
    if (!is) {
        left_out.push_back(what + " is not active");
    }
    return is;
}

}  // namespace weir::cmd
