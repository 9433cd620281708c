// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see node_fields.hpp.
#include "libfairshare/tree/node_fields.hpp"
#include "libfairshare/base/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace weir {

namespace {

using Mistakes = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<std::string_view, 15> known{
    "shares",    "parent",    "default",         "together",         "at",
    "target",    "projects",  "default_project", "running_jobs_max", "active_jobs_max",
    "nodes_max", "cores_max", "wall_time_max",   "usage_max",        "charged_max"};

std::string of(std::string_view key, const NodeSpec& spec) {
    return "`" + std::string{key} + "` of " + quoted(spec.name);
}

Mistakes wrong(std::string_view key, const FieldValue& value, const NodeSpec& spec, std::string hint) {
    return {{of(key, spec) + " is " + value.written, std::move(hint)}};
}

Mistakes read_shares(const FieldValue& value, NodeSpec& spec) {
    if (const auto* number = std::get_if<std::int64_t>(&value.value)) {
        spec.shares = *number;
        return {};
    }
    if (const auto* word = std::get_if<std::string>(&value.value); word != nullptr && *word == "parent") {
        spec.shares_parent = true;
        return {};
    }
    return {{"shares of " + quoted(spec.name) + " are " + value.written,
             "give a whole number from 0 to 4294967295 or \"parent\""}};
}

Mistakes read_flag(std::string_view key, const FieldValue& value, const NodeSpec& spec, bool& into) {
    if (const auto* flag = std::get_if<bool>(&value.value)) {
        into = *flag;
        return {};
    }
    return wrong(key, value, spec, "write true or false");
}

Mistakes read_partitions(const FieldValue& value, NodeSpec& spec) {
    const auto* table = std::get_if<FieldTable>(&value.value);
    if (table == nullptr) {
        return wrong("at", value, spec, "write the shares of each partition: at.debug = 20");
    }
    Mistakes mistakes;
    for (const auto& [partition, shares] : *table) {
        const auto* number = std::get_if<std::int64_t>(&shares.value);
        if (number == nullptr || *number < 0 || *number > std::int64_t{ShareTree::shares_max}) {
            mistakes.emplace_back(
                "shares of " + quoted(spec.name) + " in partition " + quoted(partition) + " are " + shares.written,
                "give a whole number from 0 to 4294967295");
        } else if (const std::string why = component_error(partition); !why.empty() || partition.starts_with('@')) {
            mistakes.emplace_back(quoted(partition) + " in " + of("at", spec) + " is no partition",
                                  why.empty() ? "partitions have no at sign" : why);
        } else {
            spec.terms.emplace_back(PartitionShares{partition, static_cast<std::uint32_t>(*number)});
        }
    }
    return mistakes;
}

/// A number or text, as text; none for anything else.
std::optional<std::string> as_text(const FieldValue& value) {
    const auto* text = std::get_if<std::string>(&value.value);
    const bool is_number =
        std::holds_alternative<std::int64_t>(value.value) || std::holds_alternative<double>(value.value);
    return text != nullptr ? std::optional{*text} : is_number ? std::optional{value.written} : std::nullopt;
}

Mistakes read_target(const FieldValue& value, NodeSpec& spec) {
    const auto* list = std::get_if<FieldList>(&value.value);
    Mistakes mistakes;
    for (const FieldValue& one : list != nullptr ? *list : FieldList{value}) {
        const auto text = as_text(one);
        const auto target = text ? to_target(*text) : std::nullopt;
        const auto is_of_kind = [&](const NodeTerm& term) {
            const auto* other = std::get_if<FairShareTarget>(&term);
            return other != nullptr && other->kind == target->kind;
        };
        if (!target) {
            mistakes.emplace_back(of("target", spec) + " is " + one.written,
                                  "write percent: \"16.5\", a floor \"16.5+\", a ceiling \"16.5-\", a cap \"10%\" or, "
                                  "in units of usage, \"16500^\"");
        } else if (std::any_of(spec.terms.begin(), spec.terms.end(), is_of_kind)) {
            mistakes.emplace_back(of("target", spec) + " names two of one kind", "keep one of the two");
        } else {
            spec.terms.emplace_back(*target);
        }
    }
    return mistakes;
}

Mistakes read_limit(std::string_view key, const FieldValue& value, NodeSpec& spec) {
    const std::string_view form = key == "wall_time_max" ? "write a time like \"36h\" (s, m, h, d), or [soft, hard]"
                                  : key == "usage_max" || key == "charged_max"
                                      ? "write a core-time like \"1000h\", a part like \"25%\", or "
                                        "[soft, hard] of one form"
                                      : "write a whole number, or [soft, hard]";
    const auto* list = std::get_if<FieldList>(&value.value);
    if (list != nullptr && list->size() != 2) {
        return wrong(key, value, spec, std::string{form});
    }
    std::vector<std::pair<LimitKind, std::uint64_t>> values;
    for (const FieldValue& one : list != nullptr ? *list : FieldList{value}) {
        const auto text = as_text(one);
        const auto limit = text ? to_limit(key, *text) : std::nullopt;
        if (!limit) {
            return wrong(key, value, spec, std::string{form});
        }
        values.push_back(*limit);
    }
    if (values.front().first != values.back().first) {
        return wrong(key, value, spec, std::string{form});
    }
    if (values.front().second > values.back().second) {
        return wrong(key, value, spec, "the soft limit comes first and is at most the hard one");
    }
    Limit limit{values.back().first, values.back().second, std::nullopt};
    if (values.size() == 2) {
        limit.soft = values.front().second;
    }
    spec.terms.emplace_back(limit);
    return {};
}

/// ["qcd", "qed"], or the same names in one text with commas.
Mistakes read_projects(const FieldValue& value, NodeSpec& spec) {
    constexpr std::string_view hint = "write names like [\"qcd\", \"qed\"]; \"*\" is for jobs without a project";
    std::vector<std::string> names;
    if (const auto* list = std::get_if<FieldList>(&value.value)) {
        for (const FieldValue& one : *list) {
            const auto* name = std::get_if<std::string>(&one.value);
            names.push_back(name != nullptr ? *name : std::string{});
        }
    } else if (const auto* text = std::get_if<std::string>(&value.value)) {
        for (std::size_t begin = 0, end = 0; begin <= text->size(); begin = end + 1) {
            end = std::min(text->find(',', begin), text->size());
            names.push_back(text->substr(begin, end - begin));
        }
    }
    if (names.empty()) {
        return wrong("projects", value, spec, std::string{hint});
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const std::string why = project_error(names[i]); !why.empty()) {
            return {{of("projects", spec) + ": " + why, std::string{hint}}};
        }
        if (std::count(names.begin(), names.end(), names[i]) > 1) {
            return {{of("projects", spec) + " has " + quoted(names[i]) + " twice", "keep one of the two"}};
        }
    }
    spec.terms.emplace_back(Projects{std::move(names)});
    return {};
}

Mistakes read_default_project(const FieldValue& value, NodeSpec& spec) {
    const auto* name = std::get_if<std::string>(&value.value);
    if (name == nullptr || !project_error(*name).empty()) {
        return wrong("default_project", value, spec, "name one of the projects");
    }
    spec.terms.emplace_back(DefaultProject{*name});
    return {};
}

FieldValue text_value(std::string text) {
    return {text, quoted(text)};
}

FieldValue number_value(std::uint64_t number) {
    return {static_cast<std::int64_t>(number), std::to_string(number)};
}

FieldValue limit_value(LimitKind kind, std::uint64_t value) {
    return kind <= LimitKind::cores ? number_value(value) : text_value(limit_text(kind, value));
}

void add_term(FieldTable& fields, const PartitionShares& term) {
    if (fields.back().first != "at") {
        fields.emplace_back("at", FieldValue{FieldTable{}, {}});
    }
    std::get<FieldTable>(fields.back().second.value).emplace_back(term.partition, number_value(term.shares));
}

void add_term(FieldTable& fields, const FairShareTarget& term) {
    if (fields.back().first != "target") {
        fields.emplace_back("target", text_value(to_string(term)));
        return;
    }
    FieldValue& target = fields.back().second;
    if (!std::holds_alternative<FieldList>(target.value)) {
        target = {FieldList{target}, {}};
    }
    std::get<FieldList>(target.value).push_back(text_value(to_string(term)));
}

void add_term(FieldTable& fields, const Limit& term) {
    FieldValue value = limit_value(term.kind, term.hard);
    if (term.soft) {
        value = {FieldList{limit_value(term.kind, *term.soft), value}, {}};
    }
    fields.emplace_back(std::string{limit_key(term.kind)}, std::move(value));
}

void add_term(FieldTable& fields, const Projects& term) {
    FieldList names;
    for (const std::string& name : term.names) {
        names.push_back(text_value(name));
    }
    fields.emplace_back("projects", FieldValue{std::move(names), {}});
}

void add_term(FieldTable& fields, const DefaultProject& term) {
    fields.emplace_back("default_project", text_value(term.name));
}

}  // namespace

Mistakes read_field(std::string_view key, const FieldValue& value, NodeSpec& spec) {
    if (key == "shares") {
        return read_shares(value, spec);
    }
    if (key == "parent") {
        const auto* parent = std::get_if<std::string>(&value.value);
        if (parent == nullptr) {
            return {{"the parent of " + quoted(spec.name) + " is no text", "write parent = \"physics\""}};
        }
        spec.parent = *parent;
        return {};
    }
    if (key == "default") {
        return read_flag(key, value, spec, spec.is_default);
    }
    if (key == "together") {
        return read_flag(key, value, spec, spec.is_together);
    }
    if (key == "at") {
        return read_partitions(value, spec);
    }
    if (key == "target") {
        return read_target(value, spec);
    }
    if (key == "projects") {
        return read_projects(value, spec);
    }
    if (key == "default_project") {
        return read_default_project(value, spec);
    }
    if (std::find(known.begin(), known.end(), key) != known.end()) {
        return read_limit(key, value, spec);
    }
    const std::string hint = did_you_mean(key, known);
    std::string list;
    for (std::string_view name : known) {
        list += (list.empty() ? "" : ", ") + std::string{name};
    }
    return {{"unknown key " + quoted(key) + " of " + quoted(spec.name), hint.empty() ? "a node has " + list : hint}};
}

FieldTable fields_of(const ShareTree& tree, NodeId id) {
    FieldTable fields;
    fields.emplace_back("shares", tree.shares_parent(id) ? text_value("parent") : number_value(tree.shares(id)));
    if (tree.is_default(id)) {
        fields.emplace_back("default", FieldValue{true, "true"});
    }
    if (tree.kind(id) == NodeKind::others) {
        fields.emplace_back("together", FieldValue{true, "true"});
    }
    for (const NodeTerm& term : tree.terms(id)) {
        std::visit([&](const auto& alternative) { add_term(fields, alternative); }, term);
    }
    return fields;
}

}  // namespace weir
