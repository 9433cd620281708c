// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which reader a file below slurm/other goes to, told by what it contains. Must not know more of it.
#include <array>
#include <stdexcept>

#include "t/oracle/runner/slurm_other.hpp"

namespace weir::oracle {

namespace {

/// A document with this key, or whose first case has it.
struct Kind {
    const char* key;
    Read read;
};

constexpr auto kinds = std::to_array<Kind>({
    {"expected_printed_6_decimals", read_slurm_test_tree},
    {"documented_merge_computed", read_slurm_tied_accounts},
    {"test24.7_normal", read_slurm_suite},
    {"tres", read_slurm_billing},
    {"half_life_s", read_slurm_decay},
    {"events", read_slurm_accrual},
    {"steps", read_slurm_live},
    {"snapshots", read_slurm_suspend},
    {"period", read_slurm_reset},
    {"variants", read_slurm_age},
    {"flag", read_slurm_incr_only},
});

/// The first of the cases, which are a list or an object; nullptr where there are none.
const Value* first_case(const Value* document) {
    const Value* cases = find(document, "cases");
    if (is_object(cases)) {
        const auto all = entries(cases);
        return all.empty() ? nullptr : all.front().second;
    }
    return item(cases, 0);
}

}  // namespace

void read_slurm_other(const Value* document, Report& report) {
    if (is_list(document)) {
        read_slurm_broken_ties(document, report);
        return;
    }
    const Value* first = first_case(document);
    for (const Kind& kind : kinds) {
        if (find(document, kind.key) != nullptr || find(first, kind.key) != nullptr) {
            kind.read(document, report);
            return;
        }
    }
    throw std::runtime_error{"no reader for what this file contains"};
}

}  // namespace weir::oracle
