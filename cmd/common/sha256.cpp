// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the calls of libsodium.
#include "cmd/common/sha256.hpp"

#include <sodium/crypto_hash_sha256.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace weir::cmd {
namespace {

class Sha256 {
  public:
    Sha256() { crypto_hash_sha256_init(&state_); }
    void add(std::string_view bytes) {
        crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    }
    std::string hex() {
        std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
        crypto_hash_sha256_final(&state_, digest.data());
        std::string text;
        for (const unsigned char byte : digest) {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
        return text;
    }

  private:
    crypto_hash_sha256_state state_{};
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
    Sha256 sum;
    sum.add(bytes);
    return sum.hex();
}

std::optional<std::string> sha256_of_file(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {  // to open a named pipe is to wait for its writer
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return std::nullopt;
    }
    Sha256 sum;
    std::array<char, 64 * 1024> piece{};
    while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
        sum.add({piece.data(), static_cast<std::size_t>(file.gcount())});
    }
    return file.bad() ? std::nullopt : std::optional(sum.hex());
}

}  // namespace weir::cmd
