// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing JSON text without a tree of values, for messages that carry texts which are JSON already (a jobspec, R,
// lines of an eventlog): those are spliced in as they are, everything else is escaped. Must not know what is written.
#pragma once
#include <charconv>
#include <concepts>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "libfairshare/base/json/json.hpp"

namespace weir {

/// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become '?'.
void append_quoted(std::string& out, std::string_view text);
/// Appends any value, compact; null for no value.
void append_json(std::string& out, const json_t* value);

/// Appends a number, a truth value, text or a Json.
template <typename T>
void append_value(std::string& out, const T& value) {
    if constexpr (std::same_as<T, bool>) {
        out += value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
        char digits[std::numeric_limits<T>::digits10 + 2];  // one that is not sure, and a sign
        out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
    } else if constexpr (std::floating_point<T>) {
        append_json(out, Json::real(value).get());
    } else if constexpr (std::same_as<T, Json>) {
        append_json(out, value.get());
    } else {
        append_quoted(out, value);
    }
}

/// The text of an object, member by member: ObjectText().set("id", 7).splice("R", r_text).text().
class ObjectText {
  public:
    /// \param bytes  how long the text will be, about: memory is asked for once
    explicit ObjectText(std::size_t bytes = 0) { text_.reserve(bytes); }
    /// Behind what is written already, which text() gives away with the object.
    explicit ObjectText(std::string&& before) : text_(std::move(before)), begin_(text_.size()) { text_ += '{'; }
    template <typename T>
    ObjectText& set(std::string_view key, const T& value) {
        begin(key);
        append_value(text_, value);
        return *this;
    }
    /// A member whose value is JSON text already. REQUIRES: `json` is one whole value.
    ObjectText& splice(std::string_view key, std::string_view json) {
        begin(key);
        text_ += json;
        return *this;
    }
    bool empty() const { return size() == 1; }
    /// Bytes so far.
    std::size_t size() const { return text_.size() - begin_; }
    /// Ends the object and gives its text away; to be called once.
    std::string text() {
        text_ += '}';
        return std::move(text_);
    }

  private:
    void begin(std::string_view key) {
        if (!empty()) {
            text_ += ',';
        }
        append_quoted(text_, key);
        text_ += ':';
    }
    std::string text_ = "{";
    std::size_t begin_ = 0;
};

/// The text of an array, element by element.
class ArrayText {
  public:
    /// \param bytes  as of ObjectText
    explicit ArrayText(std::size_t bytes = 0) { text_.reserve(bytes); }
    template <typename T>
    ArrayText& append(const T& value) {
        begin();
        append_value(text_, value);
        return *this;
    }
    /// An element that is JSON text already. REQUIRES: `json` is one whole value.
    ArrayText& splice(std::string_view json) {
        begin();
        text_ += json;
        return *this;
    }
    bool empty() const { return size() == 1; }
    /// Bytes so far.
    std::size_t size() const { return text_.size(); }
    /// Ends the array and gives its text away; to be called once.
    std::string text() {
        text_ += ']';
        return std::move(text_);
    }

  private:
    void begin() {
        if (!empty()) {
            text_ += ',';
        }
    }
    std::string text_ = "[";
};

}  // namespace weir
