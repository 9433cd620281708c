// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a share tree as the tables of flux-accounting's database, in the CSV form that `flux account export-db` writes
// and `flux account pop-db -c` reads; both directions. Must not know: instances, files.
// Source: flux-accounting 0.60, schema 38: bank_table and association_table; RFC 4180.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/accounting/imported_tree.hpp"
#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::cmd {

/// The two tables, and the facts that the other format cannot hold.
struct FluxAccountingTables {
    std::string banks;         ///< bank_table.csv
    std::string associations;  ///< association_table.csv
    std::vector<std::string> left_out;
};

/// A node without a limit gets flux-accounting's value for "no limit", not its default limits. Where the tree has
/// projects, each user's row has those that hold for him. A user who may name any project gets "*", which stands for
/// none. Errors: EINVAL with a sentence, where two accounts have the same name or an account is called root:
/// flux-accounting identifies banks by their names alone.
/// \param userid the id of a user's name; without a value the user is unknown and gets flux-accounting's own default id
Result<FluxAccountingTables> flux_accounting_tables(
    const ShareTree& tree, const std::function<std::optional<std::uint32_t>(const std::string&)>& userid);

/// The inverse. It leaves out inactive rows, all that is in or below an inactive bank, the priorities of banks, the
/// queues of users and max_sched_jobs. A missing or empty column has flux-accounting's default. A user's default bank
/// is marked where the tree has another line of his first. A default bank that he has no row in is left out; where his
/// rows name several, the last row's holds, as in flux-accounting. Where any user has a project other than "*", each
/// user gets the list of his row. Errors: EINVAL with a sentence that names the table and the line.
Result<ImportedTree> read_flux_accounting(const std::string& banks, const std::string& associations);

}  // namespace weir::cmd
