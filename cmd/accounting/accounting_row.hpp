// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what every row of flux-accounting's tables has: whether it is active, and columns that a share tree has no
// place for. Must not know: one table or the other.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cmd/accounting/csv.hpp"

namespace weir::cmd {

inline constexpr const char* bank_table = "bank_table.csv";
inline constexpr const char* association_table = "association_table.csv";

Error table_error(const std::string& sentence);
std::string in_quotes(const std::string& name);

/// A column that a share tree has no place for.
struct DroppedColumn {
    const char* name;
    std::vector<std::string_view> nothing;  ///< its values that say nothing
    const char* meaning;
};
/// Says that the column is left out, where this row has something in it, once for all rows.
void note_dropped(const CsvRow& row, const DroppedColumn& column, std::vector<std::string>& left_out);
/// If it is not active, that `what` is left out.
bool is_active(const CsvRow& row, const std::string& what, std::vector<std::string>& left_out);

}  // namespace weir::cmd
