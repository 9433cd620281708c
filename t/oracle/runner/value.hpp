// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an oracle file as values that know whether a check has read them. Must not know any system.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::oracle {

/// One value of a file. To read a number, a text or a truth value marks it, so that the runner can list what no check
/// has looked at; to ask what kind it is or to walk through it marks nothing.
class Value {
  public:
    enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, object };
    enum class Use : std::uint8_t { unread, read, left };

    /// A copy of the whole document; lists and objects keep their order.
    explicit Value(const json_t* value);

    Kind kind() const { return kind_; }
    bool is_leaf() const { return kind_ != Kind::list && kind_ != Kind::object; }
    /// A leaf that is neither null nor an empty text.
    bool says_something() const;
    Use use() const { return use_; }

    /// A text of several lines with digits in it: what a program printed.
    bool is_table() const;

    double number() const;
    std::int64_t integer() const;
    const std::string& text() const;
    bool is_true() const;

    const std::vector<Value>& items() const { return items_; }
    const std::vector<std::pair<std::string, Value>>& members() const { return members_; }
    const Value* find(std::string_view key) const;

    /// Marks this value and all below it that nobody has read as left out on purpose; returns how many that were.
    /// What is null or empty does not count.
    int leave() const;
    /// The value as the file has it, cut to a line.
    std::string shown() const;

  private:
    void mark() const { use_ = Use::read; }

    Kind kind_ = Kind::null;
    mutable Use use_ = Use::unread;
    double number_ = 0;
    std::int64_t integer_ = 0;
    std::string text_;
    std::vector<Value> items_;
    std::vector<std::pair<std::string, Value>> members_;
};

// Short ways that take nullptr for what is absent.

/// nullptr where there is no such member.
inline const Value* find(const Value* object, std::string_view key) {
    return object == nullptr ? nullptr : object->find(key);
}
/// Throws where there is none.
const Value* member(const Value* object, std::string_view key);
/// Its text, empty where it is absent or no text.
std::string text_at(const Value* object, std::string_view key);
/// Its number; throws where it is none.
double number_at(const Value* object, std::string_view key);
std::int64_t integer_at(const Value* object, std::string_view key);

inline bool is_kind(const Value* value, Value::Kind kind) {
    return value != nullptr && value->kind() == kind;
}
inline bool is_integer(const Value* value) {
    return is_kind(value, Value::Kind::integer);
}
inline bool is_number(const Value* value) {
    return is_integer(value) || is_kind(value, Value::Kind::real);
}
inline bool is_text(const Value* value) {
    return is_kind(value, Value::Kind::text);
}
inline bool is_list(const Value* value) {
    return is_kind(value, Value::Kind::list);
}
inline bool is_object(const Value* value) {
    return is_kind(value, Value::Kind::object);
}
inline bool is_true(const Value* value) {
    return value != nullptr && value->is_true();
}
/// 0 where it is absent or no number.
inline double number_of(const Value* value) {
    return is_number(value) ? value->number() : 0;
}
inline std::int64_t integer_of(const Value* value) {
    return is_integer(value) ? value->integer() : 0;
}
/// Empty where it is absent or no text.
inline std::string text_of(const Value* value) {
    return is_text(value) ? value->text() : std::string{};
}
inline bool is_null(const Value* value) {
    return is_kind(value, Value::Kind::null);
}
/// The items of a list, or none.
std::vector<const Value*> each(const Value* list);
/// The members of an object in the file's order, or none.
std::vector<std::pair<std::string, const Value*>> entries(const Value* object);
/// nullptr past the end.
inline const Value* item(const Value* list, std::size_t i) {
    return list != nullptr && i < list->items().size() ? &list->items()[i] : nullptr;
}
/// How many items a list has.
inline std::size_t size_of(const Value* list) {
    return list == nullptr ? 0 : list->items().size();
}

struct UnreadValue {
    std::string path;  ///< "cases[3].expected.priority"
    std::string shown;
    bool is_figure = false;  ///< below an "expected"
    bool is_remark = false;  ///< a text, but no table, that belongs neither to "inputs" nor to "expected"
};
/// What no check has read and nobody left out on purpose, nulls and empty texts aside, in the file's order.
std::vector<UnreadValue> unread_values(const Value& document, const std::string& path = {});

std::vector<double> numbers_of(const Value* list);
std::vector<std::string> texts_of(const Value* list);

}  // namespace weir::oracle
