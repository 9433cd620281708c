// SPDX-License-Identifier: LGPL-3.0-only
// Owns: inflating by zlib.
#include <zlib.h>

#include "libfairshare/base/check.hpp"
#include "libsched/sim/inflate.hpp"

namespace weir {
namespace {

constexpr int gzip_only = 16 + MAX_WBITS;

}  // namespace

struct Inflate::State {
    z_stream stream{};
};

Inflate::Inflate() : state_(std::make_unique<State>()) {
    WEIR_CHECK(inflateInit2(&state_->stream, gzip_only) == Z_OK);
}

Inflate::~Inflate() {
    inflateEnd(&state_->stream);
}

Inflate::Got Inflate::inflate(Bytes& bytes) {
    z_stream& stream = state_->stream;
    stream.next_in = const_cast<std::uint8_t*>(bytes.in);  // it only reads
    stream.avail_in = bytes.in_left;
    stream.next_out = bytes.out;
    stream.avail_out = bytes.out_left;
    const int code = ::inflate(&stream, Z_NO_FLUSH);
    bytes = {stream.next_in, stream.avail_in, stream.next_out, stream.avail_out};
    if (code == Z_STREAM_END) {
        inflateReset(&stream);
        return Got::end;
    }
    return code == Z_OK || code == Z_BUF_ERROR ? Got::some : Got::broken;
}

}  // namespace weir
