// SPDX-License-Identifier: LGPL-3.0-only
// Owns: SHA-256 as hexadecimal text, as sha256sum prints it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::cmd {

std::string sha256_of(std::string_view bytes);
/// The hash of a file on the disk; nothing if it is no regular file or cannot be read.
std::optional<std::string> sha256_of_file(const std::string& path);

}  // namespace weir::cmd
