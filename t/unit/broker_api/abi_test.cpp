// SPDX-License-Identifier: LGPL-3.0-only
// Our <flux/core.h> and <flux/jobtap.h> against flux-core's, entry by entry: sizes, offsets, constants and the type of
// every function.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using AbiList = std::vector<std::pair<std::string, unsigned long long>>;
AbiList abi_of_ours();

#ifdef WEIR_HAS_FLUX_HEADERS
AbiList abi_of_flux();

TEST_CASE("abi: our headers and flux-core's agree") {
    const AbiList ours = abi_of_ours();
    const AbiList theirs = abi_of_flux();
    REQUIRE(ours.size() == theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
        CHECK(ours[i] == theirs[i]);
    }
}
#else
TEST_CASE("abi: our headers and flux-core's agree") {
    CHECK_FALSE(abi_of_ours().empty());
    // run_all.py shows this line as a skipped test.
    std::puts("[skip] no flux-core headers here (PKG_CONFIG_PATH): the ABI was not compared");
}
#endif
