// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as a job's constraints (RFC 31): what is accepted picks each node whatever other nodes there are, and "not"
// picks the others; what is not is explained.
#include <cstdint>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libsched/json/constraint.hpp"

namespace {

const weir::NodeNames& nodes() {
    static const weir::NodeNames made{{{0, "n0"}, {1, "n1"}, {2, "n2"}, {7, "gpu7"}},
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
    for (const auto& [rank, host] : nodes().hosts) {
        all.add(weir::IdSet::range(rank, rank));
    }
    const weir::IdSet picked = weir::ranks_for(*constraint, nodes(), all);
    const weir::IdSet left = weir::ranks_for(opposite, nodes(), all);
    WEIR_CHECK(picked.count() + left.count() == all.count());
    for (const auto& [rank, host] : nodes().hosts) {
        const weir::IdSet alone = weir::ranks_for(*constraint, nodes(), weir::IdSet::range(rank, rank));
        WEIR_CHECK(picked.contains(rank) == alone.contains(rank) && picked.contains(rank) != left.contains(rank));
    }
    return 0;
}
