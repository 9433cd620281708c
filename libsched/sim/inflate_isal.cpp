// SPDX-License-Identifier: LGPL-3.0-only
// Owns: inflating by ISA-L, which takes a third of zlib's time.
#include <isa-l/igzip_lib.h>

#include "libsched/sim/inflate.hpp"

namespace weir {

struct Inflate::State {
    inflate_state stream;
};

Inflate::Inflate() : state_(std::make_unique<State>()) {
    isal_inflate_init(&state_->stream);
    state_->stream.crc_flag = ISAL_GZIP;
}

Inflate::~Inflate() = default;

Inflate::Got Inflate::inflate(Bytes& bytes) {
    inflate_state& stream = state_->stream;
    stream.next_in = const_cast<std::uint8_t*>(bytes.in);  // it only reads
    stream.avail_in = bytes.in_left;
    stream.next_out = bytes.out;
    stream.avail_out = bytes.out_left;
    const bool is_good = isal_inflate(&stream) >= 0;
    bytes = {stream.next_in, stream.avail_in, stream.next_out, stream.avail_out};
    if (!is_good) {
        return Got::broken;
    }
    if (stream.block_state != ISAL_BLOCK_FINISH) {
        return Got::some;
    }
    isal_inflate_reset(&stream);
    stream.crc_flag = ISAL_GZIP;  // reading a header changes it
    return Got::end;
}

}  // namespace weir
