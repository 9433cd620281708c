// SPDX-License-Identifier: LGPL-3.0-only
// Owns: escaping of JSON text.
#include "libfairshare/base/json/text_writer.hpp"

#include <algorithm>

namespace weir {

void append_quoted(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
    if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
        out += Json::string(text).dump();
        return;
    }
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4];
            out += hex[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

void append_json(std::string& out, const json_t* value) {
    if (value == nullptr) {
        out += "null";
        return;
    }
    const auto append = [](const char* buffer, std::size_t size, void* data) {
        static_cast<std::string*>(data)->append(buffer, size);
        return 0;
    };
    json_dump_callback(value, append, &out, JSON_COMPACT | JSON_ENCODE_ANY);
}

}  // namespace weir
