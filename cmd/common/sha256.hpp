// SPDX-License-Identifier: LGPL-3.0-only
// Owns: SHA-256 as hexadecimal text, as sha256sum prints it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::cmd {

std::string sha256_of(std::string_view bytes);
/// Of a file as it stands on the disk; nothing for what is no regular file or cannot be read.
std::optional<std::string> sha256_of_file(const std::string& path);

}  // namespace weir::cmd
