// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 20 R version 1.
#include "libfairshare/base/json/r.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/json/reader.hpp"

namespace weir {
namespace {

using json::Value;

constexpr std::uint64_t ids_max = 1U << 20;  ///< cores or gpus of a node
constexpr std::uint64_t ranges_max =
    1U << 22;  ///< of ids, over all nodes: a few bytes of text may give each of them many
constexpr std::size_t memory_sizes_max = 1024;  ///< entries, each of which is held against every node

IdSet read_ids(const Value& value) {
    return value.take(IdSet::parse(value.string()));
}

/// Cores or gpus of a node. The bound lets all later code iterate over the set.
IdSet read_children(const Value& children, const char* kind) {
    const auto value = children.find(kind);
    IdSet ids = value ? read_ids(*value) : IdSet{};
    if (ids.count() > ids_max) {
        value->fail("more than 1048576 ids");
    }
    return ids;
}

/// How much more of the document may be read.
struct ResourceBudget {
    std::uint64_t nodes;
    std::uint64_t ranges = ranges_max;
};

void read_entry(const Value& entry, ResourceSet& set, IdSet& seen, ResourceBudget& left) {
    const Value rank = entry.at("rank");
    const IdSet ranks = read_ids(rank);
    if (ranks.empty()) {
        rank.fail("names no rank");
    }
    if (ranks.intersects(seen)) {
        rank.fail("a rank is listed twice");
    }
    if (ranks.count() > left.nodes) {
        rank.fail("more than " + std::to_string(left.nodes + seen.count()) + " ranks");
    }
    left.nodes -= ranks.count();
    seen.add(ranks);
    const Value children = entry.at("children");
    NodeResources node;
    node.cores = read_children(children, "core");
    node.gpus = read_children(children, "gpu");
    const std::uint64_t ranges = ranks.count() * (node.cores.ranges().size() + node.gpus.ranges().size());
    if (ranges > left.ranges) {
        entry.fail("more than 4194304 ranges of cores and gpus");
    }
    left.ranges -= ranges;
    ranks.each([&](std::uint32_t id) {
        node.rank = id;
        set.nodes.push_back(node);
    });
}

double read_time(const Value& execution, const char* key) {
    const auto value = execution.find(key);
    if (!value) {
        return 0.;
    }
    const double seconds = value->number();
    if (!(seconds >= 0.)) {
        value->fail("must not be negative");
    }
    return seconds;
}

/// A nodelist is one or more hostlists; together as many names as ranks.
void read_hosts(const Value& list, R& r) {
    for (std::size_t i = 0; i < list.size(); i++) {
        const Value item = list[i];
        if (r.hosts.size() == r.resources.nodes.size()) {
            item.fail("more host names than ranks");
        }
        auto names = item.take(hostlist_decode(item.string(), r.resources.nodes.size() - r.hosts.size()));
        std::move(names.begin(), names.end(), std::back_inserter(r.hosts));
    }
    if (r.hosts.size() != r.resources.nodes.size()) {
        list.fail(std::to_string(r.hosts.size()) + " host names for " + std::to_string(r.resources.nodes.size()) +
                  " ranks");
    }
}

/// Names at most `names_max` hosts in all, perhaps others than those of `r`: a slice may keep what its whole has.
void read_memory(const Value& list, R& r, std::uint64_t names_max) {
    if (list.size() > memory_sizes_max) {
        list.fail("more than 1024 sizes of memory");
    }
    for (std::size_t i = 0; i < list.size(); i++) {
        const Value entry = list[i];
        const auto mib = static_cast<std::uint32_t>(entry.at("value").integer(0, 0xFFFFFFFF));
        const auto ranks = entry.find("ranks");
        const IdSet wanted = ranks ? read_ids(*ranks) : IdSet{};
        const Value hosts = ranks ? *ranks : entry.at("hosts");
        const auto names = ranks ? std::vector<std::string>{} : hosts.take(hostlist_decode(hosts.string(), names_max));
        names_max -= names.size();
        const std::set<std::string_view> by_name(names.begin(), names.end());
        for (std::size_t n = 0; n < r.resources.nodes.size(); n++) {
            NodeResources& node = r.resources.nodes[n];
            if (wanted.contains(node.rank) || (n < r.hosts.size() && by_name.contains(r.hosts[n]))) {
                node.memory_mib = mib;
            }
        }
    }
}

void read_scheduling(const Value& scheduling, R& r, std::uint64_t names_max) {
    const auto weir = scheduling.find("weir");
    const auto memory = weir ? weir->find("memory_mib") : std::nullopt;
    if (memory) {
        read_memory(*memory, r, names_max);
    }
}

/// Nodes with the same memory share an entry; those with none have none.
Json encode_memory(const R& r) {
    const std::set<std::string_view> names(r.hosts.begin(), r.hosts.end());
    const bool by_name = !r.hosts.empty() && names.size() == r.hosts.size();
    std::map<std::uint32_t, std::vector<std::size_t>> nodes;
    for (std::size_t n = 0; n < r.resources.nodes.size(); n++) {
        if (r.resources.nodes[n].memory_mib > 0) {
            nodes[r.resources.nodes[n].memory_mib].push_back(n);
        }
    }
    Json list = Json::array();
    for (const auto& [mib, places] : nodes) {
        std::vector<std::string> hosts;
        IdSet ranks;
        for (const std::size_t n : places) {
            if (by_name) {
                hosts.push_back(r.hosts[n]);
            } else {
                ranks.add(r.resources.nodes[n].rank);
            }
        }
        Json entry = Json::object();
        if (by_name) {
            entry.set("hosts", hostlist_encode(hosts));
        } else {
            entry.set("ranks", ranks.encode());
        }
        entry.set("value", mib);
        list.append(std::move(entry));
    }
    return list;
}

R read_r(const Value& document, std::uint64_t nodes_max) {
    document.at("version").integer(1, 1);
    const Value execution = document.at("execution");
    const Value lite = execution.at("R_lite");
    R r;
    IdSet seen;
    ResourceBudget left{nodes_max};
    for (std::size_t i = 0; i < lite.size(); i++) {
        read_entry(lite[i], r.resources, seen, left);
    }
    std::sort(r.resources.nodes.begin(), r.resources.nodes.end(),
              [](const NodeResources& a, const NodeResources& b) { return a.rank < b.rank; });
    r.starttime = read_time(execution, "starttime");
    r.expiration = read_time(execution, "expiration");
    if (const auto list = execution.find("nodelist"); list && list->size() > 0) {
        read_hosts(*list, r);
    }
    if (const auto properties = execution.find("properties")) {
        if (!json_is_object(properties->get())) {
            properties->fail("must be an object");
        }
        const char* name = nullptr;
        json_t* ids = nullptr;
        json_object_foreach(properties->get(), name, ids) {
            const Value value(ids, properties->path() + "." + name);
            r.properties.emplace_back(name, read_ids(value));
        }
    }
    if (const auto scheduling = document.find("scheduling"); scheduling && json_is_object(scheduling->get())) {
        read_scheduling(*scheduling, r, nodes_max);
    }
    return r;
}

}  // namespace

Result<R> decode_r(json_t* document, std::uint64_t nodes_max) {
    return json::read_json(document, "R", [nodes_max](const Value& value) { return read_r(value, nodes_max); });
}

Result<R> decode_r(std::string_view text, std::uint64_t nodes_max) {
    auto document = Json::parse(text);
    if (!document) {
        return Error{document.error().code, "R: " + document.error().message};
    }
    return decode_r(document->get(), nodes_max);
}

Status decode_memory(json_t* scheduling, R& r) {
    return json::read_json(scheduling, "scheduling", [&r](const Value& value) {
        R changed = r;
        read_scheduling(value, changed, r_nodes_max);
        r = std::move(changed);
        return Done{};
    });
}

NodeProperties properties_of(const ResourceSet& nodes, const NodeProperties& all) {
    NodeProperties properties;
    for (const auto& [name, ranks] : all) {
        IdSet some;
        for (const NodeResources& node : nodes.nodes) {
            if (ranks.contains(node.rank)) {
                some.add(node.rank);
            }
        }
        if (!some.empty()) {
            properties.emplace_back(name, std::move(some));
        }
    }
    return properties;
}

Json encode_r(const R& r) {
    // Ranks by what they hold, in order of the first rank of each kind.
    std::vector<std::pair<const NodeResources*, IdSet>> entries;
    std::map<std::pair<std::string, std::string>, std::size_t> kinds;
    for (const NodeResources& node : r.resources.nodes) {
        const auto [place, is_new] = kinds.try_emplace({node.cores.encode(), node.gpus.encode()}, entries.size());
        if (is_new) {
            entries.emplace_back(&node, IdSet{});
        }
        entries[place->second].second.add(node.rank);
    }
    Json lite = Json::array();
    for (const auto& [node, ranks] : entries) {
        Json children = Json::object();
        children.set("core", node->cores.encode());
        if (!node->gpus.empty()) {
            children.set("gpu", node->gpus.encode());
        }
        Json entry = Json::object();
        entry.set("rank", ranks.encode()).set("children", std::move(children));
        lite.append(std::move(entry));
    }
    Json execution = Json::object();
    execution.set("R_lite", std::move(lite)).set("starttime", r.starttime).set("expiration", r.expiration);
    if (!r.hosts.empty()) {
        execution.set("nodelist", std::move(Json::array().append(hostlist_encode(r.hosts))));
    } else if (r.resources.nodes.empty()) {
        execution.set("nodelist", Json::array());
    }
    if (!r.properties.empty()) {
        Json properties = Json::object();
        for (const auto& [name, ids] : r.properties) {
            properties.set(name.c_str(), ids.encode());
        }
        execution.set("properties", std::move(properties));
    }
    Json document = Json::object();
    document.set("version", 1).set("execution", std::move(execution));
    if (Json memory = encode_memory(r); json_array_size(memory.get()) > 0) {
        Json weir = Json::object();
        weir.set("memory_mib", std::move(memory));
        document.set("scheduling", std::move(Json::object().set("weir", std::move(weir))));
    }
    return document;
}

}  // namespace weir
