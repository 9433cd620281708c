// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when factors are evaluated, and whose factor is a job's. See fair_shares.hpp.
#include "modules/job-priority/ranking/fair_shares.hpp"

#include <variant>

#include "libsched/order/pass_schedule.hpp"

namespace weir::priority {
namespace {

constexpr std::uint32_t no_factor = root_node.value;  // an account's factor is 0

}  // namespace

Algorithm algorithm_of(const Settings& settings) {
    Result<Algorithm> found = algorithm_named(settings.algorithm);
    if (found && std::holds_alternative<Lsf>(*found)) {
        return Lsf{settings.lsf.factors};
    }
    return found ? *found : Algorithm{};
}

FairShares::FairShares(const Settings& settings, bool is_child)
    : settings_(settings), is_child_(is_child), algorithm_(algorithm_of(settings)) {}

void FairShares::configure() {
    algorithm_ = algorithm_of(settings_);
    forget();
}

void FairShares::take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete) {
    from_parent_.take(rows, is_complete);
}

bool FairShares::is_stale(const ShareTree& tree, Instant now) const {
    return order::is_stale(evaluated_at_, now, settings_.update_interval) || evaluated_size_ != tree.size();
}

std::optional<Instant> FairShares::stale_at() const {
    return evaluated_at_ ? std::optional(order::stale_at(*evaluated_at_, settings_.update_interval)) : std::nullopt;
}

void FairShares::evaluate(const ShareTree& tree, Instant now) {
    weir::evaluate(algorithm_, tree, measured_.measures(), standings_);
    evaluated_at_ = now;
    evaluated_size_ = tree.size();
    evaluations_ += 1;
}

std::uint32_t FairShares::index_of(NodeId payer) {
    return payer == unassociated ? no_factor : payer.value;
}

std::span<const double> FairShares::factors() const {
    return are_parents() ? from_parent_.factors() : std::span<const double>(standings_.factor);
}

}  // namespace weir::priority
