// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see one_factor.hpp.
#include "libfairshare/algorithms/one_factor.hpp"

namespace weir {

namespace {

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

OneFactor::OneFactor(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures)
    : algorithm_(algorithm), tree_(&tree) {
    if (const auto* rule = std::get_if<FairTree>(&algorithm)) {
        state_ = Ranked{FairTreeRanks{tree, *rule}};
    } else if (std::holds_alternative<FairTreeAsSlurm>(algorithm)) {
        state_ = AsSlurm{associations_below(tree)};
    } else if (std::holds_alternative<DemandCapped>(algorithm)) {
        if (measures.demand.empty()) {
            state_ = Ranked{FairTreeRanks{tree}};
        } else {
            state_ = Demanded{FairTreeRanks{tree}, deserved_shares(tree, measures.demand, measures.capacity)};
        }
    } else if (const auto* lsf = std::get_if<Lsf>(&algorithm)) {
        Dynamic made{FairTreeRanks{tree}, std::vector<CoreMicros>(tree.size(), 0), {}};
        for (std::uint32_t i = tree.size(); i-- > 1;) {
            if (!measures.dynamic.empty() && tree.is_association(NodeId{i})) {
                made.parts[i] = lsf->divisor_part(measures.dynamic[i]);
            }
            made.parts[tree.parent(NodeId{i}).value] += made.parts[i];
        }
        made.divisors = lsf->divisors(tree, measures.dynamic);
        state_ = std::move(made);
    }
}

void OneFactor::changed(const Measures& measures, NodeId leaf) {
    auto* state = std::get_if<Dynamic>(&state_);
    const auto* lsf = std::get_if<Lsf>(&algorithm_);
    if (state == nullptr || lsf == nullptr) {
        return;
    }
    const CoreMicros added = lsf->divisor_part(measures.dynamic[leaf.value]) - state->parts[leaf.value];
    for (NodeId at = leaf;; at = tree_->parent(at)) {
        state->parts[at.value] += added;
        state->divisors[at.value] = lsf->divisor_of(state->parts[at.value]);
        if (at == root_node) {
            return;
        }
    }
}

double OneFactor::factor(const Measures& measures, NodeId leaf) const {
    const double scale = 1.0 / tree_->association_count();
    return std::visit(
        Overloaded{[&](const Plain&) { return *node_standing(algorithm_, *tree_, measures, leaf).factor; },
                   [&](const Ranked& state) { return state.ranks.rank(measures.usage, leaf) * scale; },
                   [&](const AsSlurm& state) {
                       return FairTreeAsSlurm{}.rank(*tree_, measures.usage, state.associations, leaf) /
                              static_cast<double>(tree_->association_count());
                   },
                   [&](const Demanded& state) {
                       const DeservedShares& deserved = state.deserved;
                       return state.ranks.rank([&](NodeId id) { return deserved.amount[id.value]; },
                                               [&](NodeId above) { return deserved.level_sum[above.value]; },
                                               measures.usage, leaf) *
                              scale;
                   },
                   [&](const Dynamic& state) { return state.ranks.rank(state.divisors, leaf) * scale; }},
        state_);
}

}  // namespace weir
