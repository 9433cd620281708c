// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see moab.hpp.
#include "libfairshare/algorithms/moab.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "libfairshare/usage/metric.hpp"

namespace weir {

namespace {

Result<FsTarget> parsed(std::string_view text, TargetKind without_suffix, std::string_view allowed) {
    FsTarget made{0, without_suffix};
    std::string_view number = text;
    if (!text.empty() && allowed.find(text.back()) != std::string_view::npos) {
        made.kind = text.back() == '+'   ? TargetKind::floor
                    : text.back() == '-' ? TargetKind::ceiling
                    : text.back() == '^' ? TargetKind::cap_absolute
                                         : TargetKind::cap_relative;
        number.remove_suffix(1);
    }
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), made.value);
    if (code != std::errc{} || end != number.data() + number.size() || !std::isfinite(made.value) || made.value < 0) {
        return Error{std::errc::invalid_argument, "\"" + std::string{text} +
                                                      "\" is no fair-share target: write a number of at least 0 and "
                                                      "one of " +
                                                      std::string{allowed} + " behind it, or nothing"};
    }
    return made;
}

double bounded(double value, double cap) {
    return cap > 0 ? std::min(value, cap) : value;
}

bool is_cap(TargetKind kind) {
    return kind == TargetKind::cap_absolute || kind == TargetKind::cap_relative;
}

FsTarget target_of(const ShareTree& tree, std::span<const FsTarget> targets, NodeId id) {
    if (!targets.empty() && targets[id.value].kind != TargetKind::none && !is_cap(targets[id.value].kind)) {
        return targets[id.value];
    }
    return {100 * tree.norm_shares(id), TargetKind::target};
}

/// In [-1, 1]: how far below its target one tier is. Zero shares are a target of zero.
double tier_discrepancy(const FsTarget& target, double usage_percent, bool is_ratio) {
    if (target.value <= 0) {
        return target.kind == TargetKind::floor || usage_percent <= 0 ? 0.0 : is_ratio ? -1.0 : -usage_percent / 100;
    }
    const double off = fs_discrepancy(target, usage_percent, is_ratio);
    return std::clamp(is_ratio ? off : off / 100, -1.0, 1.0);
}

}  // namespace

Result<FsTarget> fs_target_named(std::string_view text) {
    return parsed(text, TargetKind::target, "+-^%");
}

Result<FsTarget> fs_cap_named(std::string_view text) {
    return parsed(text, TargetKind::cap_relative, "^%");
}

FsTarget effective_target(const FsTarget& own, const FsTarget& fallback) {
    return own.kind != TargetKind::none && own.value > 0 ? own : fallback.value > 0 ? fallback : FsTarget{};
}

double fs_discrepancy(const FsTarget& target, double usage_percent, bool is_ratio) {
    if (target.kind == TargetKind::none || is_cap(target.kind) || target.value <= 0) {
        return 0;
    }
    const double off = is_ratio ? 1 - usage_percent / target.value : target.value - usage_percent;
    return target.kind == TargetKind::floor     ? std::max(off, 0.0)
           : target.kind == TargetKind::ceiling ? std::min(off, 0.0)
                                                : off;
}

bool is_off_target(const FsTarget& target, double usage_percent) {
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

bool cap_admits(const FsTarget& cap, double usage, double total, double request) {
    if (cap.kind == TargetKind::cap_absolute) {
        return usage + request <= cap.value;
    }
    return cap.kind != TargetKind::cap_relative || total <= 0 || 100 * (usage + request) <= cap.value * total;
}

double cap_projection(const FsTarget& cap, double usage, double total, double request) {
    const double projected = usage + request;
    return cap.kind != TargetKind::cap_relative ? projected : total > 0 ? 100 * projected / total : 0.0;
}

double fs_component(std::span<const FsPart> parts, double fs_weight, double fs_cap, bool is_ratio) {
    double sum = 0;
    for (const FsPart& part : parts) {
        sum += part.weight * bounded(fs_discrepancy(part.target, part.usage_percent, is_ratio), part.cap);
    }
    return fs_weight * bounded(sum, fs_cap);
}

void Moab::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    evaluate(tree, measures, {}, into);
}

void Moab::evaluate(const ShareTree& tree, const Measures& measures, std::span<const FsTarget> targets,
                    Standings& into) const {
    struct Path {
        double sum = 0;
        double weights = 0;
        double next_weight = 1;
    };
    std::vector<Path> paths(tree.size());
    into.factor.assign(tree.size(), 0.0);
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const NodeId parent = tree.level_parent(id);
        Path& path = paths[i] = paths[parent.value];
        if (!tree.shares_parent(id)) {
            const double percent = percent_of(measures.usage[i], measures.usage[parent.value]);
            path.sum += path.next_weight * tier_discrepancy(target_of(tree, targets, id), percent, is_ratio);
            path.weights += path.next_weight;
            path.next_weight *= tier_weight;
        }
        if (tree.is_association(id)) {
            into.factor[i] = path.weights > 0 ? std::clamp(0.5 + path.sum / path.weights / 2, 0.0, 1.0) : 0.5;
        }
    }
    rank_by_factor(tree, into);
}

NodeStanding Moab::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto part = [&](NodeId of) { return percent_of(measures.usage[id.value], measures.usage[of.value]) / 100; };
    NodeStanding standing;
    standing.norm_shares = tree.norm_shares(id);
    standing.norm_usage = part(root_node);
    standing.effective_usage = id == root_node ? standing.norm_usage : part(tree.level_parent(id));
    if (standing.norm_shares == 0) {
        standing.level_fs = 0.0;
    } else if (measures.usage[id.value] != 0) {
        standing.level_fs = standing.norm_shares / standing.effective_usage;
    }
    return standing;
}

}  // namespace weir
