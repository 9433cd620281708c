// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the fields of a node in both text forms: their names, their valid values, and the errors for others. Must not
// know: TOML, JSON; these make FieldValues and print them.
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
/// A value of a text. `written`: its text, for messages. The members that need the complete type of the table's pairs
/// come after the class, as clang requires.
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

/// Sets field `key` of `spec`; returns the errors as pairs (message, hint). Fields: shares (a number or "parent"),
/// parent, default, together, at (partition -> shares), target (one or a list: see to_target()), projects (a list, or
/// one text with commas), default_project, and the limits: a value, or [soft, hard].
std::vector<std::pair<std::string, std::string>> read_field(std::string_view key, const FieldValue& value,
                                                            NodeSpec& spec);

/// The fields of a node, shares first and always, in a fixed order; `parent` never (paths say it).
FieldTable fields_of(const ShareTree& tree, NodeId id);

}  // namespace weir
