// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as a jobspec and as a duration: what is accepted is written and read back the same.
#include <cstdint>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libsched/json/jobspec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto spec = weir::decode_jobspec(text)) {
        const auto again = weir::decode_jobspec(weir::encode_jobspec(*spec).dump());
        WEIR_CHECK(again.has_value());
        WEIR_CHECK(again->request == spec->request);
        WEIR_CHECK(again->queue == spec->queue && again->command == spec->command);
    }
    if (const auto duration = weir::parse_fsd(text)) {
        WEIR_CHECK(*duration >= weir::Duration::zero());
        WEIR_CHECK(weir::parse_fsd(weir::encode_fsd(*duration)).has_value());
    }
    return 0;
}
