// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one RAII type for a jansson value, and the common reads and writes. No other code calls json_decref. Must
// not know what any document means. Numbers follow jansson: integers are 64 bit, reals are doubles.
#pragma once
#include <jansson.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "libfairshare/base/result.hpp"

namespace weir {

class FlatValue;

/// What a parser does where an object has the same key twice.
enum class SameKeys {
    refused,     ///< an error, for texts that people write
    last_counts  ///< as Flux decodes its messages
};

/// A counted reference to a JSON value; move-only. Empty (`!json`) stands for "no value".
class Json {
  public:
    Json() = default;
    /// Takes the caller's reference (the result of json_object(), json_pack() or json_loads()).
    static Json own(json_t* value) { return Json(value); }
    /// Adds a reference to a value with another owner: a change is seen by both.
    static Json ref(const json_t* value) { return Json(json_incref(const_cast<json_t*>(value))); }
    static Json object() { return Json(json_object()); }
    static Json array() { return Json(json_array()); }
    /// Text that is not UTF-8 has every byte beyond ASCII replaced by '?': a document must never fail over a name.
    static Json string(std::string_view text);
    /// null for NaN and infinities, which JSON does not have.
    static Json real(double value);
    static Json integer(json_int_t value) { return Json(json_integer(value)); }
    static Json boolean(bool value) { return Json(json_boolean(value)); }

    /// Any JSON value, scalars included. Errors: invalid_argument with "line:column: what".
    static Result<Json> parse(std::string_view text, SameKeys same_keys = SameKeys::refused);
    /// The same of what may have NUL characters in its strings, as the output of jobs has. Elsewhere they are refused:
    /// C functions would take such a string for a shorter one.
    static Result<Json> parse_with_nuls(std::string_view text);
    /// The tree of a value that was read where it stands; empty for no value.
    static Json of(FlatValue value);
    /// The payload of a message; empty if the text is not JSON, as the empty text is. Of equal keys the last counts.
    static Json parse_payload(std::string_view text);

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
    /// A second reference to the same value: a change is seen by both.
    Json share() const { return ref(value_); }
    /// A value of its own, members included.
    Json deep_copy() const { return Json(json_deep_copy(value_)); }

    /// Compact text, keys in insertion order: the same value gives the same bytes. Empty for no value.
    std::string dump(std::size_t flags = JSON_COMPACT | JSON_ENCODE_ANY) const;

    /// A member of an object, shared; empty if this is no object or has no such member.
    Json at(const char* key) const { return ref(json_object_get(value_, key)); }
    /// Members of an object; nothing when absent or of another type.
    std::optional<std::string> string_at(const char* key) const;
    std::optional<std::int64_t> integer_at(const char* key) const;
    std::optional<double> number_at(const char* key) const;
    std::optional<bool> boolean_at(const char* key) const;

    /// Adds or replaces a member. REQUIRES: this is an object. An empty `value` changes nothing. Returns *this for
    /// chains.
    Json& set(const char* key, Json value);
    /// The same of text, a number or a truth value.
    template <typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, Json>) Json& set(const char* key, const T& value) {
        return set(key, made_of(value));
    }
    /// Adds an element. REQUIRES: this is an array. An empty `value` changes nothing.
    Json& append(Json value);
    template <typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, Json>) Json& append(const T& value) {
        return append(made_of(value));
    }

  private:
    explicit Json(json_t* value) : value_(value) {}
    template <typename T>
    static Json made_of(const T& value) {
        if constexpr (std::same_as<T, bool>) {
            return boolean(value);
        } else if constexpr (std::integral<T> || std::is_enum_v<T>) {
            return integer(static_cast<json_int_t>(value));
        } else if constexpr (std::floating_point<T>) {
            return real(value);
        } else {
            return string(value);
        }
    }
    json_t* value_ = nullptr;
};

/// Members of a borrowed object; nothing when absent or of another type. The view lives as long as the member.
std::optional<std::string_view> read_string(const json_t* object, const char* key);
std::optional<std::int64_t> read_integer(const json_t* object, const char* key);
/// Integers and reals.
std::optional<double> read_number(const json_t* object, const char* key);
std::optional<bool> read_boolean(const json_t* object, const char* key);
/// Walks "a.b.c"; null when a step is missing.
json_t* read_path(const json_t* object, std::string_view path);
/// Sets "a.b.c", making objects on the way. Errors: a step exists and is no object.
Status write_path(json_t* object, std::string_view path, Json value);

}  // namespace weir
