// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a JSON text in place: no tree, no copies; a flat array with the begin and end of each value.
// Must not know: jansson, what any document means. Takes the texts that jansson takes, with the same values: RFC 8259,
// well-formed UTF-8, no U+0000, integers of 64 bits, finite reals, at most 2,048 levels; of equal keys the last counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

class FlatValue;

class FlatJson {
  public:
    /// The root value, or nothing where the text is not valid JSON: a parser with error messages then says why. At most
    /// 4 GiB of text. The values refer to the text, which must outlive them. Memory is kept for the next text. O(size).
    FlatValue read(std::string_view text);

  private:
    friend class FlatValue;
    friend struct FlatReader;
    enum class Kind : std::uint8_t { object, array, plain_string, escaped_string, integer, real, truth, untruth, null };
    struct Node {
        std::uint32_t begin, end;  ///< in the text
        std::uint32_t next;        ///< behind it and all that is inside it
        Kind kind;
        std::int64_t integer = 0;  ///< its value, if it is one
    };
    std::string_view text_;
    std::vector<Node> nodes_;  ///< in the order of their beginnings; those behind the last value are of earlier texts
};

/// A value of a FlatJson, or nothing. Valid until the next read(), and as long as the text.
class FlatValue {
  public:
    FlatValue() = default;
    explicit operator bool() const { return in_ != nullptr; }
    bool is_object() const { return is(FlatJson::Kind::object); }
    bool is_array() const { return is(FlatJson::Kind::array); }
    bool is_string() const;

    /// As it stands in the text; of a string with its quotes.
    std::string_view text() const {
        if (in_ == nullptr) {
            return {};
        }
        const FlatJson::Node& node = in_->nodes_[index_];
        return in_->text_.substr(node.begin, node.end - node.begin);
    }
    /// The content of a string that has no escapes; else nothing.
    std::optional<std::string_view> plain() const;
    /// The content of a string, escapes decoded to UTF-8; nothing of another value.
    std::optional<std::string> string() const;
    /// Nothing of another value; a real is no integer.
    std::optional<std::int64_t> integer() const;
    /// Of an integer or a real, the nearest double.
    std::optional<double> number() const;
    std::optional<bool> boolean() const;
    /// Whether it is this string. Without a copy of it, unless it has escapes.
    bool operator==(std::string_view content) const;

    /// The member of an object: the last one of this name. Nothing where there is none. O(members).
    FlatValue operator[](std::string_view key) const;
    /// first(), then next() of each: the elements of an array, or the keys of an object, each followed by its value.
    /// Nothing at the end.
    FlatValue first() const {
        if (!is_object() && !is_array()) {
            return {};
        }
        const std::uint32_t end = in_->nodes_[index_].next;
        return index_ + 1 < end ? FlatValue(in_, index_ + 1, end) : FlatValue();
    }
    FlatValue next() const {
        const std::uint32_t behind = in_ != nullptr ? in_->nodes_[index_].next : end_;
        return behind < end_ ? FlatValue(in_, behind, end_) : FlatValue();
    }
    /// The element of an array. O(index).
    FlatValue element(std::size_t index) const;

  private:
    friend class FlatJson;
    bool is(FlatJson::Kind kind) const { return in_ != nullptr && in_->nodes_[index_].kind == kind; }
    FlatValue(const FlatJson* in, std::uint32_t index, std::uint32_t end) : in_(in), index_(index), end_(end) {}
    const FlatJson* in_ = nullptr;
    std::uint32_t index_ = 0;
    std::uint32_t end_ = 0;  ///< behind the last value of what contains it
};

}  // namespace weir
