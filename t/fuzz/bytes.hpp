// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a fuzzer's bytes as numbers, one after the other. Must not know what they stand for.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "libfairshare/usage/usage.hpp"

namespace weir::fuzz {

class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
    std::size_t left() const { return left_; }
    /// The next bytes as they lie; zeros behind the end.
    template <typename T>
    T take() {
        T value{};
        const std::size_t size = std::min(sizeof value, left_);
        if (size != 0) {
            std::memcpy(&value, at_, size);
        }
        at_ += size;
        left_ -= size;
        return value;
    }
    WideInteger wide() { return {take<std::int64_t>(), take<std::uint64_t>()}; }
    bool flag() { return (take<std::uint8_t>() & 1) != 0; }

  private:
    const std::uint8_t* at_;
    std::size_t left_;
};

}  // namespace weir::fuzz
