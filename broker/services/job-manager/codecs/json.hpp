// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Json, the one RAII type for json_t, and small readers that never throw.
// Must not know: jobs, flux_t.
// Source: jansson's reference counting rules ("new" references are taken, "borrowed" ones shared).
#pragma once
#include <jansson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker::jobs {

/// A counted reference to a jansson value, or nothing.
class Json {
  public:
    Json() = default;
    /// Takes over a new reference (null gives an empty Json).
    static Json take(json_t* value) { return Json(value); }
    /// Adds a reference to a borrowed value.
    static Json share(json_t* value) { return Json(json_incref(value)); }
    static Json object() { return Json(json_object()); }
    static Json array() { return Json(json_array()); }
    static Json string(std::string_view text) { return Json(json_stringn(text.data(), text.size())); }
    static Json integer(json_int_t value) { return Json(json_integer(value)); }
    static Json real(double value) { return Json(json_real(value)); }
    static Json boolean(bool value) { return Json(json_boolean(value)); }
    Json(const Json& other) : value_(json_incref(other.value_)) {}
    Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Json& operator=(Json other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Json() { json_decref(value_); }

    /// A tree of its own; empty of nothing.
    static Json of(FlatValue value);
    /// Any JSON value. Error: what is wrong, with line and column.
    static Result<Json> parse(std::string_view text);
    explicit operator bool() const { return value_ != nullptr; }
    json_t* get() const { return value_; }
    /// Gives the reference away, for jansson functions that steal.
    json_t* release() { return std::exchange(value_, nullptr); }
    /// Compact text; "null" when empty.
    std::string text() const;
    Json deep_copy() const { return Json(json_deep_copy(value_)); }

    /// Adds or replaces a member of an object. No-op on an empty Json.
    void set(const char* key, Json value) { json_object_set_new(value_, key, value.release()); }
    void append(Json value) { json_array_append_new(value_, value.release()); }

  private:
    explicit Json(json_t* value) : value_(value) {}
    json_t* value_ = nullptr;
};

/// Readers of object members: nothing when absent or of another type.
std::optional<std::int64_t> read_integer(const json_t* object, const char* key);
std::optional<double> read_number(const json_t* object, const char* key);
std::optional<bool> read_boolean(const json_t* object, const char* key);
/// The view lives as long as the object.
std::optional<std::string_view> read_string(const json_t* object, const char* key);
/// Walks "a.b.c"; null when a step is missing.
json_t* read_path(const json_t* object, std::string_view path);
/// Sets "a.b.c", making objects on the way. Error: a step exists and is no object.
Status write_path(json_t* object, std::string_view path, Json value);
/// Appends `text` as a JSON string, quotes included.
void append_quoted(std::string& out, std::string_view text);
/// Appends any value, compact.
void append_json(std::string& out, const json_t* value);

}  // namespace weir::broker::jobs
