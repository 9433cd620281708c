// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see event_bytes.hpp.
#include "cmd/serve/event_bytes.hpp"

#include <zlib.h>

#include "libfairshare/base/check.hpp"

namespace weir::cmd {

const std::string& EventBytes::packed() const {
    if (!packed_.empty()) {
        return packed_;
    }
    z_stream stream{};
    WEIR_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    constexpr std::size_t flush_bytes = 16;  // more than a flush adds
    packed_.resize(deflateBound(&stream, plain_.size()) + flush_bytes);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain_.data()));
    stream.avail_in = static_cast<uInt>(plain_.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed_.data());
    stream.avail_out = static_cast<uInt>(packed_.size());
    WEIR_CHECK(deflate(&stream, Z_SYNC_FLUSH) == Z_OK && stream.avail_in == 0 && stream.avail_out > 0);
    packed_.resize(stream.total_out);
    (void)deflateEnd(&stream);
    return packed_;
}

std::string gzip_head() {
    return {"\x1f\x8b\x08\0\0\0\0\0\x04\x03", 10};
}

}  // namespace weir::cmd
