// SPDX-License-Identifier: LGPL-3.0-only
// The payers that children's records name: asked once, and not remembered without end.
#include <catch2/catch.hpp>
#include <string>

#include "modules/job-priority/charges/payer_memo.hpp"

using namespace weir;
using namespace weir::priority;

// Mutant: modules/job-priority/charges/payer_memo.hpp: payers_.size() >= entries_max => false
TEST_CASE("children: names that a guest's child makes up are not remembered without end") {
    PayerMemo memo;
    std::size_t asked = 0;
    const auto name = [&](const std::string& user) {
        return memo.of({user, "bio", "", ""}, [&asked]() -> PayerMemo::Payer {
            asked += 1;
            return std::nullopt;
        });
    };
    name("first");
    name("first");
    CHECK(asked == 1);
    for (std::size_t i = 0; i < PayerMemo::entries_max; ++i) {
        name("made up " + std::to_string(i));
    }
    asked = 0;
    name("first");
    CHECK(asked == 1);
}
