// SPDX-License-Identifier: LGPL-3.0-only
// Any bytes as R, as an idset and as a hostlist: what is accepted is written and read back the same.
#include <cstdint>
#include <string_view>

#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/json/r.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto r = weir::decode_r(text)) {
        WEIR_CHECK(*weir::decode_r(weir::encode_r(*r).dump()) == *r);
    }
    if (const auto ids = weir::IdSet::parse(text)) {
        WEIR_CHECK(*weir::IdSet::parse(ids->encode()) == *ids);
    }
    if (const auto names = weir::hostlist_decode(text); names && names->size() < 4096) {
        WEIR_CHECK(*weir::hostlist_decode(weir::hostlist_encode(*names)) == *names);
    }
    return 0;
}
