// SPDX-License-Identifier: LGPL-3.0-only
// Owns: escaping of JSON text.
#include "libfairshare/base/json/text_writer.hpp"

#include <algorithm>

#include "libfairshare/base/plain_run.hpp"

namespace weir {
namespace {

/// The letter behind the backslash of a byte that has a short form; 0: it has none.
char short_escape(char c) {
    switch (c) {
        case '"':
        case '\\':
            return c;
        case '\b':
            return 'b';
        case '\f':
            return 'f';
        case '\n':
            return 'n';
        case '\r':
            return 'r';
        case '\t':
            return 't';
        default:
            return 0;
    }
}

void append_array(std::string& out, const json_t* array) {
    out += '[';
    for (std::size_t i = 0; i < json_array_size(array); ++i) {
        if (i > 0) {
            out += ',';
        }
        append_json(out, json_array_get(array, i));
    }
    out += ']';
}

void append_object(std::string& out, json_t* object) {
    out += '{';
    void* const first = json_object_iter(object);
    for (void* at = first; at != nullptr; at = json_object_iter_next(object, at)) {
        if (at != first) {
            out += ',';
        }
        append_quoted(out, {json_object_iter_key(at), json_object_iter_key_len(at)});
        out += ':';
        append_json(out, json_object_iter_value(at));
    }
    out += '}';
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789ABCDEF";
    const auto plain_size = [&text] {
        return static_cast<std::size_t>(end_of_plain(text.data(), text.data() + text.size()) - text.data());
    };
    std::size_t plain = plain_size();
    const auto is_foreign = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    if (plain < text.size() && std::any_of(text.begin(), text.end(), is_foreign)) {
        out += Json::string(text).dump();
        return;
    }
    out += '"';
    for (;; plain = plain_size()) {
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) {
            break;
        }
        const char c = text.front();
        text.remove_prefix(1);
        out += '\\';
        if (const char letter = short_escape(c)) {
            out += letter;
        } else {
            out += "u00";
            out += hex[static_cast<unsigned char>(c) >> 4];
            out += hex[static_cast<unsigned char>(c) & 15];
        }
    }
    out += '"';
}

void append_json(std::string& out, const json_t* value) {
    if (json_is_object(value)) {
        append_object(out, const_cast<json_t*>(value));  // jansson's iterators take no const
    } else if (json_is_array(value)) {
        append_array(out, value);
    } else if (json_is_string(value)) {
        append_quoted(out, {json_string_value(value), json_string_length(value)});
    } else if (json_is_integer(value)) {
        out += std::to_string(json_integer_value(value));
    } else if (json_is_real(value)) {  // jansson knows how many digits give the same number again
        char digits[64];
        out.append(digits, json_dumpb(value, digits, sizeof digits, JSON_ENCODE_ANY));
    } else if (json_is_boolean(value)) {
        out += json_is_true(value) ? "true" : "false";
    } else {
        out += "null";
    }
}

}  // namespace weir
