// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for every text that claims to be billing weights.
#include <cstdint>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libfairshare/usage/billing.hpp"

using namespace weir;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto weights = BillingWeights::parse(text);
    if (!weights) {
        WEIR_CHECK(!weights.error().message.empty());
        return 0;
    }
    const std::vector<ResourceAmount> job{{"cpu", 1}, {"mem", 1}, {"node", 1}, {"gres/gpu", 1}, {"license/x", 1}};
    const double sum = weights->cost(job, BillingRule::sum);
    const double dearest = weights->cost(job, BillingRule::max_tres);
    WEIR_CHECK(sum >= 0 && dearest >= 0 && dearest <= sum);
    return 0;
}
