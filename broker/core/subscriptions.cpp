// SPDX-License-Identifier: LGPL-3.0-only
// Owns: matching of event topics against prefixes. Must not know messages.
#include "broker/core/subscriptions.hpp"

namespace weir::broker {

void Subscriptions::add(std::string_view prefix) {
    const auto it = counts_.find(prefix);
    if (it == counts_.end()) {
        counts_.emplace(prefix, 1);
    } else {
        ++it->second;
    }
}

bool Subscriptions::remove(std::string_view prefix) {
    const auto it = counts_.find(prefix);
    if (it == counts_.end()) {
        return false;
    }
    if (--it->second == 0) {
        counts_.erase(it);
    }
    return true;
}

bool Subscriptions::match(std::string_view topic) const {
    for (const auto& [prefix, count] : counts_) {
        if (prefix > topic) {  // sorted: no later one can be a prefix
            return false;
        }
        if (topic.substr(0, prefix.size()) == prefix) {
            return true;
        }
    }
    return false;
}

}  // namespace weir::broker
