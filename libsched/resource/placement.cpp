// SPDX-License-Identifier: LGPL-3.0-only
// Owns: walking the nodes in the order of the choice and filling the request.
#include "libsched/resource/placement.hpp"

#include <array>
#include <tuple>

namespace weir {
namespace {

constexpr std::array<std::string_view, 3> choice_names{"first", "best-fit", "least-loaded"};

Amounts at_or_none(std::span<const Amounts> by_node, std::size_t i) {
    return i < by_node.size() ? by_node[i] : Amounts{};
}

bool is_candidate(const Candidates& candidates, std::size_t node) {
    return candidates.in_set == nullptr || (*candidates.in_set)[node];
}

/// The candidate nodes as the choice orders them.
std::vector<std::uint32_t> ordered(const Request& request, const Candidates& candidates) {
    using Key = std::tuple<bool, std::uint64_t, std::uint32_t>;
    std::vector<Key> keys;
    for (std::size_t i = 0; i < candidates.usable.size(); i++) {
        const Amounts& amounts = candidates.usable[i];
        if (!is_candidate(candidates, i) || slots_in(amounts, request, 1) == 0) {
            continue;
        }
        const bool holds_all = request.nodes > 0 || slots_in(amounts, request, request.slots) == request.slots;
        const std::uint64_t left = holds_all ? amounts.cores : ~std::uint64_t{amounts.cores};
        const bool by_load = candidates.choice == NodeChoice::least_loaded;
        keys.emplace_back(!by_load && !holds_all, by_load ? ~candidates.score[i] : left, static_cast<std::uint32_t>(i));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order;
    for (const Key& key : keys) {
        order.push_back(std::get<2>(key));
    }
    return order;
}

/// Calls visit(node) in order until it returns false.
template <typename Visit>
void walk(const Candidates& candidates, const std::vector<std::uint32_t>& order, Visit&& visit) {
    if (candidates.choice != NodeChoice::first) {
        for (const std::uint32_t node : order) {
            if (!visit(node)) {
                return;
            }
        }
        return;
    }
    for (std::uint32_t node = 0; node < candidates.usable.size(); node++) {
        if (is_candidate(candidates, node) && !visit(node)) {
            return;
        }
    }
}

std::optional<std::vector<Pick>> place_nodes(const Request& request, const Candidates& candidates,
                                             const std::vector<std::uint32_t>& order) {
    std::vector<Pick> picks;
    // First the nodes that can do it from what is preferred, then the others.
    for (const bool want_preferred : {true, false}) {
        if (want_preferred && candidates.preferred.empty()) {
            continue;
        }
        walk(candidates, order, [&](std::uint32_t i) {
            const auto need = needed_on(request, candidates.whole[i]);
            const bool is_preferred = need && at_or_none(candidates.preferred, i).holds(*need);
            if (need && candidates.usable[i].holds(*need) && is_preferred == want_preferred) {
                picks.push_back({i, *need});
            }
            return picks.size() < request.nodes;
        });
        if (picks.size() == request.nodes) {
            return picks;
        }
    }
    return std::nullopt;
}

std::optional<std::vector<Pick>> place_slots(const Request& request, const Candidates& candidates,
                                             const std::vector<std::uint32_t>& order) {
    std::vector<Pick> picks;
    std::uint32_t left = request.slots;
    const auto allocate = [&](std::uint32_t slots) {
        left -= slots;
        return amounts_of(request, slots);
    };
    if (!candidates.preferred.empty()) {
        walk(candidates, order, [&](std::uint32_t i) {
            const Amounts amounts = least(candidates.usable[i], candidates.preferred[i]);
            if (const std::uint32_t slots = slots_in(amounts, request, left); slots > 0) {
                picks.push_back({i, allocate(slots)});
            }
            return left > 0;
        });
    }
    std::size_t early = 0;  // walks the picks of the first round, which are in the same order
    const std::size_t early_count = picks.size();
    walk(candidates, order, [&](std::uint32_t i) {
        if (left == 0) {
            return false;
        }
        const bool has_early = early < early_count && picks[early].node == i;
        const Amounts rest = has_early ? candidates.usable[i] - picks[early].amounts : candidates.usable[i];
        const std::uint32_t slots = slots_in(rest, request, left);
        if (has_early) {
            picks[early++].amounts += allocate(slots);
        } else if (slots > 0) {
            picks.push_back({i, allocate(slots)});
        }
        return true;
    });
    return left == 0 ? std::optional(std::move(picks)) : std::nullopt;
}

}  // namespace

std::string_view name_of(NodeChoice choice) {
    return choice_names[static_cast<std::size_t>(choice)];
}

std::optional<NodeChoice> node_choice_named(std::string_view name) {
    const auto* place = std::find(choice_names.begin(), choice_names.end(), name);
    return place != choice_names.end() ? std::optional(static_cast<NodeChoice>(place - choice_names.begin()))
                                       : std::nullopt;
}

std::optional<Amounts> needed_on(const Request& request, const Amounts& whole) {
    if (slots_in(whole, request, request.slots) < request.slots) {
        return std::nullopt;
    }
    return request.exclusive ? whole : amounts_of(request, request.slots);
}

std::optional<std::vector<Pick>> place(const Request& request, const Candidates& candidates) {
    const std::vector<std::uint32_t> order =
        candidates.choice == NodeChoice::first ? std::vector<std::uint32_t>{} : ordered(request, candidates);
    return request.nodes > 0 ? place_nodes(request, candidates, order) : place_slots(request, candidates, order);
}

}  // namespace weir
