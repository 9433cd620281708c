// SPDX-License-Identifier: LGPL-3.0-only
// Owns: resources that the configuration names. Must not know other sources.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "broker/services/resource_source.hpp"
#include "libfairshare/base/hostlist.hpp"

namespace weir::broker {
namespace {

Error bad_config(const std::string& key, const std::string& right) {
    return {std::errc::invalid_argument, "configuration key resource." + key + ": " + right};
}

constexpr std::uint64_t ids_max = 1U << 20;

/// Cores or GPUs of a node.
Result<IdSet> read_ids(const Json& entry, const char* key) {
    auto ids = IdSet::parse(entry.string_at(key).value_or(""));
    return ids && ids->count() > ids_max ? Error{std::errc::invalid_argument, "names more than 1048576 ids"} : ids;
}

Status add_properties(const Json& list, const IdSet& ranks, Inventory& out) {
    std::size_t i = 0;
    json_t* name = nullptr;
    json_array_foreach(list.get(), i, name) {
        if (!json_is_string(name)) {
            return bad_config("config.properties", "must be a list of strings");
        }
        out.properties[json_string_value(name)].add(ranks);
    }
    return Done{};
}

/// One entry: adds its hosts, or more cores, GPUs and properties to hosts that are there.
Status add_entry(const Json& entry, Inventory& out) {
    const auto text = entry.string_at("hosts");
    const auto hosts =
        text ? hostlist_decode(*text) : Result<std::vector<std::string>>(bad_config("config.hosts", "is missing"));
    const auto cores = read_ids(entry, "cores");
    const auto gpus = read_ids(entry, "gpus");
    if (!hosts) {
        return bad_config("config.hosts", hosts.error().message);
    }
    if (!cores || !gpus) {
        return bad_config(cores ? "config.gpus" : "config.cores", (cores ? gpus : cores).error().message);
    }
    IdSet ranks;
    for (const std::string& host : *hosts) {
        auto it =
            std::find_if(out.nodes.begin(), out.nodes.end(), [&host](const Node& node) { return node.host == host; });
        if (it == out.nodes.end()) {
            it = out.nodes.insert(it, Node{host, {}, {}, 0});
        }
        ranks.add(static_cast<std::uint32_t>(it - out.nodes.begin()));
        it->cores.add(*cores);
        it->gpus.add(*gpus);
    }
    return add_properties(entry.at("properties"), ranks, out);
}

Result<Inventory> from_entries(const Json& list) {
    Inventory out;
    std::size_t i = 0;
    json_t* entry = nullptr;
    json_array_foreach(list.get(), i, entry) {
        if (auto added = add_entry(Json::ref(entry), out); !added) {
            return added.error();
        }
    }
    for (const Node& node : out.nodes) {
        if (node.cores.empty()) {
            return bad_config("config", "host " + node.host + " has no cores");
        }
    }
    return out;
}

Result<Inventory> from_imagined(const Json& table) {
    const json_int_t nodes = table.integer_at("nodes").value_or(1);
    const json_int_t cores = table.integer_at("cores").value_or(0);
    const json_int_t gpus = table.integer_at("gpus").value_or(0);
    if (nodes < 1 || nodes > 1'000'000 || cores < 1 || cores > 65'536 || gpus < 0 || gpus > 65'536) {
        return bad_config("imagined", "nodes must be 1 to 1000000, cores 1 to 65536, gpus 0 to 65536");
    }
    const auto hosts = hostlist_decode(
        table.string_at("hostlist").value_or(nodes == 1 ? "node0" : "node[0-" + std::to_string(nodes - 1) + "]"));
    if (!hosts) {
        return bad_config("imagined.hostlist", hosts.error().message);
    }
    if (hosts->size() != static_cast<std::size_t>(nodes)) {
        return bad_config("imagined.hostlist",
                          "names " + std::to_string(hosts->size()) + " hosts, but nodes is " + std::to_string(nodes));
    }
    const auto first = [](json_int_t count) {
        return count == 0 ? IdSet() : IdSet::range(0, static_cast<std::uint32_t>(count - 1));
    };
    Inventory out;
    for (const std::string& host : *hosts) {
        out.nodes.push_back(Node{host, first(cores), first(gpus), 0});
    }
    return out;
}

Result<Json> json_file(const std::string& key, const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return bad_config(key, path + ": " + std::strerror(errno));
    }
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    json_error_t where{};
    Json document = Json::own(json_loadb(text.data(), text.size(), 0, &where));
    return document ? Result<Json>(std::move(document))
                    : bad_config(key, path + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) +
                                          ": " + where.text);
}

Result<Inventory> from_file(const std::string& path) {
    const auto r = json_file("path", path);
    if (!r) {
        return r.error();
    }
    auto inventory = inventory_from_r(*r);
    return inventory ? inventory : Result<Inventory>(bad_config("path", path + ": " + inventory.error().message));
}

/// The memory of nodes from the file [resource] scheduling.
Result<Inventory> with_scheduling(Result<Inventory> found, const Json& table) {
    if (!found || !table.at("scheduling")) {
        return found;
    }
    const auto path = table.string_at("scheduling");
    const auto part = path ? json_file("scheduling", *path) : bad_config("scheduling", "must be a file name");
    if (!part) {
        return part.error();
    }
    auto taken = take_memory(*part, *found);
    return taken ? found : Result<Inventory>(bad_config("scheduling", *path + ": " + taken.error().message));
}

}  // namespace

bool is_configured(const Json& table) {
    return table.at("config") || table.at("imagined") || table.at("path");
}

Result<Inventory> configured_inventory(const Json& table) {
    if (table.at("config")) {
        return json_is_array(table.at("config").get())
                   ? with_scheduling(from_entries(table.at("config")), table)
                   : Result<Inventory>(bad_config("config", "write [[resource.config]]"));
    }
    if (table.at("imagined")) {
        return with_scheduling(from_imagined(table.at("imagined")), table);
    }
    const auto path = table.string_at("path");
    return path ? with_scheduling(from_file(*path), table)
                : Result<Inventory>(bad_config("path", "must be a file name"));
}

}  // namespace weir::broker
