// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing of R. Must not know where resources come from.
#include "broker/services/resource_inventory.hpp"

#include <algorithm>
#include <numeric>
#include <set>

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
            if (!nodes.emplace(rank, Node{{}, *cores, *gpus, 0}).second) {
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

/// Nodes with the same memory share an entry; those with none known have none.
Json memory_entries(const std::vector<Node>& nodes) {
    std::map<std::uint32_t, Ids> ranks;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].memory_mib > 0) {
            ranks[nodes[i].memory_mib].push_back(static_cast<std::uint32_t>(i));
        }
    }
    Json list = Json::array();
    for (const auto& [mib, members] : ranks) {
        json_array_append_new(list.get(), json_pack("{s:s s:I}", "ranks", encode_idset(members).c_str(), "value",
                                                    static_cast<json_int_t>(mib)));
    }
    return list;
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
    Json r = Json::take(json_pack("{s:i s:O}", "version", 1, "execution", execution.get()));
    if (const Json memory = memory_entries(nodes); json_array_size(memory.get()) > 0) {
        r.set("scheduling", Json::take(json_pack("{s:{s:O}}", "weir", "memory_mib", memory.get())));
    }
    return r;
}

Inventory Inventory::numbered_from_zero() const {
    Inventory out = *this;
    for (Node& node : out.nodes) {
        std::iota(node.cores.begin(), node.cores.end(), 0U);
        std::iota(node.gpus.begin(), node.gpus.end(), 0U);
    }
    return out;
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
    if (auto taken = take_memory(r.at("scheduling"), new_rank, out); !taken) {
        return taken.error();
    }
    return out;
}

Status take_memory(const Json& scheduling, const std::map<std::uint32_t, std::uint32_t>& rank_of,
                   Inventory& inventory) {
    std::vector<Node> nodes = inventory.nodes;
    const Json list = scheduling.at("weir").at("memory_mib");
    if (list && !json_is_array(list.get())) {
        return bad("scheduling.weir.memory_mib: must be a list");
    }
    std::size_t i = 0;
    json_t* value = nullptr;
    json_array_foreach(list.get(), i, value) {
        const Json entry = Json::share(value);
        const std::string where = "scheduling.weir.memory_mib[" + std::to_string(i) + "]";
        const auto mib = entry.integer("value");
        if (!mib || *mib < 0 || *mib > 0xFFFFFFFFLL) {
            return bad(where + ".value: must be MiB, from 0 to 4294967295");
        }
        const auto ranks = decode_idset(entry.string("ranks").value_or(""));
        const auto text = entry.string("hosts");
        const auto hosts = text ? decode_hostlist(*text) : std::vector<std::string>{};
        if (!ranks || !hosts || (ranks->empty() && hosts->empty())) {
            return bad(where + ": " +
                       (!ranks   ? ranks.error().message
                        : !hosts ? hosts.error().message
                                 : "names neither hosts nor ranks"));
        }
        for (const std::uint32_t rank : *ranks) {
            if (const auto it = rank_of.find(rank); it != rank_of.end()) {
                nodes[it->second].memory_mib = static_cast<std::uint32_t>(*mib);
            }
        }
        const std::set<std::string> names(hosts->begin(), hosts->end());
        for (Node& node : nodes) {
            node.memory_mib = names.contains(node.host) ? static_cast<std::uint32_t>(*mib) : node.memory_mib;
        }
    }
    inventory.nodes = std::move(nodes);
    return Done{};
}

}  // namespace weir::broker
