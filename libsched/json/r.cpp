// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 20 R version 1.
#include "libsched/json/r.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "libsched/json/reader.hpp"
#include "libsched/resource/hostlist.hpp"

namespace weir {
namespace {

using json::Value;

constexpr std::uint64_t nodes_max = 1U << 20;

IdSet read_ids(const Value& value) {
    return value.take(IdSet::parse(value.string()));
}

void read_entry(const Value& entry, ResourceSet& set, IdSet& seen) {
    const Value rank = entry.at("rank");
    const IdSet ranks = read_ids(rank);
    if (ranks.empty()) {
        rank.fail("names no rank");
    }
    if (ranks.intersects(seen)) {
        rank.fail("a rank is listed twice");
    }
    if (ranks.count() + seen.count() > nodes_max) {
        rank.fail("more than 1048576 ranks");
    }
    seen.add(ranks);
    const Value children = entry.at("children");
    NodeResources node;
    if (const auto core = children.find("core")) {
        node.cores = read_ids(*core);
    }
    if (const auto gpu = children.find("gpu")) {
        node.gpus = read_ids(*gpu);
    }
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
        auto names = item.take(hostlist_decode(item.string()));
        if (names.size() + r.hosts.size() > r.resources.nodes.size()) {
            item.fail("more host names than ranks");
        }
        std::move(names.begin(), names.end(), std::back_inserter(r.hosts));
    }
    if (r.hosts.size() != r.resources.nodes.size()) {
        list.fail(std::to_string(r.hosts.size()) + " host names for " + std::to_string(r.resources.nodes.size()) +
                  " ranks");
    }
}

void read_memory(const Value& list, R& r) {
    for (std::size_t i = 0; i < list.size(); i++) {
        const Value entry = list[i];
        const auto mib = static_cast<std::uint32_t>(entry.at("value").integer(0, 0xFFFFFFFF));
        const auto ranks = entry.find("ranks");
        const IdSet wanted = ranks ? read_ids(*ranks) : IdSet{};
        const Value hosts = ranks ? *ranks : entry.at("hosts");
        const auto names = ranks ? std::vector<std::string>{} : hosts.take(hostlist_decode(hosts.string()));
        const std::set<std::string_view> by_name(names.begin(), names.end());
        for (std::size_t n = 0; n < r.resources.nodes.size(); n++) {
            NodeResources& node = r.resources.nodes[n];
            if (wanted.contains(node.rank) || (n < r.hosts.size() && by_name.contains(r.hosts[n]))) {
                node.memory_mib = mib;
            }
        }
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
            by_name ? hosts.push_back(r.hosts[n]) : ranks.add(r.resources.nodes[n].rank);
        }
        Json entry = Json::object();
        by_name ? entry.set("hosts", hostlist_encode(hosts)) : entry.set("ranks", ranks.encode());
        entry.set("value", mib);
        list.append(std::move(entry));
    }
    return list;
}

R read_r(const Value& document) {
    document.at("version").integer(1, 1);
    const Value execution = document.at("execution");
    const Value lite = execution.at("R_lite");
    R r;
    IdSet seen;
    for (std::size_t i = 0; i < lite.size(); i++) {
        read_entry(lite[i], r.resources, seen);
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
        const auto weir = scheduling->find("weir");
        const auto memory = weir ? weir->find("memory_mib") : std::nullopt;
        if (memory) {
            read_memory(*memory, r);
        }
    }
    return r;
}

}  // namespace

Result<R> decode_r(json_t* document) {
    return json::read_json(document, "R", read_r);
}

Result<R> decode_r(std::string_view text) {
    auto document = Json::parse(text);
    if (!document) {
        return Error{document.error().code, "R: " + document.error().message};
    }
    return decode_r(document->get());
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
        execution.set("nodelist", std::move(Json::array().append(Json::string(hostlist_encode(r.hosts)))));
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
