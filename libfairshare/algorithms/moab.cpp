// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab.hpp.
#include "libfairshare/algorithms/moab.hpp"

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "libfairshare/algorithms/fair_tree_ranks.hpp"
#include "libfairshare/usage/metric.hpp"

namespace weir {

namespace {

double bounded(double value, double cap) {
    return cap > 0 ? std::min(value, cap) : value;
}

bool is_cap(TargetKind kind) {
    return kind == TargetKind::absolute_cap || kind == TargetKind::relative_cap;
}

/// In [-1, 1]: how far below its targets one tier is. Zero shares are a target of nothing.
double tier_discrepancy(const ShareTree& tree, NodeId id, double usage_percent, bool is_ratio) {
    const auto bounded_off = [&](const FairShareTarget& target) {
        const double off = fs_discrepancy(target, usage_percent, is_ratio);
        return std::clamp(is_ratio ? off : off / 100, -1.0, 1.0);
    };
    double own = 0;
    bool has_own = false;
    for (const NodeTerm& term : tree.terms(id)) {
        const auto* target = std::get_if<FairShareTarget>(&term);
        if (target != nullptr && !is_cap(target->kind) && target->value > 0) {
            own += bounded_off(*target);  // of a floor and a ceiling at most one counts
            has_own = true;
        }
    }
    if (has_own) {
        return std::clamp(own, -1.0, 1.0);
    }
    const double entitled = 100 * tree.norm_shares(id);
    if (entitled <= 0) {
        return usage_percent <= 0 ? 0.0 : is_ratio ? -1.0 : -usage_percent / 100;
    }
    return bounded_off({TargetKind::target, entitled});
}

}  // namespace

std::optional<FairShareTarget> to_cap(std::string_view text) {
    auto cap = to_target(text);
    if (cap && cap->kind == TargetKind::target) {
        cap->kind = TargetKind::relative_cap;
    }
    return cap && is_cap(cap->kind) ? cap : std::nullopt;
}

std::optional<FairShareTarget> effective_target(const std::optional<FairShareTarget>& own,
                                                const std::optional<FairShareTarget>& fallback) {
    const auto counts = [](const std::optional<FairShareTarget>& target) { return target && target->value > 0; };
    return counts(own) ? own : counts(fallback) ? fallback : std::nullopt;
}

double fs_discrepancy(const FairShareTarget& target, double usage_percent, bool is_ratio) {
    if (is_cap(target.kind) || target.value <= 0) {
        return 0;
    }
    const double off = is_ratio ? 1 - usage_percent / target.value : target.value - usage_percent;
    return target.kind == TargetKind::floor     ? std::max(off, 0.0)
           : target.kind == TargetKind::ceiling ? std::min(off, 0.0)
                                                : off;
}

bool is_off_target(const FairShareTarget& target, double usage_percent) {
    switch (target.kind) {
        case TargetKind::floor:
            return usage_percent < target.value;
        case TargetKind::ceiling:
            return usage_percent > target.value;
        case TargetKind::target:
            return std::abs(usage_percent - target.value) > 5;
        default:
            return false;
    }
}

bool cap_admits(const FairShareTarget& cap, double usage, double total, double request) {
    if (cap.kind == TargetKind::absolute_cap) {
        return usage + request <= cap.value;
    }
    return cap.kind != TargetKind::relative_cap || total <= 0 || 100 * (usage + request) <= cap.value * total;
}

double cap_projection(const FairShareTarget& cap, double usage, double total, double request) {
    const double projected = usage + request;
    return cap.kind != TargetKind::relative_cap ? projected : total > 0 ? 100 * projected / total : 0.0;
}

double fs_component(std::span<const FsPart> parts, double fs_weight, double fs_cap, bool is_ratio) {
    double sum = 0;
    for (const FsPart& part : parts) {
        sum += part.weight *
               (part.target ? bounded(fs_discrepancy(*part.target, part.usage_percent, is_ratio), part.cap) : 0.0);
    }
    return fs_weight * bounded(sum, fs_cap);
}

struct Moab::Path {
    double sum = 0;
    double weights = 0;
    double next_weight = 1;

    double factor() const { return weights > 0 ? std::clamp(0.5 + sum / weights / 2, 0.0, 1.0) : 0.5; }
};

Moab::Path Moab::below(Path path, const ShareTree& tree, std::span<const CoreMicros> usage, NodeId id) const {
    if (!tree.shares_parent(id)) {
        const double percent = percent_of(usage[id.value], usage[tree.level_parent(id).value]);
        path.sum += path.next_weight * tier_discrepancy(tree, id, percent, is_ratio);
        path.weights += path.next_weight;
        path.next_weight *= tier_weight;
    }
    return path;
}

void Moab::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    std::vector<Path> paths(tree.parents_end());
    into.factor.resize(tree.size());
    into.factor[0] = 0.0;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const Path path = below(paths[tree.level_parent(id).value], tree, measures.usage, id);
        into.factor[i] = tree.is_association(id) ? path.factor() : 0.0;
        if (i < paths.size()) {
            paths[i] = path;
        }
    }
    rank_by_factor(tree, into);
}

NodeStanding Moab::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto part = [&](NodeId of) { return percent_of(measures.usage[id.value], measures.usage[of.value]) / 100; };
    Path path;
    for (NodeId step : levels_to(tree, id)) {
        path = below(path, tree, measures.usage, step);
    }
    NodeStanding standing;
    standing.norm_shares = tree.norm_shares(id);
    standing.norm_usage = part(root_node);
    standing.effective_usage = id == root_node ? standing.norm_usage : part(tree.level_parent(id));
    standing.factor = path.factor();
    if (standing.norm_shares == 0) {
        standing.level_fs = 0.0;
    } else if (measures.usage[id.value] != 0) {
        standing.level_fs = standing.norm_shares / standing.effective_usage;
    }
    return standing;
}

}  // namespace weir
