// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rows of sshare, as data and as printed, against what the engine says of an association.
// Must not know how an answer is found.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "t/oracle/runner/slurm_tree.hpp"

namespace weir::oracle {

/// One row of `sshare -l`.
struct ShareRow {
    bool is_user = false;
    std::optional<std::int64_t> raw_shares;  ///< none: `parent`
    double raw_usage = 0;                    ///< sshare cuts it to an integer
    double norm_shares = 0;
    double effective_usage = 0, factor = 0;
    std::optional<double> norm_usage;  ///< none: not computed yet
    std::optional<double> level_fs;    ///< none: infinite, or the node's shares are its parent's
};
/// By "account" and "account/user", with "/partition" where there is one; of "root" the shares and the raw usage are
/// compared.
using ShareRows = std::map<std::string, ShareRow>;

/// What the algorithm makes of a tree. `usage`: every node's in integers of which `unit` are one of Slurm's;
/// raw_usage: of one node, in Slurm's unit.
struct Measured {
    std::vector<CoreMicros> usage;
    std::function<double(NodeId)> raw_usage;
};
ShareRows share_rows(const SlurmTree& made, const Algorithm& algorithm, const Measured& measured);
/// With the usage that the tree's file gives.
ShareRows share_rows(const SlurmTree& made, const Algorithm& algorithm);

/// A row {name, parent, is_user, raw_shares, norm_shares, raw_usage, norm_usage, effectv_usage, fs_factor, level_fs}.
void compare_share_data(Report& report, const Value* row, const ShareRows& rows, double tol, bool is_fair_tree);
/// The name in ShareRows that such a row has.
std::string share_name(const Value* row);
/// The lines of `sshare -l -P -a`, a header first. Cells that are blank are no figures, nor is TRESRunMins compared.
void compare_share_text(Report& report, const std::vector<std::string>& lines, const ShareRows& rows);

}  // namespace weir::oracle
