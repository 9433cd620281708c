// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see equal_shares_order.hpp.
#include "libfairshare/algorithms/equal_shares_order.hpp"

namespace weir {

void EqualSharesOrder::add() {
    const auto member = static_cast<Member>(size());
    order_.insert(order_.begin(), member);
    place_.push_back(0);
    ahead_.push_back(0);
    for (std::size_t at = 0; at < order_.size(); at++) {
        place_[order_[at]] = static_cast<std::uint32_t>(at);
    }
    has_used_.push_back(false);
    usage_.push_back(0);
    read_in_.push_back(0);
    is_longer_ = true;
}

}  // namespace weir
