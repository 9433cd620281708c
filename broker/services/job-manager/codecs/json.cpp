// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the readers and writers declared in json.hpp.
// Must not know: jobs, flux_t.
#include "broker/services/job-manager/codecs/json.hpp"

namespace weir::broker::jobs {

Result<Json> Json::parse(std::string_view text) {
    json_error_t error;
    json_t* value = json_loadb(text.data(), text.size(), JSON_DECODE_ANY, &error);
    if (!value) {
        return Error{std::errc::invalid_argument, "invalid JSON at line " + std::to_string(error.line) + " column " +
                                                      std::to_string(error.column) + ": " + error.text};
    }
    return Json(value);
}

Json Json::of(FlatValue value) {
    if (value.is_object()) {
        Json made = object();
        for (FlatValue name = value.first(), member; name; name = member.next()) {
            member = name.next();
            made.set(name.string()->c_str(), of(member));
        }
        return made;
    }
    if (value.is_array()) {
        Json made = array();
        for (FlatValue element = value.first(); element; element = element.next()) {
            made.append(of(element));
        }
        return made;
    }
    if (const auto text = value.string()) {
        return string(*text);
    }
    if (const auto whole = value.integer()) {
        return integer(*whole);
    }
    if (const auto number = value.number()) {
        return real(*number);
    }
    if (const auto truth = value.boolean()) {
        return boolean(*truth);
    }
    return value ? take(json_null()) : Json();
}

std::string Json::text() const {
    std::string out;
    append_json(out, value_);
    return out;
}

std::optional<std::int64_t> read_integer(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    if (!json_is_integer(value)) {
        return std::nullopt;
    }
    return json_integer_value(value);
}

std::optional<double> read_number(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    if (!json_is_number(value)) {
        return std::nullopt;
    }
    return json_number_value(value);
}

std::optional<bool> read_boolean(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    if (!json_is_boolean(value)) {
        return std::nullopt;
    }
    return json_is_true(value);
}

std::optional<std::string_view> read_string(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    if (!json_is_string(value)) {
        return std::nullopt;
    }
    return std::string_view(json_string_value(value), json_string_length(value));
}

json_t* read_path(const json_t* object, std::string_view path) {
    const json_t* at = object;
    while (at && !path.empty()) {
        const std::size_t dot = path.find('.');
        const std::string step(path.substr(0, dot));
        at = json_object_get(at, step.c_str());
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return const_cast<json_t*>(at);
}

Status write_path(json_t* object, std::string_view path, Json value) {
    json_t* at = object;
    for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos; path = path.substr(dot + 1)) {
        const std::string step(path.substr(0, dot));
        json_t* next = json_object_get(at, step.c_str());
        if (!next && json_is_object(at)) {
            next = json_object();
            json_object_set_new(at, step.c_str(), next);
        }
        if (!json_is_object(next)) {
            return Error{std::errc::invalid_argument, "\"" + step + "\" is not an object"};
        }
        at = next;
    }
    if (!json_is_object(at) || path.empty()) {
        return Error{std::errc::invalid_argument, "an empty key, or its parent is not an object"};
    }
    json_object_set_new(at, std::string(path).c_str(), value.release());
    return Done{};
}

void append_quoted(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
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
    if (!value) {
        out += "null";
        return;
    }
    const auto append = [](const char* buffer, size_t size, void* data) {
        static_cast<std::string*>(data)->append(buffer, size);
        return 0;
    };
    json_dump_callback(value, append, &out, JSON_COMPACT | JSON_ENCODE_ANY);
}

}  // namespace weir::broker::jobs
