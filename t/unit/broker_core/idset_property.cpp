// SPDX-License-Identifier: LGPL-3.0-only
#include <rapidcheck/catch.h>

#include <algorithm>

#include "broker/services/idset.hpp"

using namespace weir::broker;

// Kills: ranges that lose their last member; runs that join across a gap.
TEST_CASE("idset: encoding and decoding are inverse") {
    rc::prop("decode(encode(ids)) == ids", [](std::vector<std::uint8_t> raw) {
        Ids ids(raw.begin(), raw.end());
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        RC_ASSERT(*decode_idset(encode_idset(ids)) == ids);
    });
}

// Kills: zero padding lost or invented; hosts folded across different prefixes or widths; order changed.
TEST_CASE("hostlist: encoding and decoding are inverse") {
    rc::prop("decode(encode(hosts)) == hosts", [] {
        const auto host = rc::gen::apply(
            [](const char* head, unsigned number, bool is_padded) {
                const std::string digits = std::to_string(number);
                return std::string(head) + (is_padded && digits.size() < 3 ? std::string(3 - digits.size(), '0') : "") +
                       digits;
            },
            rc::gen::element("n", "gpu-", "a1b"), rc::gen::inRange(0u, 12u), rc::gen::arbitrary<bool>());
        const auto hosts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(host));
        RC_ASSERT(*decode_hostlist(encode_hostlist(hosts)) == hosts);
    });
}
