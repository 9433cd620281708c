// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as a job's constraints (RFC 31): what is accepted picks each node whatever other nodes there are, and "not"
// picks the others; what is not is explained.
#include <cstdint>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libsched/json/constraint.hpp"

namespace {

const weir::NodeNames& nodes() {
    static const weir::NodeNames made{{{"n0", weir::IdSet::range(0, 0)},
                                       {"n1", weir::IdSet::range(1, 1)},
                                       {"n2", weir::IdSet::range(2, 2)},
                                       {"gpu7", weir::IdSet::range(7, 7)}},
                                      {{"fast", weir::IdSet::range(1, 2)}, {"gpu", weir::IdSet::range(7, 7)}}};
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto constraint = weir::decode_constraint({reinterpret_cast<const char*>(data), size});
    if (!constraint) {
        WEIR_CHECK(!constraint.error().message.empty());
        return 0;
    }
    weir::Constraint opposite;
    opposite.kind = weir::Constraint::Kind::not_all;
    opposite.parts = {*constraint};
    weir::IdSet all;
    for (const auto& [host, ranks] : nodes().hosts) {
        all.add(ranks);
    }
    const weir::IdSet picked = weir::ranks_for(*constraint, nodes(), all);
    const weir::IdSet left = weir::ranks_for(opposite, nodes(), all);
    WEIR_CHECK(picked.count() + left.count() == all.count());
    for (const auto& [host, ranks] : nodes().hosts) {
        const std::uint32_t rank = ranks.first();
        const weir::IdSet alone = weir::ranks_for(*constraint, nodes(), ranks);
        WEIR_CHECK(picked.contains(rank) == alone.contains(rank) && picked.contains(rank) != left.contains(rank));
    }
    return 0;
}
