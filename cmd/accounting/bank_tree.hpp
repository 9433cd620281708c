// SPDX-License-Identifier: LGPL-3.0-only
// Owns: bank_table.csv as a tree of banks. Must not know: users, share trees.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// A bank, from its row, and what stands below it.
struct Bank {
    std::string name;
    std::string parent;  ///< empty: it is the uppermost one, our root
    std::int64_t shares = 1;
    std::size_t line = 0;
    bool is_active = true;           ///< and all banks above it
    bool is_reached = false;         ///< from above
    unsigned depth = 0;              ///< below the uppermost
    std::string path;                ///< as an account; empty: the uppermost, or not active
    std::vector<std::size_t> banks;  ///< below it
};

struct BankTree {
    std::vector<Bank> banks;                     ///< in the table's order
    std::map<std::string, std::size_t> by_name;  ///< an active one before inactive ones
};

/// Banks below an inactive one are not active either; `left_out` says so. Errors: EINVAL with a sentence that names the
/// line: two banks of one name, two without a parent_bank, a parent_bank without a row, a cycle, more than 64 levels, a
/// name that an account cannot have.
Result<BankTree> read_bank_table(const std::string& text, std::vector<std::string>& left_out);

/// The path of what stands below a path, which is empty for the root.
std::string path_below(const std::string& path, const std::string& name);

}  // namespace weir::cmd
