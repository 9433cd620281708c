// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of orders. Must not know anything else of them.
#pragma once
#include <variant>

#include "libsched/order/fcfs.hpp"
#include "libsched/order/load_threshold.hpp"
#include "libsched/order/lsf.hpp"
#include "libsched/order/moab.hpp"
#include "libsched/order/multifactor.hpp"

namespace weir::order {

/// One row each: a policy that stands here is followed by job-priority and by the simulator.
template <Order... Orders>
struct Table {
    using Any = std::variant<Orders...>;
};
using AnyOrder = Table<Multifactor, Fcfs, Lsf, Moab, LoadThreshold>::Any;

/// Calls visit(std::in_place_type<O>) for the order O of the settings' policy. REQUIRES: it has a row.
template <std::size_t row = 0, typename Visit>
decltype(auto) with_order_of(PolicyKind policy, Visit&& visit) {
    using O = std::variant_alternative_t<row, AnyOrder>;
    if constexpr (row + 1 < std::variant_size_v<AnyOrder>) {
        if (O::policy != policy) {
            return with_order_of<row + 1>(policy, visit);
        }
    }
    WEIR_CHECK(O::policy == policy);
    return visit(std::in_place_type<O>);
}

inline AnyOrder make_order(const PolicySettings& settings, const MachineSize& machine) {
    return with_order_of(settings.policy, [&]<typename O>(std::in_place_type_t<O>) {
        return AnyOrder(std::in_place_type<O>, settings, machine);
    });
}

}  // namespace weir::order
