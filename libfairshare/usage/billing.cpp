// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see billing.hpp.
#include "libfairshare/usage/billing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weir {

namespace {

enum class Place { node, generic, elsewhere };

Place place_of(std::string_view name) {
    if (name == "cpu" || name == "mem" || name == "node") {
        return Place::node;
    }
    return name.starts_with("gres/") ? Place::generic : Place::elsewhere;
}

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

/// How many of the resource's own units the letter stands for; 0 where it is none.
double units_of_letter(std::string_view name, char letter) {
    constexpr std::string_view letters = "kmgtp";
    const std::size_t step = letters.find(lower({&letter, 1}));
    if (step == std::string_view::npos) {
        return 0;
    }
    const bool is_in_mebibytes = name == "mem" || name.starts_with("bb/");
    return std::exp2(10.0 * (static_cast<double>(step) + (is_in_mebibytes ? -1.0 : 1.0)));
}

double factor_of(const std::map<std::string, double, std::less<>>& factors, std::string_view name) {
    const auto found = factors.find(name);
    return found == factors.end() ? 1.0 : found->second;
}

}  // namespace

Result<BillingRule> billing_rule_named(std::string_view name) {
    if (name == "sum") {
        return BillingRule::sum;
    }
    if (name == "max-tres") {
        return BillingRule::max_tres;
    }
    if (name == "max-tres-gres") {
        return BillingRule::max_tres_gres;
    }
    return Error{std::errc::invalid_argument,
                 "unknown billing rule \"" + std::string{name} + "\"; known are sum, max-tres, max-tres-gres"};
}

Result<BillingWeights> BillingWeights::parse(std::string_view text) {
    BillingWeights made;
    while (!text.empty()) {
        const std::string_view entry = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), entry.size() + 1));
        const auto wrong = [&](const std::string& why) {
            return Error{std::errc::invalid_argument, "billing weight \"" + std::string{entry} + "\": " + why};
        };
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            return wrong("give NAME=WEIGHT, as in CPU=1.0,Mem=0.25G,GRES/gpu=2");
        }
        const std::string name = lower(entry.substr(0, equals));
        double weight = 0;
        const auto [rest, error] = std::from_chars(entry.data() + equals + 1, entry.data() + entry.size(), weight);
        const auto letters = static_cast<std::size_t>(entry.data() + entry.size() - rest);
        if (error != std::errc{} || !std::isfinite(weight) || weight < 0) {
            return wrong("the weight must be a number of 0 or more");
        }
        const double per = letters == 0 ? 1 : letters == 1 ? units_of_letter(name, *rest) : 0;
        if (per == 0) {
            return wrong("after the number one of K, M, G, T, P is allowed");
        }
        if (!std::isfinite(weight / per)) {
            return wrong("the weight is too large");
        }
        if (!made.weights_.emplace(name, weight / per).second) {
            return wrong("the resource is there twice");
        }
    }
    return made;
}

double BillingWeights::cost(std::span<const ResourceAmount> amounts, BillingRule rule) const {
    double sum = 0;
    double dearest = 0;
    for (const ResourceAmount& resource : amounts) {
        if (empty()) {
            sum += resource.name == "cpu" ? resource.amount : 0;
            continue;
        }
        const auto weight = weights_.find(resource.name);
        if (weight == weights_.end()) {
            continue;
        }
        const double cost = resource.amount * weight->second;
        const Place place = place_of(resource.name);
        const bool competes = (rule != BillingRule::sum && place == Place::node) ||
                              (rule == BillingRule::max_tres && place == Place::generic);
        if (competes) {
            dearest = std::max(dearest, cost);
        } else {
            sum += cost;
        }
    }
    return sum + dearest;
}

double UsageFactors::of(std::string_view qos_name, std::string_view queue_name) const {
    return factor_of(qos, qos_name) * factor_of(queue, queue_name);
}

}  // namespace weir
