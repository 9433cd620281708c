// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HTCondor's group quotas in files: as maps by name, as an object for each group, as lines of configuration.
// Must not know the rules.
#pragma once
#include "t/oracle/runner/cases.hpp"

namespace weir::oracle {

bool has_condor_groups(const Case& one);
/// Inputs: quotas by name ("quota", "quota_dynamic", or GROUP_QUOTA_name, GROUP_QUOTA_DYNAMIC_name), subgroups after a
/// period; accept_surplus and autoregroup for all, by name, or GROUP_..._name; demand by name; slots. All that also in
/// "config" as lines of text. Expected, by name: effective (with the groups below), own_quota, allocated; surplus (what
/// is left in the end).
void read_condor_groups(const Case& one, Report& report);

}  // namespace weir::oracle
