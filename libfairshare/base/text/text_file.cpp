// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see text_file.hpp.
#include "libfairshare/base/text/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace weir {
namespace {

Error system_error() {
    return {static_cast<std::errc>(errno), std::generic_category().message(errno)};
}

Result<std::string> all_of(std::FILE* file) {
    std::string text;
    std::array<char, 65536> buffer;
    std::size_t size = 0;
    while ((size = std::fread(buffer.data(), 1, buffer.size(), file)) > 0) {
        text.append(buffer.data(), size);
        if (text.size() > text_bytes_max) {
            return Error{std::errc::file_too_large, "it has more than " + std::to_string(text_bytes_max >> 20) +
                                                        " MiB; this is no text that Weir reads"};
        }
    }
    return std::ferror(file) != 0 ? Result<std::string>(system_error()) : Result<std::string>(std::move(text));
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
    return file ? all_of(file.get()) : Result<std::string>(system_error());
}

Result<std::string> read_standard_input() {
    return all_of(stdin);
}

}  // namespace weir
