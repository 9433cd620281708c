// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RAII for jansson values: message payloads and configuration of the broker and its services. Must not know
// messages.
#pragma once
#include <jansson.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::broker {

/// A counted reference to a JSON value, or nothing. Values are shared: change only what you made.
class Json {
  public:
    Json() = default;
    /// Takes over a reference; `json_pack` and `json_loads` results go in here.
    static Json take(json_t* value) { return Json(value); }
    static Json share(const json_t* value) { return Json(json_incref(const_cast<json_t*>(value))); }
    static Json object() { return Json(json_object()); }
    static Json array() { return Json(json_array()); }
    static Json string_of(std::string_view text) { return Json(json_stringn(text.data(), text.size())); }
    /// Nothing if the text is not JSON. Empty text is no JSON.
    static Json parse(std::string_view text) {
        return Json(json_loadb(text.data(), text.size(), JSON_DECODE_ANY, nullptr));
    }
    Json(const Json& other) : value_(json_incref(other.value_)) {}
    Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Json& operator=(Json other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Json() { json_decref(value_); }

    explicit operator bool() const { return value_ != nullptr; }
    json_t* get() const { return value_; }
    /// A member of an object; nothing if this is no object or has no such member.
    Json at(const char* key) const { return share(json_object_get(value_, key)); }
    std::optional<std::string> string(const char* key) const {
        const char* text = json_string_value(json_object_get(value_, key));
        return text ? std::optional<std::string>(text) : std::nullopt;
    }
    std::optional<json_int_t> integer(const char* key) const {
        const json_t* member = json_object_get(value_, key);
        return json_is_integer(member) ? std::optional<json_int_t>(json_integer_value(member)) : std::nullopt;
    }
    std::optional<double> number(const char* key) const {
        const json_t* member = json_object_get(value_, key);
        return json_is_number(member) ? std::optional<double>(json_number_value(member)) : std::nullopt;
    }
    bool boolean(const char* key, bool otherwise) const {
        const json_t* member = json_object_get(value_, key);
        return json_is_boolean(member) ? json_is_true(member) : otherwise;
    }
    /// Adds or replaces a member of an object.
    void set(const char* key, const Json& value) { json_object_set(value_, key, value.value_); }
    /// Compact text; empty for nothing.
    std::string dump() const {
        const std::unique_ptr<char, decltype(&std::free)> text(json_dumps(value_, JSON_COMPACT | JSON_ENCODE_ANY),
                                                               std::free);
        return text ? std::string(text.get()) : std::string();
    }

  private:
    explicit Json(json_t* value) : value_(value) {}
    json_t* value_ = nullptr;
};

}  // namespace weir::broker
