// SPDX-License-Identifier: LGPL-3.0-only
// Owns: inflating gzip members in memory. Two ways, chosen by the build: ISA-L, three times as fast, where it is
// installed, else zlib. They give the same. Must not know files.
#pragma once
#include <cstdint>
#include <memory>

namespace weir {

class Inflate {
  public:
    enum class Got {
        some,   ///< or nothing, if there was no input or no room
        end,    ///< the member ended; the next call begins another
        broken  ///< no gzip member, or its checksum or length is wrong
    };
    /// The input and the room that are left; inflate() advances both.
    struct Bytes {
        const std::uint8_t* in = nullptr;
        std::uint32_t in_left = 0;
        std::uint8_t* out = nullptr;
        std::uint32_t out_left = 0;
    };

    Inflate();
    ~Inflate();
    Inflate(const Inflate&) = delete;
    Inflate& operator=(const Inflate&) = delete;
    Got inflate(Bytes& bytes);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace weir
