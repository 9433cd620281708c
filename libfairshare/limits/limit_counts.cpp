// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see limit_counts.hpp.
#include "libfairshare/limits/limit_counts.hpp"

#include <variant>

namespace weir {
namespace {

constexpr CoreMicros millionths = 1'000'000;

/// The first hit that check(node, limit) finds from the payer up.
template <typename Check>
std::optional<LimitHit> first_hit(const ShareTree& tree, NodeId payer, Check&& check) {
    if (payer == unassociated) {
        return std::nullopt;
    }
    for (NodeId node = payer;; node = tree.parent(node)) {
        for (const NodeTerm& term : tree.terms(node)) {
            const auto* limit = std::get_if<Limit>(&term);
            if (limit == nullptr) {
                continue;
            }
            if (const auto hit = check(node, *limit)) {
                return hit;
            }
        }
        if (node == root_node) {
            return std::nullopt;
        }
    }
}

bool is_too_long(const LimitedJob& job, std::uint64_t seconds) {
    return seconds < static_cast<std::uint64_t>(Duration::max().count()) / 1'000'000 &&
           job.wall_time > std::chrono::seconds(seconds);
}

CoreMicros not_negative(SignedCoreMicros value) {
    return value > 0 ? static_cast<CoreMicros>(value) : 0;
}

bool is_reached(CoreMicros used, CoreMicros limit) {
    return limit == 0 || used >= limit;
}

/// `limit` in millionths of the root's; of nothing used at all nothing is reached but a limit of 0.
bool is_part_reached(CoreMicros used, CoreMicros of_all, std::uint64_t limit) {
    return limit == 0 || (used > 0 && used * millionths >= of_all * limit);
}

std::string plural(std::uint64_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// When jobs start again below a limit of usage. A limit of 0 never allows a job. Decay lowers all usage alike, so that
/// no part of it changes by itself.
std::string relief_text(const LimitHit& hit, const UsageRelief& relief) {
    const bool is_part = hit.kind != LimitKind::usage;
    const bool is_reset = relief.reset != ResetPeriod::none && hit.kind != LimitKind::charged_part;
    const std::string reset = is_reset ? "is reset " + std::string(time_of(relief.reset)) : "";
    if (hit.limit == 0) {
        return "";
    }
    if (!is_part && !relief.decays && !is_reset) {
        return "; usage does not decay here: only an administrator can change that";
    }
    const std::string first = is_part         ? "others have used more" + std::string(is_reset ? ", or usage " : "")
                              : relief.decays ? "usage has decayed below that" + std::string(is_reset ? ", or " : "")
                                              : "usage ";
    return "; jobs start again when " + first + reset;
}

}  // namespace

void LimitCounts::change(const ShareTree& tree, NodeId payer, const Use& by, bool more) {
    if (payer == unassociated) {
        return;
    }
    if (use_.size() < tree.size()) {
        use_.resize(tree.size());
    }
    const auto apply = [more](std::uint64_t& value, std::uint64_t amount) {
        WEIR_CHECK(more || value >= amount);
        value = more ? value + amount : value - amount;
    };
    for (NodeId node = payer;; node = tree.parent(node)) {
        Use& use = use_[node.value];
        apply(use.active_jobs, by.active_jobs);
        apply(use.running_jobs, by.running_jobs);
        apply(use.nodes, by.nodes);
        apply(use.cores, by.cores);
        if (node == root_node) {
            return;
        }
    }
}

void LimitCounts::add_running(const ShareTree& tree, NodeId payer, const LimitedJob& job) {
    change(tree, payer, {0, 1, job.nodes, job.cores}, true);
}

void LimitCounts::remove_running(const ShareTree& tree, NodeId payer, const LimitedJob& job) {
    change(tree, payer, {0, 1, job.nodes, job.cores}, false);
}

std::optional<LimitHit> LimitCounts::never(const ShareTree& tree, NodeId payer, const LimitedJob& job) {
    return first_hit(tree, payer, [&](NodeId node, const Limit& limit) -> std::optional<LimitHit> {
        const bool is_over = (limit.kind == LimitKind::wall_time && is_too_long(job, limit.hard)) ||
                             (limit.kind == LimitKind::nodes && job.nodes > limit.hard) ||
                             (limit.kind == LimitKind::cores && job.cores > limit.hard);
        return is_over ? std::optional(LimitHit{node, limit.kind, limit.hard, false, 0}) : std::nullopt;
    });
}

std::optional<LimitHit> LimitCounts::exceeded(const ShareTree& tree, NodeId payer) const {
    return first_hit(tree, payer, [&](NodeId node, const Limit& limit) -> std::optional<LimitHit> {
        const Use use = of(node);
        const bool is_over = (limit.kind == LimitKind::running_jobs && use.running_jobs > limit.hard) ||
                             (limit.kind == LimitKind::nodes && use.nodes > limit.hard) ||
                             (limit.kind == LimitKind::cores && use.cores > limit.hard);
        return is_over ? std::optional(LimitHit{node, limit.kind, limit.hard, false, 0}) : std::nullopt;
    });
}

std::optional<LimitHit> LimitCounts::submission(const ShareTree& tree, NodeId payer) const {
    return first_hit(tree, payer, [&](NodeId node, const Limit& limit) -> std::optional<LimitHit> {
        const std::uint64_t used = of(node).active_jobs;
        const bool is_over = limit.kind == LimitKind::active_jobs && used + 1 > limit.hard;
        return is_over ? std::optional(LimitHit{node, limit.kind, limit.hard, false, used}) : std::nullopt;
    });
}

std::optional<LimitHit> LimitCounts::start(const UsageThen& usage, NodeId payer, const LimitedJob& job,
                                           LimitRule rule) const {
    const UsageLedger& ledger = usage.ledger;
    const Instant now = usage.now;
    return first_hit(usage.tree, payer, [&](NodeId node, const Limit& limit) -> std::optional<LimitHit> {
        const bool is_soft = rule == LimitRule::soft && limit.soft.has_value() && !job.is_admitted_above;
        const std::uint64_t most = is_soft ? *limit.soft : limit.hard;
        const Use use = of(node);
        const auto counted = [&](std::uint64_t used, std::uint64_t more) {
            return used + more > most ? std::optional(LimitHit{node, limit.kind, most, is_soft, used}) : std::nullopt;
        };
        bool is_over = false;
        switch (limit.kind) {
            case LimitKind::running_jobs:
                return counted(use.running_jobs, 1);
            case LimitKind::nodes:
                return counted(use.nodes, job.nodes);
            case LimitKind::cores:
                return counted(use.cores, job.cores);
            case LimitKind::active_jobs:
                break;  // counted when it comes
            case LimitKind::wall_time:
                is_over = is_too_long(job, most);
                break;
            case LimitKind::usage:
                is_over = is_reached(ledger.usage(node, now), most * micros_a_second);
                break;
            case LimitKind::usage_part:
                is_over = is_part_reached(ledger.usage(node, now), ledger.usage(root_node, now), most);
                break;
            case LimitKind::charged:
                is_over = is_reached(not_negative(ledger.charged(node, now)), most * micros_a_second);
                break;
            case LimitKind::charged_part:
                is_over = is_part_reached(not_negative(ledger.charged(node, now)),
                                          not_negative(ledger.charged(root_node, now)), most);
                break;
        }
        is_over = is_over && !job.is_admitted_above;
        return is_over ? std::optional(LimitHit{node, limit.kind, most, is_soft, 0}) : std::nullopt;
    });
}

std::string words_of(const LimitHit& hit, const ShareTree& tree, const UsageRelief& relief) {
    const std::string who = hit.node == root_node ? std::string("everybody together") : tree.path(hit.node);
    const std::string most = limit_text(hit.kind, hit.limit);
    const std::string soft = hit.is_soft ? ", while others wait" : "";
    const auto number = [](std::uint64_t n, const char* one, const char* many) {
        return std::to_string(n) + (n == 1 ? one : many);
    };
    const std::uint64_t running = hit.used - hit.reserved;
    const auto in_use = [&] {  // nothing is in use: the job alone is larger
        const std::string first =
            hit.reserved == 0 ? "" : ", and " + number(hit.reserved, " is", " are") + " for jobs that start before it";
        return hit.used == 0 ? std::string("; the job asks for more")
                             : "; " + number(running, " is in use", " are in use") + first;
    };
    switch (hit.kind) {
        case LimitKind::running_jobs:
            return who + " runs at most " + plural(hit.limit, "job") + soft + "; " + number(running, " runs", " run") +
                   (hit.reserved == 0 ? "" : ", and " + number(hit.reserved, " starts", " start") + " before it");
        case LimitKind::active_jobs:
            return who + " has at most " + plural(hit.limit, "job") + " that wait or run; " +
                   number(hit.used, " does", " do");
        case LimitKind::nodes:
            return who + " uses at most " + plural(hit.limit, "node") + soft + in_use();
        case LimitKind::cores:
            return who + " uses at most " + plural(hit.limit, "core") + soft + in_use();
        case LimitKind::wall_time:
            return "a job of " + who + " runs at most " + most + soft;
        case LimitKind::usage:
            return who + " has used its " + most + soft + relief_text(hit, relief);
        case LimitKind::usage_part:
            return who + " has used its " + most + " of all usage" + soft + relief_text(hit, relief);
        case LimitKind::charged:
            return who + " has used up its " + most + soft;
        case LimitKind::charged_part:
            return who + " has used up its " + most + " of all usage" + soft + relief_text(hit, relief);
    }
    return who;
}

bool has_limits(const ShareTree& tree) {
    for (std::uint32_t i = 0; i < tree.size(); i++) {
        for (const NodeTerm& term : tree.terms(NodeId{i})) {
            if (std::holds_alternative<Limit>(term)) {
                return true;
            }
        }
    }
    return false;
}

bool has_limits(const ShareTree& tree, NodeId payer) {
    return first_hit(tree, payer,
                     [](NodeId node, const Limit& limit) {
                         return std::optional(LimitHit{node, limit.kind, limit.hard, false, 0});
                     })
        .has_value();
}

}  // namespace weir
