// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Result<T>, the return value of functions that fail on an operator's or user's mistake. Its names are those of
// std::expected.
#pragma once
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "libfairshare/base/check.hpp"

namespace weir {

/// An error: its class (which maps to a Flux errnum), and a sentence that says what to change.
struct Error {
    std::errc code = std::errc::invalid_argument;
    std::string message;
};

template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    T& value() & {
        WEIR_CHECK(has_value());
        return std::get<0>(state_);
    }
    const T& value() const& {
        WEIR_CHECK(has_value());
        return std::get<0>(state_);
    }
    T&& value() && {
        WEIR_CHECK(has_value());
        return std::get<0>(std::move(state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    const Error& error() const {
        WEIR_CHECK(!has_value());
        return std::get<1>(state_);
    }

  private:
    std::variant<T, Error> state_;
};

struct Done {};
/// A Result without a value: `return Done{};`.
using Status = Result<Done>;

}  // namespace weir
