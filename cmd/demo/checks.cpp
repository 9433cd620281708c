// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the comparisons of checks.hpp; exact wherever both sides are integers.
#include "cmd/demo/checks.hpp"

#include <cmath>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

std::string core_seconds(std::int64_t us) {
    const std::int64_t rest = us % 1'000'000;
    const std::string digits = std::to_string(rest < 0 ? -rest : rest);
    return grouped(us / 1'000'000) + "." + std::string(6 - digits.size(), '0') + digits;
}

bool is_association(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash != std::string::npos && slash + 1 < path.size() && path[slash + 1] == '@';
}

std::string account_above(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::int64_t at(const Charges& charges, const std::string& path) {
    const auto it = charges.find(path);
    return it == charges.end() ? 0 : it->second;
}

}  // namespace

Check check_entitlements(const std::vector<Entitlement>& tree) {
    std::map<std::string, double> children_sum;
    for (const Entitlement& node : tree) {
        children_sum[account_above(node.path)] += node.share;
    }
    double leaves = 0;
    std::string bad;
    for (const Entitlement& node : tree) {
        const auto sum = children_sum.find(node.path);
        if (sum == children_sum.end()) {
            leaves += node.share;
        } else if (std::fabs(sum->second - node.share) > 1e-9 && bad.empty()) {
            bad = node.path + " has " + percent(node.share) + ", its members together " + percent(sum->second);
        }
    }
    const bool holds = bad.empty() && std::fabs(leaves - 1) < 1e-9;
    return {"entitlements sum to 100 %", holds,
            bad.empty() ? fixed(leaves * 100, 6) + " % over " + std::to_string(tree.size()) + " nodes" : bad};
}

Check check_charges(const Charges& ledger, const std::vector<JobRecord>& jobs) {
    const std::map<std::string, std::int64_t> sums = core_us_by_path(jobs);
    Check check{"charged usage = sum of the jobs' core-seconds", true, ""};
    Charges all = sums;
    for (const auto& [path, charge] : ledger) {
        all.emplace(path, 0);
    }
    for (const auto& [path, ignored] : all) {
        if (at(ledger, path) != at(sums, path) && check.holds) {
            check.holds = false;
            check.detail = (path.empty() ? "total" : path) + ": charged " + core_seconds(at(ledger, path)) +
                           ", jobs used " + core_seconds(at(sums, path)) + " core-seconds";
        }
    }
    if (check.holds) {
        check.detail = core_seconds(at(sums, "")) + " core-seconds, " + std::to_string(jobs.size()) + " jobs, " +
                       std::to_string(sums.size() - 1) + " nodes, difference 0";
    }
    return check;
}

Check check_children(const Charges& parent, const std::vector<ChildView>& children) {
    Charges together;
    std::int64_t strangers = 0;
    std::vector<std::string> parts;
    for (const ChildView& child : children) {
        std::int64_t own = 0;
        for (const auto& [path, charge] : child.charges) {
            if (is_association(path)) {
                together[path] += charge;
                own += charge;
            }
        }
        strangers += child.unassociated;
        parts.push_back(child.name + " " + core_seconds(own));
    }
    Check check{"the children's view equals the parent's", true, ""};
    Charges all = together;
    for (const auto& [path, charge] : parent) {
        if (is_association(path)) {
            all.emplace(path, 0);
        }
    }
    for (const auto& [path, ignored] : all) {
        if (at(parent, path) != at(together, path) && check.holds) {
            check.holds = false;
            check.detail = path + ": the parent has " + core_seconds(at(parent, path)) + ", the children " +
                           core_seconds(at(together, path)) + " core-seconds";
        }
    }
    if (strangers != 0 && check.holds) {
        check.holds = false;
        check.detail = core_seconds(strangers) + " core-seconds of jobs in the children belong to nobody";
    }
    if (check.holds) {
        check.detail = listed(parts) + " core-seconds, difference 0";
    }
    return check;
}

Check check_complete(std::int64_t submitted, std::int64_t parent_inactive, const std::vector<JobRecord>& jobs) {
    std::int64_t ran = 0;
    for (const JobRecord& job : jobs) {
        ran += job.has_run() ? 1 : 0;
    }
    return {"every job ran once", submitted == parent_inactive && submitted == ran,
            std::to_string(submitted) + " submitted, " + std::to_string(parent_inactive) + " ended at the parent, " +
                std::to_string(ran) + " ran in the children"};
}

}  // namespace weir::cmd
