// SPDX-License-Identifier: LGPL-3.0-only
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "broker/core/subscriptions.hpp"
#include "t/unit/draws.hpp"

using weir::broker::Subscriptions;

namespace {

/// Short words of two letters, so that prefixes of one another are common.
std::string word() {
    std::string letters;
    for (int count = draw::in_range(0, 5); count > 0; count--) {
        letters += draw::element('a', 'b');
    }
    return letters;
}

}  // namespace

// Kills: leaving the search at the first greater prefix too early; counting removals wrongly.
TEST_CASE("subscriptions agree with a plain list of prefixes") {
    draw::property("match is: some subscription that was not taken back is a prefix", [] {
        Subscriptions subs;
        std::vector<std::string> model;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const std::string prefix = word();
            const bool is_added = draw::element(true, true, false);
            const auto it = std::find(model.begin(), model.end(), prefix);
            if (is_added) {
                subs.add(prefix);
                model.push_back(prefix);
            } else {
                RC_ASSERT(subs.remove(prefix) == (it != model.end()));
                if (it != model.end()) {
                    model.erase(it);
                }
            }
        }
        const std::string topic = word();
        const bool expected = std::any_of(
            model.begin(), model.end(), [&topic](const std::string& p) { return topic.compare(0, p.size(), p) == 0; });
        RC_ASSERT(subs.match(topic) == expected);
    });
}
