// SPDX-License-Identifier: LGPL-3.0-only
// Owns: conversion between inventories and R. Must not know where resources come from.
#include "broker/services/resource_inventory.hpp"

namespace weir::broker {
namespace {

IdSet first_ids(std::uint64_t count) {
    return count == 0 ? IdSet() : IdSet::range(0, static_cast<std::uint32_t>(count - 1));
}

}  // namespace

std::size_t Inventory::core_count() const {
    std::size_t count = 0;
    for (const Node& node : nodes) {
        count += node.cores.count();
    }
    return count;
}

std::size_t Inventory::gpu_count() const {
    std::size_t count = 0;
    for (const Node& node : nodes) {
        count += node.gpus.count();
    }
    return count;
}

IdSet Inventory::ranks() const {
    return first_ids(nodes.size());
}

R Inventory::r() const {
    R r;
    for (const Node& node : nodes) {
        const auto rank = static_cast<std::uint32_t>(r.hosts.size());
        r.resources.nodes.push_back({rank, node.cores, node.gpus, node.memory_mib});
        r.hosts.push_back(node.host);
    }
    r.expiration = expiration;
    r.properties.assign(properties.begin(), properties.end());
    return r;
}

Json Inventory::to_r_of(const IdSet& ranks) const {
    const R all = r();
    R part;
    for (std::size_t i = 0; i < all.hosts.size(); ++i) {
        if (ranks.contains(all.resources.nodes[i].rank)) {
            part.resources.nodes.push_back(all.resources.nodes[i]);
            part.hosts.push_back(all.hosts[i]);
        }
    }
    part.expiration = all.expiration;
    part.properties = properties_of(part.resources, all.properties);
    return encode_r(part);
}

Inventory Inventory::numbered_from_zero() const {
    Inventory out = *this;
    for (Node& node : out.nodes) {
        node.cores = first_ids(node.cores.count());
        node.gpus = first_ids(node.gpus.count());
    }
    return out;
}

Result<Inventory> inventory_from_r(const Json& document) {
    auto r = decode_r(document.get());
    if (!r) {
        return r.error();
    }
    if (r->hosts.size() != r->resources.nodes.size()) {
        return Error{std::errc::invalid_argument, "R: execution.nodelist: is missing or empty"};
    }
    Inventory out;
    out.expiration = r->expiration;
    for (const NodeResources& node : r->resources.nodes) {
        const auto new_rank = static_cast<std::uint32_t>(out.nodes.size());
        for (const auto& [name, ranks] : r->properties) {
            if (ranks.contains(node.rank)) {
                out.properties[name].add(new_rank);
            }
        }
        out.nodes.push_back({r->hosts[new_rank], node.cores, node.gpus, node.memory_mib});
    }
    return out;
}

Status take_memory(const Json& scheduling, Inventory& inventory) {
    R r = inventory.r();
    if (const Status decoded = decode_memory(scheduling.get(), r); !decoded) {
        return decoded;
    }
    for (std::size_t i = 0; i < inventory.nodes.size(); i++) {
        inventory.nodes[i].memory_mib = r.resources.nodes[i].memory_mib;
    }
    return Done{};
}

}  // namespace weir::broker
