// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing of JSON values, declared in json.hpp.
#include "libfairshare/base/json/json.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>

#include "libfairshare/base/flat_json.hpp"

namespace weir {

Json Json::string(std::string_view text) {
    json_t* value = json_stringn(text.data(), text.size());
    if (value == nullptr) {
        std::string ascii(text);
        for (char& c : ascii) {
            c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
        }
        value = json_stringn(ascii.data(), ascii.size());
    }
    return Json(value);
}

Json Json::real(double value) {
    return Json(std::isfinite(value) ? json_real(value) : json_null());
}

namespace {

Result<Json> parse_as(std::string_view text, std::size_t flags) {
    json_error_t error;
    json_t* value = json_loadb(text.data(), text.size(), flags | JSON_DECODE_ANY, &error);
    if (value == nullptr) {
        return Error{std::errc::invalid_argument, std::to_string(error.line) + ":" + std::to_string(error.column) +
                                                      ": " + static_cast<const char*>(error.text)};
    }
    return Json::own(value);
}

}  // namespace

Result<Json> Json::parse(std::string_view text, SameKeys same_keys) {
    return parse_as(text, same_keys == SameKeys::refused ? JSON_REJECT_DUPLICATES : 0);
}

Result<Json> Json::parse_with_nuls(std::string_view text) {
    return parse_as(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL);
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
    return value ? Json(json_null()) : Json();
}

Json Json::parse_payload(std::string_view text) {
    return Json(json_loadb(text.data(), text.size(), JSON_DECODE_ANY, nullptr));
}

std::string Json::dump(std::size_t flags) const {
    const std::unique_ptr<char, decltype(&std::free)> text(json_dumps(value_, flags), &std::free);
    return text ? std::string(text.get()) : std::string();
}

std::optional<std::string> Json::string_at(const char* key) const {
    const auto text = read_string(value_, key);
    return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<std::int64_t> Json::integer_at(const char* key) const {
    return read_integer(value_, key);
}

std::optional<double> Json::number_at(const char* key) const {
    return read_number(value_, key);
}

std::optional<bool> Json::boolean_at(const char* key) const {
    return read_boolean(value_, key);
}

Json& Json::set(const char* key, Json value) {
    WEIR_CHECK(json_is_object(value_));
    if (value) {
        WEIR_CHECK(json_object_set_new(value_, key, value.release()) == 0);
    }
    return *this;
}

Json& Json::append(Json value) {
    WEIR_CHECK(json_is_array(value_));
    if (value) {
        WEIR_CHECK(json_array_append_new(value_, value.release()) == 0);
    }
    return *this;
}

std::optional<std::string_view> read_string(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    return json_is_string(value) ? std::optional(std::string_view(json_string_value(value), json_string_length(value)))
                                 : std::nullopt;
}

std::optional<std::int64_t> read_integer(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? std::optional<std::int64_t>(json_integer_value(value)) : std::nullopt;
}

std::optional<double> read_number(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? std::optional(json_number_value(value)) : std::nullopt;
}

std::optional<bool> read_boolean(const json_t* object, const char* key) {
    const json_t* value = json_object_get(object, key);
    return json_is_boolean(value) ? std::optional(json_is_true(value)) : std::nullopt;
}

json_t* read_path(const json_t* object, std::string_view path) {
    const json_t* at = object;
    while (at != nullptr && !path.empty()) {
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
        if (next == nullptr && json_is_object(at)) {
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

}  // namespace weir
