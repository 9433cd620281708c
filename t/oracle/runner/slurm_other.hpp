// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the list of the kinds of files below slurm/other, each with a function that reads it.
// Must not know what is in them.
#pragma once
#include "t/oracle/runner/oracle.hpp"

namespace weir::oracle {

// slurm_priority_cases.cpp
void read_slurm_age(const Value* document, Report& report);        // jobs held, begun and reset over time
void read_slurm_incr_only(const Value* document, Report& report);  // a QoS is lowered, a job moved
// slurm_tree_cases.cpp
void read_slurm_test_tree(const Value* document, Report& report);      // test24.1, test24.4
void read_slurm_tied_accounts(const Value* document, Report& report);  // documented and shipped ranks
void read_slurm_broken_ties(const Value* document, Report& report);    // siblings in proportion that the program parts
// slurm_suite_cases.cpp
void read_slurm_suite(const Value* document, Report& report);  // facts of its test suite
// slurm_live_cases.cpp
void read_slurm_live(const Value* document, Report& report);  // associations change while it runs
// slurm_suspend_cases.cpp
void read_slurm_suspend(const Value* document, Report& report);  // jobs run and are suspended
// slurm_usage_cases.cpp
void read_slurm_billing(const Value* document, Report& report);
void read_slurm_decay(const Value* document, Report& report);
void read_slurm_reset(const Value* document, Report& report);
void read_slurm_accrual(const Value* document, Report& report);

}  // namespace weir::oracle
