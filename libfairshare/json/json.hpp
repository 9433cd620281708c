// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one RAII type for a jansson value, and the few calls that must not leak. No other code calls json_decref.
// Must not know what any document means. Numbers follow jansson: integers have 64 bits, reals are doubles.
#pragma once
#include <jansson.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "libfairshare/base/result.hpp"

namespace weir {

/// A counted reference to a JSON value; move-only. Empty (`!json`) means "no value".
class Json {
  public:
    Json() = default;
    /// Takes over a reference that the caller owns (what json_object(), json_pack() and json_loads() return).
    static Json own(json_t* value) { return Json(value); }
    /// Adds a reference to a value that other code owns.
    static Json ref(json_t* value) { return Json(json_incref(value)); }
    static Json object() { return Json(json_object()); }
    static Json array() { return Json(json_array()); }
    /// In text that is not UTF-8 every byte beyond ASCII becomes '?', so that no document fails because of a name.
    static Json string(std::string_view text) {
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

    /// Any JSON value, scalars included. Errors: invalid_argument with "line:column: what".
    static Result<Json> parse(std::string_view text) {
        json_error_t error;
        json_t* value = json_loadb(text.data(), text.size(), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
        if (value == nullptr) {
            return Error{std::errc::invalid_argument, std::to_string(error.line) + ":" + std::to_string(error.column) +
                                                          ": " + static_cast<const char*>(error.text)};
        }
        return Json(value);
    }

    Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Json& operator=(Json&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;
    ~Json() { json_decref(value_); }

    json_t* get() const { return value_; }
    json_t* release() { return std::exchange(value_, nullptr); }
    explicit operator bool() const { return value_ != nullptr; }
    /// A second reference to the same value.
    Json share() const { return ref(value_); }

    /// Compact text, keys in insertion order: the same value gives the same bytes.
    std::string dump(std::size_t flags = JSON_COMPACT | JSON_ENCODE_ANY) const {
        std::unique_ptr<char, decltype(&std::free)> text(json_dumps(value_, flags), &std::free);
        return text ? std::string(text.get()) : std::string();
    }
    /// Sets a member of an object (the value moves in). Returns *this for chains.
    Json& set(const char* key, Json value) {
        WEIR_CHECK(json_object_set_new(value_, key, value.release()) == 0);
        return *this;
    }
    Json& set(const char* key, std::string_view text) { return set(key, string(text)); }
    Json& set(const char* key, const char* text) { return set(key, string(text)); }
    Json& set(const char* key, bool value) { return set(key, Json(json_boolean(value))); }
    Json& set(const char* key, double value) { return set(key, Json(json_real(value))); }
    Json& set(const char* key, long long value) { return set(key, Json(json_integer(value))); }
    Json& set(const char* key, unsigned long long value) { return set(key, static_cast<long long>(value)); }
    Json& set(const char* key, long value) { return set(key, static_cast<long long>(value)); }
    Json& set(const char* key, unsigned long value) { return set(key, static_cast<long long>(value)); }
    Json& set(const char* key, int value) { return set(key, static_cast<long long>(value)); }
    Json& set(const char* key, unsigned value) { return set(key, static_cast<long long>(value)); }
    Json& append(Json value) {
        WEIR_CHECK(json_array_append_new(value_, value.release()) == 0);
        return *this;
    }

  private:
    explicit Json(json_t* value) : value_(value) {}
    json_t* value_ = nullptr;
};

}  // namespace weir
