// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see value.hpp.
#include "t/oracle/runner/value.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>

namespace weir::oracle {

Value::Value(const json_t* value) {
    const char* key = nullptr;
    json_t* child = nullptr;
    std::size_t i = 0;
    switch (json_typeof(value)) {
        case JSON_NULL:
            break;
        case JSON_TRUE:
        case JSON_FALSE:
            kind_ = Kind::boolean;
            integer_ = json_is_true(value) ? 1 : 0;
            break;
        case JSON_INTEGER:
            kind_ = Kind::integer;
            integer_ = json_integer_value(value);
            number_ = static_cast<double>(integer_);
            break;
        case JSON_REAL:
            kind_ = Kind::real;
            number_ = json_real_value(value);
            break;
        case JSON_STRING:
            kind_ = Kind::text;
            text_.assign(json_string_value(value), json_string_length(value));
            break;
        case JSON_ARRAY:
            kind_ = Kind::list;
            json_array_foreach(value, i, child) {
                items_.emplace_back(child);
            }
            break;
        case JSON_OBJECT:
            kind_ = Kind::object;
            json_object_foreach(const_cast<json_t*>(value), key, child) {
                members_.emplace_back(key, Value{child});
            }
            break;
    }
}

double Value::number() const {
    mark();
    return number_;
}

std::int64_t Value::integer() const {
    mark();
    return integer_;
}

const std::string& Value::text() const {
    mark();
    return text_;
}

bool Value::is_true() const {
    if (kind_ != Kind::boolean) {
        return false;
    }
    mark();
    return integer_ != 0;
}

const Value* Value::find(std::string_view key) const {
    const auto found =
        std::find_if(members_.begin(), members_.end(), [&](const auto& entry) { return entry.first == key; });
    return found == members_.end() ? nullptr : &found->second;
}

bool Value::says_something() const {
    return is_leaf() && kind_ != Kind::null && !(kind_ == Kind::text && text_.empty());
}

bool Value::is_table() const {
    return kind_ == Kind::text && text_.find('\n') < text_.size() - 1 &&
           text_.find_first_of("0123456789") != std::string::npos;
}

int Value::leave() const {
    int values = 0;
    if (use_ == Use::unread && says_something()) {
        use_ = Use::left;
        ++values;
    }
    for (const Value& child : items_) {
        values += child.leave();
    }
    for (const auto& [key, child] : members_) {
        values += child.leave();
    }
    return values;
}

std::string Value::shown() const {
    constexpr std::size_t most = 60;
    switch (kind_) {
        case Kind::null:
            return "null";
        case Kind::boolean:
            return integer_ != 0 ? "true" : "false";
        case Kind::integer:
            return std::to_string(integer_);
        case Kind::real: {
            char digits[40];
            const auto end = std::to_chars(std::begin(digits), std::end(digits), number_).ptr;
            return {std::begin(digits), end};
        }
        case Kind::text: {
            const std::string line = text_.substr(0, text_.find('\n'));
            return '"' + line.substr(0, most) + (line.size() > most || line.size() < text_.size() ? "..." : "") + '"';
        }
        default:
            return kind_ == Kind::list ? "[...]" : "{...}";
    }
}

const Value* member(const Value* object, std::string_view key) {
    const Value* value = find(object, key);
    if (value == nullptr) {
        throw std::runtime_error{"\"" + std::string{key} + "\" is missing"};
    }
    return value;
}

std::string text_at(const Value* object, std::string_view key) {
    return text_of(find(object, key));
}

double number_at(const Value* object, std::string_view key) {
    const Value* value = member(object, key);
    if (!is_number(value)) {
        throw std::runtime_error{"\"" + std::string{key} + "\" is no number"};
    }
    return value->number();
}

std::int64_t integer_at(const Value* object, std::string_view key) {
    const Value* value = member(object, key);
    if (!is_integer(value)) {
        throw std::runtime_error{"\"" + std::string{key} + "\" is no integer"};
    }
    return value->integer();
}

std::vector<const Value*> each(const Value* list) {
    std::vector<const Value*> made;
    if (list != nullptr) {
        std::transform(list->items().begin(), list->items().end(), std::back_inserter(made),
                       [](const Value& value) { return &value; });
    }
    return made;
}

std::vector<std::pair<std::string, const Value*>> entries(const Value* object) {
    std::vector<std::pair<std::string, const Value*>> made;
    if (object != nullptr) {
        std::transform(object->members().begin(), object->members().end(), std::back_inserter(made),
                       [](const auto& entry) {
                           return std::pair{entry.first, &entry.second};
                       });
    }
    return made;
}

std::vector<UnreadValue> unread_values(const Value& document, const std::string& path) {
    std::vector<UnreadValue> found;
    if (document.says_something() && document.use() == Value::Use::unread) {
        const auto is_below = [&](std::string_view part) { return path.find(part) != std::string::npos; };
        const bool is_figure = is_below("expected");
        const bool is_text = document.kind() == Value::Kind::text && !is_figure && !is_below("inputs");
        const bool is_remark = is_text && !document.is_table();
        found.push_back({path, document.shown(), is_figure, is_remark});
    }
    const auto add = [&](const Value& child, const std::string& step) {
        for (UnreadValue& value : unread_values(child, path + step)) {
            found.push_back(std::move(value));
        }
    };
    for (std::size_t i = 0; i < document.items().size(); ++i) {
        add(document.items()[i], "[" + std::to_string(i) + "]");
    }
    for (const auto& [key, child] : document.members()) {
        add(child, (path.empty() ? "" : ".") + key);
    }
    return found;
}

std::vector<double> numbers_of(const Value* list) {
    std::vector<double> made;
    for (const Value* value : each(list)) {
        if (!is_number(value)) {
            throw std::runtime_error{"a list of numbers holds something else"};
        }
        made.push_back(value->number());
    }
    return made;
}

std::vector<std::string> texts_of(const Value* list) {
    std::vector<std::string> made;
    for (const Value* value : each(list)) {
        made.push_back(text_of(value));
    }
    return made;
}

}  // namespace weir::oracle
