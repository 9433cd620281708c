// SPDX-License-Identifier: LGPL-3.0-only
// Owns: orders as their receiver gets them, for tests of the codec.
#pragma once
#include <vector>

#include "modules/job-route/messages_json.hpp"

namespace weir::route::test {

inline Result<std::vector<Order>> sent_and_read(const std::vector<Order>& orders) {
    OrdersText message;
    for (const Order& order : orders) {
        message.add(order);
    }
    const std::string text = message.text();
    FlatJson reader;
    return decode_orders(reader.read(text));
}

}  // namespace weir::route::test
