// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the fields of a node as both text forms have them: their names, what each may be, what is wrong otherwise.
// Must not know: TOML, JSON; they make FieldValues and print them.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

struct FieldValue;
using FieldList = std::vector<FieldValue>;
using FieldTable = std::vector<std::pair<std::string, FieldValue>>;
/// A value of a text. `written`: as it stands there, for messages. The members that need the table's pairs complete
/// come after the class: clang wants it so.
struct FieldValue {
    using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, FieldList, FieldTable>;
    FieldValue();
    FieldValue(Value its_value, std::string as_written = {});
    FieldValue(const FieldValue&);
    FieldValue(FieldValue&&) noexcept;
    FieldValue& operator=(const FieldValue&);
    FieldValue& operator=(FieldValue&&) noexcept;
    ~FieldValue();
    Value value;
    std::string written;
};
inline FieldValue::FieldValue() = default;
inline FieldValue::FieldValue(Value its_value, std::string as_written)
    : value(std::move(its_value)), written(std::move(as_written)) {}
inline FieldValue::FieldValue(const FieldValue&) = default;
inline FieldValue::FieldValue(FieldValue&&) noexcept = default;
inline FieldValue& FieldValue::operator=(const FieldValue&) = default;
inline FieldValue& FieldValue::operator=(FieldValue&&) noexcept = default;
inline FieldValue::~FieldValue() = default;

/// Enters field `key` into `spec`; returns what is wrong (message, hint), each mistake one pair.
/// Fields: shares (a number or "parent"), parent, default, together, at (partition -> shares), target (one or a list:
/// see to_target()), and the limits: a value, or [soft, hard].
std::vector<std::pair<std::string, std::string>> read_field(std::string_view key, const FieldValue& value,
                                                            NodeSpec& spec);

/// The fields of a node, shares first and always, in a fixed order; `parent` never (paths say it).
FieldTable fields_of(const ShareTree& tree, NodeId id);

}  // namespace weir
