// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_edit.hpp.
#include "libfairshare/toml/share_tree_edit.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "libfairshare/base/nearest_name.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {

namespace {

constexpr std::string_view file_shown = "share tree";

Diagnostics refusal(std::string message, std::string hint = {}) {
    return {Diagnostic{std::string{file_shown}, {}, std::move(message), std::move(hint)}};
}

std::string full_path(const ShareTree& tree, const NodeSpec& spec) {
    if (!spec.parent || spec.parent->empty()) {
        return spec.name;
    }
    const auto parent = tree.account(*spec.parent);
    return parent ? tree.path(*parent) + "/" + spec.name : spec.name;
}

/// A text that is a valid tree, its lines with full paths.
struct Document {
    ShareTree tree;
    std::vector<TomlNode> lines;
    std::vector<std::string> paths;

    const TomlNode* line_of(std::string_view path) const {
        const auto found = std::find(paths.begin(), paths.end(), path);
        return found == paths.end() ? nullptr : &lines[static_cast<std::size_t>(found - paths.begin())];
    }
};

std::variant<Document, Diagnostics> open_document(std::string_view text) {
    auto parsed = parse_share_tree(text, file_shown);
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        return std::move(*diagnostics);
    }
    auto lines = read_share_tree_lines(text, file_shown);
    if (auto* diagnostics = std::get_if<Diagnostics>(&lines)) {
        return std::move(*diagnostics);
    }
    Document document{std::get<ShareTree>(std::move(parsed)), std::get<std::vector<TomlNode>>(std::move(lines)), {}};
    for (const TomlNode& line : document.lines) {
        document.paths.push_back(full_path(document.tree, line.spec));
    }
    return document;
}

Diagnostics unknown_node(const Document& document, std::string_view path) {
    const std::vector<std::string_view> paths{document.paths.begin(), document.paths.end()};
    return refusal("no node " + quoted(path), did_you_mean(path, paths));
}

/// Hands the edited text out only if it is a tree that differs from the old one in `path` alone and as meant. A line
/// that comes or goes may give its user another default account.
EditedText checked(const Document& before, std::string text, std::string_view path,
                   std::initializer_list<ChangeKind> meant) {
    auto parsed = parse_share_tree(text, file_shown);
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        return std::move(*diagnostics);
    }
    auto changes = diff_trees(before.tree, std::get<ShareTree>(parsed));
    std::erase_if(changes, is_of_order);
    const bool is_as_meant =
        changes.size() <= 1 && std::all_of(changes.begin(), changes.end(), [&](const TreeChange& change) {
            return change.path == path && std::find(meant.begin(), meant.end(), change.kind) != meant.end();
        });
    if (!is_as_meant) {
        return refusal("the edit of " + quoted(path) + " would change other nodes too", "edit the text by hand");
    }
    return text;
}

/// The part of a name behind the point of a table: "debug" of "at.debug".
std::string_view last_part(std::string_view field) {
    return field.substr(field.rfind('.') + 1);
}

/// Whether there is a place for it.
bool write_field(std::string& text, const TomlNode& line, std::string_view field, std::string_view value) {
    for (const TomlField& one : line.fields) {
        if (one.name == field) {
            text.replace(one.value, one.end - one.value, value);
            return true;
        }
    }
    const std::string entry = std::string{field} + " = " + std::string{value};
    const std::string entry_in_table = std::string{last_part(field)} + " = " + std::string{value};
    if (text[line.value] != '{') {  // "bio" = 10
        text.replace(line.value, line.value_end - line.value,
                     "{ shares = " + text.substr(line.value, line.value_end - line.value) + ", " + entry + " }");
        return true;
    }
    for (const TomlField& one : line.fields) {  // at = { debug = 20 }
        if (one.is_in_table && one.name.substr(0, one.name.find('.')) == field.substr(0, field.find('.'))) {
            text.insert(one.end, ", " + entry_in_table);
            return true;
        }
        if (field.starts_with(one.name + ".")) {  // at = {}
            text.replace(one.value, one.end - one.value, "{ " + entry_in_table + " }");
            return true;
        }
    }
    if (line.fields.empty()) {
        text.replace(line.value, line.value_end - line.value, "{ " + entry + " }");
    } else if (field == "shares") {
        text.insert(line.value + 1, " " + entry + ",");
    } else if (const TomlField& last = line.fields.back(); !last.is_in_table) {
        text.insert(last.end, ", " + entry);
    } else {
        text.insert(text.find_first_not_of(" \t", line.value + 1), entry + ", ");
    }
    return true;
}

/// The bytes of the field's key and value; with those of its table in braces where it is the only field in it.
std::pair<std::size_t, std::size_t> extent_of(const std::string& text, const TomlNode& line, const TomlField& field) {
    const std::string_view table = std::string_view{field.name}.substr(0, field.name.find('.') + 1);
    const auto is_in_it = [&](const TomlField& one) { return one.name.starts_with(table); };
    if (!field.is_in_table || std::count_if(line.fields.begin(), line.fields.end(), is_in_it) > 1) {
        return {field.begin, field.end};
    }
    const std::size_t before = text.find_last_of("{,", text.rfind('{', field.begin) - 1);
    return {text.find_first_not_of(" \t", before + 1), text.find('}', field.end) + 1};
}

/// Whether it is there. Goes with the comma that parts it from the next or from the one before.
bool erase_field(std::string& text, const TomlNode& line, std::string_view field) {
    const auto found =
        std::find_if(line.fields.begin(), line.fields.end(), [&](const TomlField& one) { return one.name == field; });
    if (found == line.fields.end() || text[line.value] != '{') {
        return false;
    }
    auto [begin, end] = extent_of(text, line, *found);
    const std::size_t after = text.find_first_not_of(" \t", end);
    if (text[after] == ',') {
        end = text.find_first_not_of(" \t", after + 1);
    } else {
        const std::size_t before = text.find_last_not_of(" \t", begin - 1);
        begin = text[before] == ',' ? before : begin;
    }
    text.erase(begin, end - begin);
    return true;
}

/// What `edit` makes of the document. Errors: those of the text.
template <typename Edit>
EditedText edit_document(std::string_view text, const Edit& edit) {
    auto opened = open_document(text);
    if (auto* diagnostics = std::get_if<Diagnostics>(&opened)) {
        return std::move(*diagnostics);
    }
    return edit(std::get<Document>(opened));
}

/// What `edit` makes of the document and the line of the node `path`. Errors: those of the text, or no such node.
template <typename Edit>
EditedText edit_line(std::string_view text, std::string_view path, const Edit& edit) {
    return edit_document(text, [&](const Document& document) -> EditedText {
        const TomlNode* line = document.line_of(path);
        return line == nullptr ? EditedText(unknown_node(document, path)) : edit(document, *line);
    });
}

}  // namespace

EditedText set_field_line(std::string_view text, std::string_view path, std::string_view field,
                          std::string_view value) {
    return edit_line(text, path, [&](const Document& document, const TomlNode& line) -> EditedText {
        if (value.find_first_of("\r\n#") != std::string_view::npos) {
            return refusal("a value stands on one line and has no comment");
        }
        std::string edited{text};
        if (!(value.empty() ? erase_field(edited, line, field) : write_field(edited, line, field, value))) {
            return value.empty() ? refusal(quoted(path) + " has no field " + quoted(field) + " to take away")
                                 : refusal("the edit of " + quoted(path) + " has no place", "edit the text by hand");
        }
        return checked(document, std::move(edited), path, {ChangeKind::reshared, ChangeKind::changed});
    });
}

EditedText add_node_line(std::string_view text, std::string_view path, std::uint32_t shares) {
    return edit_document(text, [&](const Document& document) -> EditedText {
        for (std::size_t begin = 0; begin <= path.size();) {
            const std::size_t end = std::min(path.find('/', begin), path.size());
            if (std::string why = component_error(path.substr(begin, end - begin)); !why.empty()) {
                return refusal(quoted(path) + " is not a path: " + why, "write paths like \"physics/lattice/@alice\"");
            }
            begin = end + 1;
        }
        const std::size_t slash = path.rfind('/');
        const std::string_view parent = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
        if (!parent.empty() && document.line_of(parent) == nullptr) {
            return unknown_node(document, parent);
        }
        // Nodes must be above every [table], so the first line of an empty tree goes to the top.
        const std::size_t top = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
        std::size_t place = top;
        const std::string below = std::string{parent} + "/";
        for (std::size_t i = 0; i < document.lines.size(); ++i) {
            if (parent.empty() || document.paths[i] == parent || document.paths[i].starts_with(below)) {
                place = document.lines[i].line_end;
            }
        }
        std::string line = quoted(path) + " = " + std::to_string(shares) + "\n";
        if (place > top && text[place - 1] != '\n') {
            line.insert(0, "\n");
        }
        std::string edited{text};
        edited.insert(place, line);
        return checked(document, std::move(edited), path, {ChangeKind::added});
    });
}

std::optional<std::string> node_line(std::string_view text, std::string_view path) {
    const auto opened = open_document(text);
    const auto* document = std::get_if<Document>(&opened);
    const TomlNode* line = document == nullptr ? nullptr : document->line_of(path);
    if (line == nullptr) {
        return std::nullopt;
    }
    const std::string_view whole = text.substr(line->line_begin, line->line_end - line->line_begin);
    return std::string(whole.substr(0, whole.find_last_not_of("\r\n") + 1));
}

EditedText remove_node_line(std::string_view text, std::string_view path) {
    return edit_line(text, path, [&](const Document& document, const TomlNode& line) -> EditedText {
        const auto node = document.tree.find(path);
        if (!node || !document.tree.children(*node).empty()) {
            return refusal(quoted(path) + " has nodes below it", "remove or move those first");
        }
        std::string edited{text};
        edited.erase(line.line_begin, line.line_end - line.line_begin);
        return checked(document, std::move(edited), path, {ChangeKind::removed});
    });
}

}  // namespace weir
