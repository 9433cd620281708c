// SPDX-License-Identifier: LGPL-3.0-only
// Owns: asking hwloc what this machine has. The only file that includes hwloc. Must not know other sources.
#include <hwloc.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "broker/services/resource_source.hpp"

namespace weir::broker {
namespace {

struct Destroy {
    void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
    void operator()(hwloc_bitmap_s* b) const { hwloc_bitmap_free(b); }
};

/// Logical numbers of the cores that this process may use; processing units where hwloc sees no cores.
IdSet usable_cores(hwloc_topology_t topology) {
    const std::unique_ptr<hwloc_bitmap_s, Destroy> allowed(hwloc_bitmap_alloc());
    const bool is_bound = hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_PROCESS) == 0;
    const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
    const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    IdSet ids;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(topology, type, at)) != nullptr;) {
        if (!is_bound || hwloc_bitmap_intersects(at->cpuset, allowed.get()) != 0) {
            ids.add(at->logical_index);
        }
    }
    return ids;
}

/// GPUs count once, by the PCI device that their OS devices belong to.
IdSet gpus(hwloc_topology_t topology) {
    IdSet ids;
    hwloc_obj_t last_parent = nullptr;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_osdev(topology, at)) != nullptr;) {
        const bool is_gpu = at->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC;
        if (is_gpu && at->parent != last_parent) {
            last_parent = at->parent;
            ids.add(static_cast<std::uint32_t>(ids.count()));
        }
    }
    return ids;
}

/// Of all its NUMA nodes together, whole MiB.
std::uint32_t memory_mib(hwloc_topology_t topology) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(hwloc_get_root_obj(topology)->total_memory >> 20,
                                                              std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Result<Inventory> machine_inventory(const std::string& host) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) < 0) {
        return Error{std::errc::not_enough_memory, "hwloc cannot be initialised"};
    }
    const std::unique_ptr<hwloc_topology, Destroy> topology(raw);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(raw) < 0) {
        return Error{std::errc::io_error, "hwloc cannot read this machine's topology; configure [[resource.config]]"};
    }
    Inventory out;
    out.nodes.push_back(Node{host, usable_cores(raw), gpus(raw), memory_mib(raw)});
    if (out.nodes[0].cores.empty()) {
        return Error{std::errc::io_error, "hwloc sees no core here; configure [[resource.config]]"};
    }
    return out;
}

}  // namespace weir::broker
