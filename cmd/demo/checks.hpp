// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the demo's own checks after a run, each from two independent sources. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cmd/demo/report.hpp"

namespace weir::cmd {

struct Check {
    std::string name;
    bool holds = false;
    std::string detail;  ///< what was compared, with figures
};

/// Core-microseconds by node path, from a broker's ledger.
using Charges = std::map<std::string, std::int64_t>;
/// The report of one child instance.
struct ChildView {
    std::string name;
    Charges charges;  ///< its own ledger, by "account/@user" or by user
    std::int64_t unassociated = 0;
};

/// Entitlements of the leaves (nodes without children) sum to 100 %, and children's to their parent's. Tolerance 1e-9.
Check check_entitlements(const std::vector<Entitlement>& tree);
/// Every node's charge equals the sum of its jobs' core-microseconds, exactly; names the first node that differs.
Check check_charges(const Charges& ledger, const std::vector<JobRecord>& jobs);
/// The children's ledgers together equal the parent's, association by association, exactly.
Check check_children(const Charges& parent, const std::vector<ChildView>& children);
/// All submitted jobs ended, by the parent's count and by the children's.
Check check_complete(std::int64_t submitted, std::int64_t parent_inactive, const std::vector<JobRecord>& jobs);

}  // namespace weir::cmd
