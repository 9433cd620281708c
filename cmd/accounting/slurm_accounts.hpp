// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the accounts of a Slurm cluster, as `sacctmgr dump` writes them, as a share tree. Must not know: instances,
// files. Source: Slurm 25.11: sacctmgr(1), resource_limits.html; shares and NormShares of a real slurmctld's sshare.
#pragma once
#include <string>
#include <string_view>

#include "cmd/accounting/imported_tree.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// Each account is a node below its parent, each association a user's line; that for one partition is "@alice:debug".
/// The account root is the tree's root, so that its user root competes with the uppermost accounts, as in Slurm. Names
/// of accounts are in small letters. FairShare is 1 where it is missing; the dump writes `parent` as 2147483647. A
/// user with lines in several accounts has his DefaultAccount marked; the last one in the file holds, and without any
/// the account of his first line, as for `sacctmgr load`.
/// GrpJobs, GrpSubmitJobs and GrpTRES=cpu are limits of the node. MaxJobs, MaxSubmitJobs and MaxWall hold for each
/// association alone, and one without such a limit inherits that of the nearest account above, or of the cluster:
/// they are on the users' lines.
/// Left out, and named: all other keys but descriptions, QOS, limits of the group of all accounts, limits that no user
/// inherits. Equal keys with equal values are named once.
/// Errors: EINVAL with a sentence that names file and line.
Result<ImportedTree> read_slurm_accounts(std::string_view text, const std::string& file);

}  // namespace weir::cmd
