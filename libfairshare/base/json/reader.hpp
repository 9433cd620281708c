// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading JSON with the path of every value, so that an error can say "resources[0].with[0].count: ...".
// For the codecs' own .cpp files: a wrong value throws BadValue, which read_json() turns into an Error.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::json {

struct BadValue {
    std::string message;
};

/// A value that other code owns, with its path.
class Value {
  public:
    Value(json_t* value, std::string path) : value_(value), path_(std::move(path)) {}
    json_t* get() const { return value_; }
    const std::string& path() const { return path_; }

    [[noreturn]] void fail(const std::string& what) const {
        throw BadValue{(path_.empty() ? std::string("the document") : path_) + ": " + what};
    }
    /// A member of an object, if it is there and not null.
    std::optional<Value> find(const char* key) const {
        if (!json_is_object(value_)) {
            fail("must be an object");
        }
        json_t* member = json_object_get(value_, key);
        return member == nullptr || json_is_null(member)
                   ? std::nullopt
                   : std::optional(Value(member, path_.empty() ? key : path_ + "." + key));
    }
    Value at(const char* key) const {
        if (auto member = find(key)) {
            return *member;
        }
        fail(std::string("\"") + key + "\" is missing");
    }
    std::size_t size() const {
        if (!json_is_array(value_)) {
            fail("must be an array");
        }
        return json_array_size(value_);
    }
    Value operator[](std::size_t i) const {
        return Value(json_array_get(value_, i), path_ + "[" + std::to_string(i) + "]");
    }
    std::string string() const {
        if (!json_is_string(value_)) {
            fail("must be a string");
        }
        return std::string(json_string_value(value_), json_string_length(value_));
    }
    std::int64_t integer(std::int64_t least, std::int64_t most) const {
        if (!json_is_integer(value_) || json_integer_value(value_) < least || json_integer_value(value_) > most) {
            fail("must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
        }
        return json_integer_value(value_);
    }
    double number() const {
        if (!json_is_number(value_)) {
            fail("must be a number");
        }
        return json_number_value(value_);
    }
    bool boolean() const {
        if (!json_is_boolean(value_)) {
            fail("must be true or false");
        }
        return json_boolean_value(value_);
    }
    /// The value of a Result, or a failure here with its message.
    template <typename T>
    T take(Result<T> result) const {
        if (!result) {
            fail(result.error().message);
        }
        return std::move(result).value();
    }

  private:
    json_t* value_;
    std::string path_;
};

/// Runs read(Value) on a document; a BadValue becomes an invalid_argument Error "what: path: message".
template <typename Read>
auto read_json(json_t* document, const char* what, Read&& read) -> Result<decltype(read(Value(document, "")))> {
    try {
        return read(Value(document, ""));
    } catch (const BadValue& bad) {
        return Error{std::errc::invalid_argument, std::string(what) + ": " + bad.message};
    }
}

}  // namespace weir::json
