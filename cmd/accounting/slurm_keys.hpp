// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what each key of a Slurm account or user means for a share tree. Must not know: which account is where.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/accounting/sacctmgr_dump.hpp"
#include "libfairshare/tree/node_terms.hpp"

namespace weir::cmd {

/// A limit of each kind, at its LimitKind.
using LimitsByKind = std::array<std::optional<std::uint64_t>, limit_kinds>;

struct SlurmLimits {
    LimitsByKind values;
    std::vector<std::pair<std::size_t, std::string>> texts;  ///< of each that the line has: its kind, "GrpTRES=cpu=8"
};

/// A key that the tree has no place for.
struct SlurmRemark {
    std::string text;  ///< "MaxTRESPerJob=node=2"
    std::string why;   ///< may be empty
};

struct SlurmSettings {
    std::int64_t shares = 1;
    bool shares_parent = false;
    std::string default_account;  ///< in small letters
    std::string partition;
    SlurmLimits group;  ///< of the account or user and all below (Grp...)
    SlurmLimits own;    ///< of each association at or below it (Max...)
    std::vector<SlurmRemark> remarks;
};

/// A limit of -1 is none. Errors: EINVAL with file, line, value and what would be right.
Result<SlurmSettings> slurm_settings(const DumpLine& line, const std::string& file);

}  // namespace weir::cmd
