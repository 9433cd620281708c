// SPDX-License-Identifier: LGPL-3.0-only
#include <rapidcheck/catch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "broker/core/subscriptions.hpp"

using weir::broker::Subscriptions;

namespace {

/// Short words of two letters, so that prefixes of one another are common.
rc::Gen<std::string> word() {
    return rc::gen::resize(4, rc::gen::container<std::string>(rc::gen::element('a', 'b')));
}

}  // namespace

// Kills: leaving the search at the first greater prefix too early; counting removals wrongly.
TEST_CASE("subscriptions agree with a plain list of prefixes") {
    rc::prop("match is: some subscription that was not taken back is a prefix", [] {
        Subscriptions subs;
        std::vector<std::string> model;
        for (const auto& [prefix, is_added] : *rc::gen::container<std::vector<std::pair<std::string, bool>>>(
                 rc::gen::pair(word(), rc::gen::weightedElement<bool>({{2, true}, {1, false}})))) {
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
        const std::string topic = *word();
        const bool expected = std::any_of(
            model.begin(), model.end(), [&topic](const std::string& p) { return topic.compare(0, p.size(), p) == 0; });
        RC_ASSERT(subs.match(topic) == expected);
    });
}
