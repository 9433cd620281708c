// SPDX-License-Identifier: LGPL-3.0-only
// Owns: facts and the union of R.
// Must not know: jobs' states, flux_t.
#include "broker/services/job-manager/codecs/resource_set.hpp"

#include "libfairshare/base/hostlist.hpp"

namespace weir::broker::jobs {

ResourceFacts resource_facts(const json_t* r) {
    ResourceFacts facts;
    const auto decoded = decode_r(const_cast<json_t*>(r));
    if (!decoded) {
        return facts;
    }
    const IdSet ranks = ranks_of(decoded->resources);
    facts.ncores = static_cast<int>(core_count(decoded->resources));
    facts.nnodes = static_cast<int>(ranks.count());
    facts.ranks = ranks.count() > 1 ? "[" + ranks.encode() + "]" : ranks.encode();
    facts.nodelist = hostlist_encode(decoded->hosts);
    facts.expiration = read_number(json_object_get(r, "execution"), "expiration").value_or(-1);
    return facts;
}

Allocation allocation_of(Json r) {
    std::string text = r.dump();
    ResourceFacts facts = resource_facts(r.get());
    return {std::move(text), std::move(r), std::move(facts)};
}

Status ResourceUnion::add(const json_t* r) {
    auto decoded = decode_r(const_cast<json_t*>(r));
    if (!decoded) {
        return decoded.error();
    }
    for (std::size_t i = 0; i < decoded->resources.nodes.size(); i++) {
        const NodeResources& more = decoded->resources.nodes[i];
        Node& node = nodes_[more.rank];
        node.cores.add(more.cores);
        node.gpus.add(more.gpus);
        if (!decoded->hosts.empty()) {
            node.host = decoded->hosts[i];
        }
    }
    return Done{};
}

Json ResourceUnion::to_r() const {
    R sum;
    bool has_hosts = true;
    for (const auto& [rank, node] : nodes_) {
        sum.resources.nodes.push_back({rank, node.cores, node.gpus, 0});
        sum.hosts.push_back(node.host);
        has_hosts = has_hosts && !node.host.empty();
    }
    if (!has_hosts) {
        sum.hosts.clear();
    }
    return encode_r(sum);
}

}  // namespace weir::broker::jobs
