// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see resource_usage.hpp.
#include "libfairshare/usage/resource_usage.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "libfairshare/base/check.hpp"

namespace weir {

namespace {

constexpr int weight_bits = 20;
constexpr double weight_max = 0x1p20;

}  // namespace

ResourceUsage::ResourceUsage(std::vector<DecayingResource> resources, std::vector<UsageLedger> ledgers)
    : resources_(std::move(resources)), ledgers_(std::move(ledgers)) {
    for (const DecayingResource& resource : resources_) {
        weights_.push_back(std::llround(std::ldexp(resource.weight, weight_bits)));
    }
}

Result<ResourceUsage> ResourceUsage::make(ShareTreePtr tree, std::vector<DecayingResource> resources) {
    std::set<std::string_view> names;
    std::vector<UsageLedger> ledgers;
    for (const DecayingResource& resource : resources) {
        if (!names.insert(resource.name).second) {
            return Error{std::errc::invalid_argument, "resource \"" + resource.name + "\" occurs twice"};
        }
        if (resource.half_life && !DecayFrame::accepts(*resource.half_life)) {
            return Error{std::errc::invalid_argument,
                         "resource \"" + resource.name + "\": the half-life must be 0 or from 1 s to 100 years"};
        }
        if (!(resource.weight >= 0 && resource.weight <= weight_max)) {
            return Error{std::errc::invalid_argument,
                         "resource \"" + resource.name + "\": the weight must be from 0 to 1048576"};
        }
        ledgers.emplace_back(tree, resource.half_life.value_or(Duration{0}));
    }
    return ResourceUsage{std::move(resources), std::move(ledgers)};
}

void ResourceUsage::start(NodeId payer, std::span<const std::int64_t> amounts, Instant at) {
    WEIR_CHECK(amounts.size() == ledgers_.size());
    for (std::size_t i = 0; i < ledgers_.size(); ++i) {
        if (amounts[i] != 0) {
            ledgers_[i].start(payer, amounts[i], at);
        }
    }
}

void ResourceUsage::end(NodeId payer, std::span<const std::int64_t> amounts, Instant started, Instant ended) {
    WEIR_CHECK(amounts.size() == ledgers_.size());
    for (std::size_t i = 0; i < ledgers_.size(); ++i) {
        if (amounts[i] != 0) {
            ledgers_[i].end(payer, amounts[i], resources_[i].half_life ? ended : started);
        }
    }
}

CoreMicros ResourceUsage::usage(std::size_t resource, NodeId node, Instant now) const {
    return ledgers_[resource].usage(node, now);
}

void ResourceUsage::snapshot(Instant now, std::vector<CoreMicros>& into) const {
    UsageSnapshot one;
    into.clear();
    for (std::size_t i = 0; i < ledgers_.size(); ++i) {
        ledgers_[i].snapshot(now, one);
        into.resize(one.usage.size());
        for (std::size_t node = 0; node < into.size(); ++node) {  // 2^80 * 2^40 a resource
            into[node] += one.usage[node] * static_cast<CoreMicros>(weights_[i]);
        }
    }
    if (ledgers_.empty()) {
        return;
    }
    const ShareTree& tree = ledgers_.front().tree();
    for (std::uint32_t i = tree.size(); i-- > 0;) {
        if (!tree.is_association(NodeId{i})) {
            into[i] = 0;
        }
    }
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        if (tree.is_association(NodeId{i})) {
            into[i] = std::min((into[i] + (CoreMicros{1} << (weight_bits - 1))) >> weight_bits, usage_max);
        }
        CoreMicros& above = into[tree.parent(NodeId{i}).value];
        above = std::min(above + into[i], usage_max);
    }
}

void ResourceUsage::set_half_life(std::size_t resource, Duration half_life, Instant at) {
    WEIR_CHECK(resources_[resource].half_life.has_value());
    resources_[resource].half_life = half_life;
    ledgers_[resource].set_half_life(half_life, at);
}

void ResourceUsage::rebind(const ShareTreePtr& tree, Instant at) {
    for (UsageLedger& ledger : ledgers_) {
        ledger.rebind(tree, at);
    }
}

ResourceUsageState ResourceUsage::save() const {
    ResourceUsageState state{resources_, {}};
    for (const UsageLedger& ledger : ledgers_) {
        state.ledgers.push_back(ledger.save());
    }
    return state;
}

Result<ResourceUsage> ResourceUsage::restore(const ShareTreePtr& tree, const ResourceUsageState& state) {
    auto made = make(tree, state.resources);
    if (!made) {
        return made.error();
    }
    if (state.ledgers.size() != state.resources.size()) {
        return Error{std::errc::invalid_argument, std::to_string(state.resources.size()) + " resources, but " +
                                                      std::to_string(state.ledgers.size()) + " ledgers"};
    }
    for (std::size_t i = 0; i < state.ledgers.size(); ++i) {
        const DecayingResource& resource = state.resources[i];
        if (state.ledgers[i].half_life != resource.half_life.value_or(Duration{0})) {
            return Error{std::errc::invalid_argument,
                         "resource \"" + resource.name + "\": its ledger has another half-life"};
        }
        auto ledger = UsageLedger::restore(tree, state.ledgers[i]);
        if (!ledger) {
            return Error{ledger.error().code, "resource \"" + resource.name + "\": " + ledger.error().message};
        }
        made->ledgers_[i] = *std::move(ledger);
    }
    return made;
}

}  // namespace weir
