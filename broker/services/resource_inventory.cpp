// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing of R. Must not know where resources come from.
#include "broker/services/resource_inventory.hpp"

#include <algorithm>

namespace weir::broker {
namespace {

Error bad(const std::string& what) {
    return {std::errc::invalid_argument, "R (RFC 20): " + what};
}

Json lite_entry(const Ids& ranks, const Node& node) {
    Json children = Json::object();
    children.set("core", Json::string_of(encode_idset(node.cores)));
    if (!node.gpus.empty()) {
        children.set("gpu", Json::string_of(encode_idset(node.gpus)));
    }
    Json entry = Json::object();
    entry.set("rank", Json::string_of(encode_idset(ranks)));
    entry.set("children", children);
    return entry;
}

/// rank -> node, from R_lite.
Result<std::map<std::uint32_t, Node>> read_lite(const Json& lite) {
    std::map<std::uint32_t, Node> nodes;
    std::size_t i = 0;
    json_t* value = nullptr;
    json_array_foreach(lite.get(), i, value) {
        const Json entry = Json::share(value);
        const auto ranks = decode_idset(entry.string("rank").value_or("x"));
        const auto cores = decode_idset(entry.at("children").string("core").value_or(""));
        const auto gpus = decode_idset(entry.at("children").string("gpu").value_or(""));
        for (const auto* part : {&ranks, &cores, &gpus}) {
            if (!*part) {
                return bad("execution.R_lite: " + part->error().message);
            }
        }
        for (const std::uint32_t rank : *ranks) {
            if (!nodes.emplace(rank, Node{{}, *cores, *gpus}).second) {
                return bad("execution.R_lite: rank " + std::to_string(rank) + " is there twice");
            }
        }
    }
    return nodes;
}

Result<std::vector<std::string>> read_hosts(const Json& list) {
    std::vector<std::string> hosts;
    std::size_t i = 0;
    json_t* value = nullptr;
    json_array_foreach(list.get(), i, value) {
        const char* text = json_string_value(value);
        auto some = decode_hostlist(text != nullptr ? text : "");
        if (!some) {
            return some.error();
        }
        hosts.insert(hosts.end(), some->begin(), some->end());
    }
    return hosts;
}

}  // namespace

std::size_t Inventory::core_count() const {
    std::size_t count = 0;
    for (const Node& node : nodes) {
        count += node.cores.size();
    }
    return count;
}

std::size_t Inventory::gpu_count() const {
    std::size_t count = 0;
    for (const Node& node : nodes) {
        count += node.gpus.size();
    }
    return count;
}

Ids Inventory::ranks() const {
    Ids ranks(nodes.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        ranks[i] = static_cast<std::uint32_t>(i);
    }
    return ranks;
}

Json Inventory::to_r() const {
    Json lite = Json::array();
    std::vector<std::string> hosts;
    for (std::size_t i = 0; i < nodes.size();) {
        Ids same;
        std::size_t j = i;
        for (; j < nodes.size() && nodes[j].cores == nodes[i].cores && nodes[j].gpus == nodes[i].gpus; ++j) {
            same.push_back(static_cast<std::uint32_t>(j));
            hosts.push_back(nodes[j].host);
        }
        json_array_append(lite.get(), lite_entry(same, nodes[i]).get());
        i = j;
    }
    Json nodelist = Json::array();
    if (!hosts.empty()) {
        json_array_append(nodelist.get(), Json::string_of(encode_hostlist(hosts)).get());
    }
    Json execution = Json::take(json_pack("{s:O s:O s:f s:f}", "R_lite", lite.get(), "nodelist", nodelist.get(),
                                          "starttime", 0.0, "expiration", expiration));
    if (!properties.empty()) {
        Json all = Json::object();
        for (const auto& [name, members] : properties) {
            all.set(name.c_str(), Json::string_of(encode_idset(members)));
        }
        execution.set("properties", all);
    }
    return Json::take(json_pack("{s:i s:O}", "version", 1, "execution", execution.get()));
}

Result<Inventory> inventory_from_r(const Json& r) {
    const Json execution = r.at("execution");
    if (r.integer("version") != 1 || !json_is_array(execution.at("R_lite").get())) {
        return bad("version must be 1, and execution.R_lite a list");
    }
    auto nodes = read_lite(execution.at("R_lite"));
    if (!nodes) {
        return nodes.error();
    }
    auto hosts = read_hosts(execution.at("nodelist"));
    if (!hosts) {
        return hosts.error();
    }
    if (hosts->size() != nodes->size()) {
        return bad("execution.nodelist names " + std::to_string(hosts->size()) + " hosts for " +
                   std::to_string(nodes->size()) + " ranks");
    }
    Inventory out;
    std::map<std::uint32_t, std::uint32_t> new_rank;
    for (auto& [rank, node] : *nodes) {
        new_rank[rank] = static_cast<std::uint32_t>(out.nodes.size());
        node.host = (*hosts)[out.nodes.size()];
        out.nodes.push_back(std::move(node));
    }
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(execution.at("properties").get(), name, value) {
        const auto members = decode_idset(json_string_value(value) != nullptr ? json_string_value(value) : "x");
        if (!members) {
            return bad(std::string("execution.properties.") + name + ": " + members.error().message);
        }
        for (const std::uint32_t rank : *members) {
            if (const auto it = new_rank.find(rank); it != new_rank.end()) {
                out.properties[name].push_back(it->second);
            }
        }
    }
    out.expiration = execution.number("expiration").value_or(0);
    return out;
}

}  // namespace weir::broker
